"""Runs of the engine within a conversion: each counted, timed, and learnt from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loader.conversion.task import Task
from loader.engine.base import Converted, Engine, Job, Program
from loader.errors import ErrorCode, LoaderError
from loader.intake.profiles import Usable
from loader.observing import OK, ConversionRecord, Part
from loader.turns.room import Room


class CrampedError(Exception):
    """The engine needed more memory than was set aside: our estimate's fault, not the profile's."""


class EngineRuns:
    """Asks an engine, and tells what that cost.

    Args:
        engine: what converts.
        room: knows what runs need, and is told what they took.
        record: told of each run.
    """

    def __init__(
        self, engine: Engine, room: Room, record: Callable[[ConversionRecord], None]
    ) -> None:
        self._engine = engine
        self._room = room
        self._record = record

    def run(self, task: Task, job: Job, usable: Usable, source: str) -> Converted:
        """One run.

        Raises:
            CrampedError: it needed more memory than was set aside, and more is to be had.
            LoaderError: as `Engine.convert`.
        """
        task.work.check()
        reserved = task.place.memory_bytes
        limits = replace(task.limits, memory_bytes=self._room.most_for(reserved))
        try:
            with task.parts.timed(Part.CONVERT) as read:
                read.add(sum(usable.sizes))
                converted = self._engine.convert(job, limits, task.work)
        except LoaderError as error:
            self._record(ConversionRecord(job.tool, source, error.code.value, None, reserved))
            if error.code is ErrorCode.OUT_OF_MEMORY:
                self._room.learn(job.tool, source, usable, limits.memory_bytes)
                if limits.memory_bytes < task.limits.memory_bytes:
                    raise CrampedError from error
            raise
        self._record(ConversionRecord(job.tool, source, OK, converted, reserved))
        if converted.program is Program.XPROF:
            self._room.learn(job.tool, source, usable, converted.peak_memory_bytes)
        return converted
