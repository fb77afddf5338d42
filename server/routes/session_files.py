"""The original files of a session, by the API and by its page; never by a share link.

They hold all that the profiler has seen, for every tool and host, and so are for editors.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request, Response
from starlette.concurrency import run_in_threadpool

from auth.identity import Principal
from auth.policy import Action
from loader.errors import LoaderError
from server.callers.access import api_router, require
from server.callers.signed_in import Person
from server.registry.sessions import get_session
from server.schemas import Line, ResourceId
from server.services import ServicesDependency
from server.session_pages.finding import require_session
from server.site.routes import page_router, person_who
from server.xprof.file_downloads import download_response, find_host
from server.xprof.pages import problem_response
from server.xprof.tool_answers import ToolAnswers

router = api_router("/v1/machineLearningRuns/{run}/profilerSessions/{session}/hosts", "sessions")
page_routes = page_router()

FILES_PATH = "/runs/{run}/sessions/{session}/files/{host}"
_FILE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {}}, "description": "The file, from its start."},
    206: {"content": {"application/octet-stream": {}}, "description": "The range of it."},
    304: {"description": "The file is the one that `If-None-Match` names."},
}


@router.get("/{host}:download", response_class=Response, responses=_FILE)
async def download_file(
    request: Request,
    services: ServicesDependency,
    _principal: Annotated[Principal, Depends(require(Action.FILES_READ))],
    run: ResourceId,
    session: ResourceId,
    host: Line,
) -> Response:
    """Answers a host's profile as it lies in storage.

    One range can be asked for (`Range: bytes=0-99`), and with `If-Range` only of the same version. The `ETag`
    changes whenever the file is replaced; one that is replaced meanwhile breaks the answer off.
    """
    record = await run_in_threadpool(get_session, services.database, run, session)
    files = await ToolAnswers(services).list_session(record.locations)
    return await download_response(request, services, find_host(files, host))


@page_routes.get(FILES_PATH)
async def download_from_page(
    request: Request,
    services: ServicesDependency,
    _person: Annotated[Person, Depends(person_who(Action.FILES_READ))],
    run: str,
    session: str,
    host: str,
) -> Response:
    """The same for somebody at a browser."""
    record = await run_in_threadpool(require_session, services, run, session)
    try:
        files = await ToolAnswers(services).list_session(record.locations)
        return await download_response(request, services, find_host(files, host))
    except LoaderError as error:
        return problem_response(request, services, error, awaits_files=False)
