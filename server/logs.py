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

EventDict = MutableMapping[str, object]


def redact_tokens(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Replaces tokens in every text of an event."""
    return {key: redact(value) if isinstance(value, str) else value for key, value in event.items()}


def configure_logs(level: str, stream: TextIO = sys.stderr) -> None:
    """Sends the logs of this process to the stream; `level` is a name like `info`."""
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso"),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        structlog.stdlib.ExtraAdder(),
        redact_tokens,
    ]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            redact_tokens,
            structlog.processors.JSONRenderer(),
        ],
    )
    handler = logging.StreamHandler(stream)
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
