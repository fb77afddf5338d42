"""Logs as JSON lines on standard error, with every token taken out.

All logging of all libraries goes through one formatter, so there is one place where a secret could escape
and one place that stops it. Nothing may log a request's query, body or headers.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import TextIO

import structlog

from auth.tokens import redact
from loader.traces import current_trace
from server.machine.google_logs import GoogleFields
from server.machine.log_writing import handler_for

EventDict = MutableMapping[str, object]


def redact_tokens(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Replaces tokens in every text of an event."""
    return {key: redact(value) if isinstance(value, str) else value for key, value in event.items()}


def add_trace(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Says which request an event belongs to, if any."""
    trace = current_trace()
    if trace is not None:
        event["trace_id"], event["span_id"] = trace.trace_id, trace.span_id
    return event


def configure_logs(level: str, stream: TextIO = sys.stderr, google_project: str = "") -> None:
    """Sends the logs of this process to the stream.

    Args:
        level: a name like `info`.
        stream: where to.
        google_project: whose Cloud Logging reads it; lines then have the fields that it knows.
    """
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso"),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        structlog.stdlib.ExtraAdder(),
        add_trace,
        redact_tokens,
    ]
    special = [GoogleFields(google_project)] if google_project else []
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            redact_tokens,
            *special,
            structlog.processors.JSONRenderer(),
        ],
    )
    handler = handler_for(stream)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for noisy in (
        "alembic",
        "httpx2",
        "httpcore2",
        "urllib3",
        "google",
        "asyncio",
        "uvicorn.access",
    ):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).handlers = []
        logging.getLogger(name).propagate = True
