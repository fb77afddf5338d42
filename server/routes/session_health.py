"""`.../profilerSessions/{session}/health`: what the inspection says of each host's file.

A worker looks the files over, without XProf's engine, and the outcome is kept like any answer.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from pydantic import TypeAdapter
from starlette.concurrency import run_in_threadpool

from auth.identity import Principal
from auth.policy import Action
from loader.keys import ToolRequest
from loader.tools import HEALTH
from server.access import api_router, require
from server.registry import sessions
from server.schemas import HostHealth, ResourceId, SessionHealth
from server.services import ServicesDependency
from server.tool_answers import ToolAnswers

router = api_router("/v1/machineLearningRuns/{run}/profilerSessions/{session}/health", "sessions")

_ROWS = TypeAdapter(dict[str, list[HostHealth]])


@router.get("", response_model_exclude_none=True)
async def get_health(
    services: ServicesDependency,
    _principal: Annotated[Principal, Depends(require(Action.SESSIONS_READ))],
    run: ResourceId,
    session: ResourceId,
) -> SessionHealth:
    """Looks every host's file over and says which can be shown, and why the others can't.

    404 when the session's folder holds no profile. Takes as long as reading the files, once for each version
    of them.
    """
    record = await run_in_threadpool(sessions.get_session, services.database, run, session)
    answers = ToolAnswers(services)
    files = await answers.list_session(record.locations)
    found = await answers.read_json(files, ToolRequest(files.locations, HEALTH))
    hosts = _ROWS.validate_python(found)["hosts"]
    return SessionHealth(hosts=hosts, usable_hosts=sum(host.usable for host in hosts))
