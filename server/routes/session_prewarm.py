"""`.../profilerSessions/{session}:cancelPrewarm`: ends the conversion in advance of a session.

Any front end can be asked: the one that converts looks at the state every few seconds.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends

from auth.identity import Principal
from auth.policy import Action
from server.callers.access import api_router, require
from server.registry import sessions
from server.registry.prewarm import UNDER_WAY, PrewarmState, change_prewarm
from server.schemas import ResourceId, Session
from server.services import ServicesDependency
from server.sessions.resources import session_resource
from server.site.public_address import PageBase

router = api_router("/v1/machineLearningRuns/{run}/profilerSessions", "sessions")


@router.post("/{session}:cancelPrewarm", response_model_exclude_none=True)
def cancel_prewarm(
    services: ServicesDependency,
    _principal: Annotated[Principal, Depends(require(Action.SESSIONS_WRITE))],
    run: ResourceId,
    session: ResourceId,
    base: PageBase,
) -> Session:
    """Ends the conversion in advance of a session; what is converted by now is kept.

    Nothing changes when it has ended already.
    """
    record = sessions.get_session(services.database, run, session)
    change_prewarm(services.database, record.uid, PrewarmState.CANCELLED, UNDER_WAY)
    return session_resource(sessions.get_session(services.database, run, session), base)
