"""`.../profilerSessions/{session}/hosts/{host}`: a host's profile that comes through the API.

The body is read piece by piece and never held in memory, so this is the one resource whose limit is not that
of JSON bodies.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Header, Query, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from auth.identity import Principal
from auth.policy import Action, may
from loader.storage.base import XPLANE_SUFFIX
from server.audit.notes import note_audited
from server.callers.access import StreamedRoute, api_router, require
from server.http.error_table import FORBIDDEN, PRECONDITION
from server.http.errors import ApiError, invalid_field
from server.names import check_id, session_name
from server.registry import sessions
from server.schemas import EmptyAnswer, ResourceId, Session
from server.schemas.uploads import HostUpload, UploadParameters
from server.services import Services, ServicesDependency
from server.sessions.resources import session_resource
from server.site.public_address import PageBase
from server.uploads.headers import read_etag, read_headers
from server.uploads.placing import Partial, Target, Whole
from server.uploads.service import Uploads
from server.uploads.store import etag_of_file

router = api_router("/v1/machineLearningRuns/{run}/profilerSessions", "uploads", StreamedRoute)

Registrar = Annotated[Principal, Depends(require(Action.SESSIONS_REGISTER))]
Writer = Annotated[Principal, Depends(require(Action.SESSIONS_WRITE))]
_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.put(
    "/{session}/hosts/{host}",
    openapi_extra=_BODY,
    response_model=HostUpload,
    responses={308: {"description": "Bytes are missing; Range says which have come."}},
)
async def upload_host(
    services: ServicesDependency,
    principal: Registrar,
    run: ResourceId,
    session: ResourceId,
    host: ResourceId,
    parameters: Annotated[UploadParameters, Query()],
    request: Request,
    content_range: Annotated[str | None, Header()] = None,
    repr_digest: Annotated[str | None, Header()] = None,
    content_digest: Annotated[str | None, Header()] = None,
    if_match: Annotated[str | None, Header()] = None,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """Takes in a host's `.xplane.pb`, or the gzip of one, and makes the session when it is not there.

    Whole, or in parts with `Content-Range: bytes 0-8388607/20000000` and the whole file's SHA-256 as
    `Repr-Digest: sha-256=:<base64>:` with each of them. The answer to a part is 308, and its `Range` says how
    much has come; so is that to `Content-Range: bytes */20000000` with an empty body. The file appears when
    all of it is there and its digest is right. One that is there already is never replaced, unless `If-Match`
    names it (`*`: whichever it is); sending the same again answers as the first time.
    """
    # The parameters are there for the document; what they mean together is told by one function.
    del content_range, repr_digest, content_digest, if_match, if_none_match
    uploads = _require_uploads(services)
    target = Target(run, session, _host_name(host), parameters.expected_hosts, principal.name)
    asked = read_headers(request.headers)
    # To replace a file is to remove one, which jobs may not.
    wanted = Action.SESSIONS_WRITE
    if asked.replaces is not None and not may(principal, wanted, session_name(run, session)):
        raise ApiError(FORBIDDEN, f"To replace a file needs the permission {wanted.value}.")
    note_audited(request, session_name(run, session), verb="upload", host=target.host)
    result = await uploads.take(target, asked, request.stream())
    return _partial(result) if isinstance(result, Partial) else _whole(target, result)


@router.delete("/{session}/hosts/{host}")
async def remove_host(
    request: Request,
    services: ServicesDependency,
    _principal: Writer,
    run: ResourceId,
    session: ResourceId,
    host: ResourceId,
    if_match: Annotated[str | None, Header()] = None,
) -> EmptyAnswer:
    """Removes the profile of a host that was uploaded. The session stays, with the hosts that are left."""
    uploads = _require_uploads(services)
    name = _host_name(host)
    note_audited(request, session_name(run, session), verb="remove", host=name)
    await uploads.remove(run, session, name, read_etag(if_match))
    return EmptyAnswer()


@router.post("/{session}:completeUpload", response_model_exclude_none=True)
async def complete_upload(
    services: ServicesDependency,
    _principal: Registrar,
    run: ResourceId,
    session: ResourceId,
    base: PageBase,
) -> Session:
    """Says that all hosts of an uploaded session are there; it is converted in advance then.

    Not needed where `expectedHosts` says how many there are. Nothing changes when it is complete already.
    """
    await _require_uploads(services).complete(run, session)
    record = await run_in_threadpool(sessions.get_session, services.database, run, session)
    return session_resource(record, base)


def _require_uploads(services: Services) -> Uploads:
    if services.uploads is None:
        raise ApiError(
            PRECONDITION,
            "This hub takes no uploads. Whoever runs it can set XPROF_HUB_UPLOAD_ROOT to a bucket or "
            "directory for them.",
        )
    return services.uploads


def _host_name(text: str) -> str:
    """The host, also from its file's name, which `curl -T` puts at the end of an address.

    Raises:
        ApiError: it can't be the name of a host.
    """
    name = text.removesuffix(".gz").removesuffix(XPLANE_SUFFIX) if XPLANE_SUFFIX in text else text
    try:
        return check_id(name)
    except ValueError as error:
        raise invalid_field("host", str(error)) from error


def _partial(result: Partial) -> Response:
    headers = {"Cache-Control": "no-store"}
    if result.received:
        headers["Range"] = f"bytes=0-{result.received - 1}"
    return Response(status_code=308, headers=headers)


def _whole(target: Target, result: Whole) -> Response:
    parent = session_name(target.run, target.session)
    etag = etag_of_file(result.file)
    resource = HostUpload(
        name=f"{parent}/hosts/{target.host}",
        host=target.host,
        size_bytes=result.file.size,
        etag=etag,
        session=parent,
        session_state=result.session.state,
    )
    return JSONResponse(
        resource.model_dump(mode="json", by_alias=True), headers={"ETag": f'"{etag}"'}
    )
