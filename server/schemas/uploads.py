"""Uploads as JSON, shared by the routes and the client."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from server.registry.records import SessionState
from server.schemas import ApiModel


class HostUpload(ApiModel):
    """A host's profile that is whole and in its place."""

    name: str
    """Resource name, not percent-encoded."""
    host: str
    size_bytes: int
    etag: str
    """Names this state of the file; send it as If-Match to replace or remove just this one."""
    session: str
    """Resource name of the session, which the first host's upload has made."""
    session_state: SessionState
    """`OPEN` while more hosts may come, else `COMPLETE`."""


class UploadParameters(ApiModel):
    """Parameters of an upload."""

    expected_hosts: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """How many hosts the session will have; it is complete when so many are there. Counts if nothing else was
    said before."""
