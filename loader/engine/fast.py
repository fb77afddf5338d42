"""The fast engine: xprof-rs for what it is proven to answer like XProf, XProf for everything else.

Whoever asks can't tell which of the two has answered. What xprof-rs refuses, crashes on, takes too long for
or answers in an unexpected shape is made by XProf in the same call, and counted.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from loader.engine import rs
from loader.engine.base import Converted, Job, Limits, Program, StopSignal, engine_version
from loader.engine.sandbox import Layer
from loader.engine.xprof import XprofEngine
from loader.errors import COMES_BACK, ErrorCode, LoaderError

logger = logging.getLogger(__name__)

ANSWERED = "answered"
"""Outcome of an attempt whose answer was taken; the others are error codes."""

_SHARE_OF_TIME = 0.25
"""Of the time limit, what xprof-rs gets: it needs a tenth of XProf's, and XProf must have time left."""
_NO_SECOND_TRY = frozenset({ErrorCode.CANCELLED, *COMES_BACK})


class Shadow(Protocol):
    """Compares some of the answers with XProf's, later (loader.conversion.shadow)."""

    def offer(self, job: Job, converted: Converted, limits: Limits) -> None:
        """Told of every answer of xprof-rs, while its files are there; must not take long."""

    def close(self) -> None:
        """Ends a comparison under way."""


class FastEngine:
    """An `Engine`; see there. Thread-safe."""

    def __init__(
        self,
        xprof: XprofEngine,
        record: Callable[[str, str], None],
        shadow: Shadow | None = None,
    ) -> None:
        """Takes over an engine.

        Args:
            xprof: engine that was given the program of xprof-rs; closed with this one.
            record: told of every attempt: tool, and `ANSWERED` or the code of what went wrong.
            shadow: offered every answer of xprof-rs.
        """
        self._xprof = xprof
        self._record = record
        self._shadow = shadow

    @property
    def version(self) -> str:
        """Names and versions of both."""
        return engine_version("fast")

    def layers(self) -> tuple[Layer, ...]:
        """As `XprofEngine.layers`."""
        return self._xprof.layers()

    def convert(self, job: Job, limits: Limits, cancelled: StopSignal | None = None) -> Converted:
        """Runs the job to its end; both attempts together get the job's time.

        Raises:
            LoaderError: as `XprofEngine.convert`, for XProf's attempt.
        """
        if not rs.serves(job):
            return self._xprof.convert(job, limits, cancelled)
        started = time.monotonic()
        try:
            converted = self._ask_rs(job, limits, cancelled)
        except LoaderError as problem:
            self._record(job.tool, problem.code.value)
            if problem.code in _NO_SECOND_TRY:
                raise
            logger.info("%s: XProf is asked, for xprof-rs failed: %s", job.tool, problem.code.value)
        else:
            self._record(job.tool, ANSWERED)
            if self._shadow is not None:
                self._shadow.offer(job, converted, limits)
            return converted
        left = limits.seconds - (time.monotonic() - started)
        return self._xprof.convert(job, replace(limits, seconds=left), cancelled)

    def _ask_rs(self, job: Job, limits: Limits, cancelled: StopSignal | None) -> Converted:
        shorter = replace(limits, seconds=limits.seconds * _SHARE_OF_TIME)
        return self._xprof.convert(replace(job, program=Program.RS), shorter, cancelled)

    def close(self) -> None:
        """Ends comparisons and all children. Jobs still running fail with INTERNAL."""
        if self._shadow is not None:
            self._shadow.close()
        self._xprof.close()
