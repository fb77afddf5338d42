"""`.../profilerSessions/{session}/health`: which files can be shown, why the others can't, which are missing.

The inspection runs in a worker and is remembered like any answer, so its freshness is that of the files.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Header, Response
from starlette.concurrency import run_in_threadpool

from auth.identity import Principal
from auth.policy import Action
from loader.keys import ToolRequest
from loader.tools import HEALTH
from server.callers.access import api_router, require
from server.registry import sessions
from server.schemas import ResourceId
from server.schemas.progress import AnswerProgress
from server.services import ServicesDependency
from server.sessions.inspection import inspect_session
from server.sessions.problems import count_hosts, problem_of
from server.sessions.schemas import SessionHealth
from server.xprof.tool_answers import ToolAnswers
from server.xprof.tool_fitness import unfit_tools

router = api_router("/v1/machineLearningRuns/{run}/profilerSessions/{session}/health", "sessions")

_COME_BACK: dict[int | str, dict[str, Any]] = {
    202: {
        "model": AnswerProgress,
        "description": "Not ready yet; ask again.",
        "headers": {
            "Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}},
            "Preference-Applied": {"schema": {"type": "string"}},
        },
    }
}
_Prefer = Annotated[
    list[str] | None,
    Header(
        description="`respond-async` (RFC 7240): rather 202 than a wait; `wait=N`: after N seconds."
    ),
]


@router.get(
    "", response_model=SessionHealth, response_model_exclude_none=True, responses=_COME_BACK
)
async def get_health(
    services: ServicesDependency,
    _principal: Annotated[Principal, Depends(require(Action.SESSIONS_READ))],
    run: ResourceId,
    session: ResourceId,
    prefer: _Prefer = None,
) -> SessionHealth | Response:
    """Looks every host's file over and says which can be shown, why the others can't, and which are missing.

    404 when the session's folder holds no profile. Takes as long as reading the files, once for each version
    of them; with `Prefer: respond-async, wait=<seconds>` the answer is 202 after that time.
    """
    record = await run_in_threadpool(sessions.get_session, services.database, run, session)
    answers = ToolAnswers(services)
    files = await answers.list_session(record.locations)
    asked = ToolRequest(files.locations, HEALTH)
    later = await answers.come_back_later(prefer or (), files, asked)
    if later is not None:
        return later
    hosts = await inspect_session(answers, files)
    count = count_hosts(record.expected_hosts, files.host_names, hosts)
    problem = problem_of(count, hosts)
    return SessionHealth(
        hosts=hosts,
        found_hosts=len(count.found),
        usable_hosts=sum(host.usable for host in hosts),
        expected_hosts=count.expected,
        problem=problem.message if problem else None,
        problem_reason=problem.reason if problem else None,
        tools=unfit_tools(hosts),
    )
