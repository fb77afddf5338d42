"""One run of a plan, as the steps of a conversion hand it on; decides what the run may share with others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from loader.conversion.answers import Keep
from loader.coordination.work import Work
from loader.engine.base import Limits
from loader.intake.profiles import Usable
from loader.observing import Part, Parts
from loader.plan import Plan
from loader.tools import ArtifactKind
from loader.turns.admission import Place

_NOTICED_SECONDS = 0.01


@dataclass(frozen=True)
class Task:
    """A run of a plan.

    Attributes:
        plan: what is asked.
        work: for whom, and whether to go on.
        place: its turn.
        directory: private to this run.
        keep: takes the answer.
        limits: what the engine may use.
        parts: takes the time of what is done.
        is_set_refused: whether the engine has failed on the shared set.
        is_trial: whether nothing but its failure counts: its answer must be XProf's own, and is not kept.
        has_all: whether all that a conversion may use was set aside, whatever is estimated.
    """

    plan: Plan
    work: Work
    place: Place
    directory: Path
    keep: Keep
    limits: Limits
    parts: Parts
    is_set_refused: bool = False
    is_trial: bool = False
    has_all: bool = False

    def set_aside(self, memory_bytes: int) -> None:
        """Has that much memory set aside from now on, as `Place.resize`.

        Raises:
            LoaderError: as `Place.resize`.
        """
        if self.has_all:
            return
        # Most often there is room at once, and nothing was waited for.
        with self.parts.timed(Part.WAIT, least_seconds=_NOTICED_SECONDS):
            self.place.resize(memory_bytes)

    def after_each(self, size: int) -> None:
        """So many bytes were fetched or looked at; from any thread.

        Raises:
            LoaderError: CANCELLED.
        """
        self.work.reporter.add(size)
        self.work.check()

    def suits_all_tools(self, usable: Usable) -> bool:
        """Whether what is made of these hosts is what every tool that shares it would make.

        A host that one tool fails on is there for the others; only one tool uses the trace's tables.
        """
        return not usable.is_of_tool or self.plan.tool.artifact is ArtifactKind.TRACE
