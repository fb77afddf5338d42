"""What front end and worker say to each other.

A POST of a `ToolRequest` as JSON; the answer is a stored result as it lies in the cache: a length-prefixed
header and the zstd body. A failure is a 4xx or 5xx with the error as JSON. Both sides hold the same secret.

A front end that sends `BEATS_HEADER` hears something every `BEAT_SECONDS`: an answer that is not there by
then begins nevertheless, as `LATE_CONTENT_TYPE`, with empty frames (`BEAT`) until it is. A frame with a
`LateHead` follows, in place of the status and headers that have gone out already, and then the result as
above. A late answer that ends without its head is none: the worker is being stopped.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Iterable
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from loader.engine.base import OptionValue
from loader.errors import ErrorCode, LoaderError
from loader.keys import ToolRequest
from loader.turns.order import Urgency

TOOL_DATA_PATH = "/internal/v1/tool-data"
KEY_HEADER = "X-XProf-Hub-Key"
"""Names the content of an answer: the worker has listed the files for itself."""
CONTENT_TYPE = "application/vnd.xprof-hub.result"
LATE_CONTENT_TYPE = "application/vnd.xprof-hub.late-result"
BEATS_HEADER = "X-XProf-Hub-Beats"
"""Sent by a front end that takes silence for the worker's end."""
BEAT_SECONDS = 2.0
FRAME_PREFIX = struct.Struct(">I")
BEAT = FRAME_PREFIX.pack(0)
"""An empty frame: a sign of life."""


class ToolRequestBody(BaseModel):
    """A `ToolRequest` on the wire, and how it is asked.

    Attributes:
        urgency: for whom the answer is.
        is_large: whether the worker is asked because another one had too little memory or time.
        is_last: whether no worker with more memory is asked after it.
    """

    model_config = ConfigDict(extra="forbid")

    locations: Annotated[tuple[str, ...], Field(min_length=1)]
    tool: str
    hosts: tuple[str, ...] | None
    options: dict[str, OptionValue]
    as_csv: bool
    redaction: str = ""
    urgency: Urgency = Urgency.PERSON
    is_large: bool = False
    is_last: bool = False

    @classmethod
    def of(
        cls,
        request: ToolRequest,
        urgency: Urgency = Urgency.PERSON,
        is_large: bool = False,
        is_last: bool = False,
    ) -> ToolRequestBody:
        """For sending."""
        return cls(
            locations=request.locations,
            tool=request.tool,
            hosts=request.hosts,
            options=dict(request.options),
            as_csv=request.as_csv,
            redaction=request.redaction,
            urgency=urgency,
            is_large=is_large,
            is_last=is_last,
        )

    def to_request(self) -> ToolRequest:
        """As received."""
        return ToolRequest(
            self.locations, self.tool, self.hosts, self.options, self.as_csv, self.redaction
        )


class ErrorBody(BaseModel):
    """A `LoaderError` on the wire; an older side leaves out, or overlooks, what it does not know."""

    code: ErrorCode
    message: str
    file: str | None
    retry_after: int | None = None
    ahead: int | None = None

    @classmethod
    def of(cls, error: LoaderError) -> ErrorBody:
        """For sending."""
        return cls(
            code=error.code,
            message=error.message,
            file=error.file,
            retry_after=error.retry_after,
            ahead=error.ahead,
        )

    def to_error(self) -> LoaderError:
        """As received."""
        return LoaderError(self.code, self.message, self.file, self.retry_after, self.ahead)


class LateHead(BaseModel):
    """What the status and the headers of an answer would have said that had to begin before it was there.

    Attributes:
        key: see `KEY_HEADER`; empty for a failure.
        error: why there is no answer.
    """

    key: str = ""
    error: ErrorBody | None = None

    def to_frame(self) -> bytes:
        """For sending."""
        text = self.model_dump_json().encode()
        return FRAME_PREFIX.pack(len(text)) + text


def worker_credentials(keys: Iterable[str]) -> tuple[str, ...]:
    """What a worker that knows these secret keys accepts."""
    return tuple(worker_credential(key) for key in keys)


def worker_credential(secret_key: str) -> str:
    """The bearer credential that proves a front end to a worker; the secret itself never travels."""
    return hmac.new(secret_key.encode(), b"front end to worker", hashlib.sha256).hexdigest()
