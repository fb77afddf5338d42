"""Static files of all links' pages under one path, so that a browser keeps them for every link.

They are the same for everybody and no secret, so nobody has to show a link or a token.
"""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Request, Response

from server.services import ServicesDependency
from server.ui.assets import ASSETS_PATH
from server.xprof.pages import file_response, hashed_response

router = APIRouter(include_in_schema=False)


@router.api_route(ASSETS_PATH + "{content_hash}/{name:path}", methods=["GET", "HEAD"])
async def asset(
    content_hash: str, name: str, request: Request, services: ServicesDependency
) -> Response:
    """A static file under the hash of its folder."""
    answer = partial(hashed_response, services, request, content_hash, name)
    return await file_response(services, request, name, answer)
