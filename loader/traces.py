"""Which request the work at hand belongs to, for log lines and for whoever is asked next.

The ids are those of W3C Trace Context. They follow a request from thread to thread by themselves, as context
variables do; a pool's threads get them from whoever hands them work (`in_same_trace`). Nothing is decided by
them: a caller may have made them up.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Trace:
    """The place of a piece of work in a trace.

    Attributes:
        trace_id: 32 lowercase hexadecimal digits, the same in every process that takes part.
        span_id: 16 of them, of this process's part.
        is_sampled: whether spans of this trace are sent to a collector.
    """

    trace_id: str
    span_id: str
    is_sampled: bool = False


_CURRENT: ContextVar[Trace | None] = ContextVar("xprof_hub_trace", default=None)


def current_trace() -> Trace | None:
    """The trace of this thread or task; None outside of any request."""
    return _CURRENT.get()


def enter_trace(trace: Trace) -> None:
    """What this task or thread does from now on, and what it starts, belongs to the trace."""
    _CURRENT.set(trace)


def in_same_trace(call: Callable[P, T]) -> Callable[P, T]:
    """The call, in the trace of whoever asks for it now, whatever thread it runs in; to be called once."""
    context = copy_context()

    def run(*arguments: P.args, **named: P.kwargs) -> T:
        return context.run(call, *arguments, **named)

    return run
