"""One conversion from start to end: wait for a turn, fetch, inspect, convert in a child, keep what is left.

Works in a private directory that is removed afterwards whatever happens. It reads the user's files and never
writes beside them. What to convert, and whether somebody else is already at it, is `loader.service`'s matter.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from enum import Enum, auto
from functools import partial
from pathlib import Path

from loader.caches.artifacts import ArtifactStore, Manifest
from loader.catalog import HostFile
from loader.conversion.answers import Keep, Made, health, pack
from loader.conversion.bounded_intake import bounded, timed
from loader.conversion.culprits import Culprits
from loader.conversion.engine_runs import CrampedError, EngineRuns
from loader.conversion.kept_answers import KeptAnswers
from loader.conversion.task import Task
from loader.coordination.progress import Phase
from loader.coordination.work import Work
from loader.engine.base import Converted, Engine, Job, Limits, Program
from loader.engine.produced import MODULE_SUFFIX
from loader.errors import ErrorCode, LoaderError
from loader.intake.profiles import Intake, RedactingIntake, Usable, gather
from loader.intake.timelines import without_timelines
from loader.intake.workspace import Workspace
from loader.observing import (
    CacheLayer,
    ConversionObserver,
    ConversionRecord,
    Lookup,
    Part,
    Parts,
    Unobserved,
)
from loader.plan import Plan
from loader.tools import HEALTH, MODULE_LIST
from loader.turns.admission import Admission
from loader.turns.estimates import Estimates
from loader.turns.fitting import fit
from loader.turns.room import ARTIFACT, PROFILE, Room

_OF_A_SET = frozenset({ErrorCode.ENGINE_REFUSED, ErrorCode.ENGINE_CRASHED, ErrorCode.MALFORMED})
"""Failures that a damaged artifact set can cause."""
_NO_TIME = 0.001
"""Seconds in which no child ends by itself."""
logger = logging.getLogger(__name__)


class Converter:
    """Runs plans, as many at once as the admission allows."""

    def __init__(
        self,
        engine: Engine,
        workspace: Workspace,
        artifacts: ArtifactStore,
        intake: Intake,
        limits: Limits,
        admission: Admission,
        record: Callable[[ConversionRecord], None],
        produced_files: Callable[[Path, Sequence[str]], list[Path]],
        estimates: Estimates | None = None,
        redacted_intakes: Sequence[RedactingIntake] = (),
        observer: ConversionObserver | None = None,
    ) -> None:
        self._engine = engine
        self._workspace = workspace
        self._artifacts = artifacts
        self._kept = KeptAnswers(artifacts)
        self._plain_intake = intake
        self._redacted_intakes = {intake.mark: intake for intake in redacted_intakes}
        self._room = Room(admission, limits, estimates or Estimates())
        self._limits = replace(limits, memory_bytes=self._room.memory_bytes)
        self._admission = admission
        self._runs = EngineRuns(engine, self._room, record)
        self._observer = observer or Unobserved()
        self._produced_files = produced_files

    @property
    def engine_version(self) -> str:
        """Version of the engine, part of every key."""
        return self._engine.version

    def fitted(self, plan: Plan) -> Plan:
        """The plan without hosts that are too large whatever is in their files, if others are left.

        Raises:
            LoaderError: TOO_LARGE, no host is left, or one that was asked for is more than XProf reads.
        """
        return fit(plan, self._room, self._has_set)

    def run(self, plan: Plan, work: Work, keep: Keep) -> bool:
        """Makes the answer and hands it to `keep`.

        Returns:
            Whether the shared set was made on the way, if it can be made at all; neither xprof-rs nor an
            answer that was kept makes one.

        Raises:
            LoaderError: whatever went wrong, in words.
        """
        if self._recall(plan, keep):
            return False
        has_set = self._has_set(plan)
        if not has_set and plan.set_key is not None:
            self._observer.looked_up(CacheLayer.ARTIFACTS, Lookup.MISS)
        needed, parts = self._room.to_begin(plan, has_set), self._parts_of(plan)
        with ExitStack() as turn:
            with parts.timed(Part.WAIT):
                place = turn.enter_context(self._admission.enter(work, needed))
            try:
                with self._workspace.job_directory() as directory:
                    task = Task(plan, work, place, directory, keep, self._limits, parts)
                    return self._convert_plan(task, has_set)
            except CrampedError:
                logger.info("%s needs more memory than was set aside; trying again", plan.tool.name)
            task.set_aside(self._room.memory_bytes)
            with self._workspace.job_directory() as directory:
                again = replace(task, directory=directory, has_all=True)
                return self._convert_plan(again, self._has_set(plan))

    def _parts_of(self, plan: Plan) -> Parts:
        return Parts(self._observer, plan.tool.name)

    def _intake_for(self, plan: Plan) -> Intake:
        """The one way to a profile for this plan.

        Raises:
            LoaderError: INTERNAL, this worker can't make the pseudonyms that were asked for.
        """
        redaction = plan.request.redaction
        if redaction and redaction not in self._redacted_intakes:
            raise LoaderError(
                ErrorCode.INTERNAL,
                "This worker has another XPROF_HUB_SECRET_KEY and can't redact for this link.",
            )
        intake = self._redacted_intakes[redaction] if redaction else self._plain_intake
        return intake if plan.reads_events else without_timelines(intake)

    def _recall(self, plan: Plan, keep: Keep) -> bool:
        """Hands over the answer of an earlier worker, if there is one."""
        with self._workspace.job_directory() as directory:
            made = self._kept.recall(plan.key, directory)
            outcome = Lookup.MISS if made is None else Lookup.HIT
            self._observer.looked_up(CacheLayer.KEPT_ANSWERS, outcome)
            if made is None:
                return False
            keep(made)
            return True

    def _convert_plan(self, task: Task, has_set: bool) -> bool:
        """Makes the answer in the task's place.

        Raises:
            CrampedError: the engine needed more memory than was set aside, and more is to be had.
        """
        if task.plan.tool.name == HEALTH:
            self._answer_health(task)
            return True
        if not has_set:
            return self._convert_profiles(task) is Program.XPROF
        outcome = self._convert_artifacts(task)
        if outcome is _Outcome.DONE:
            return True
        task.set_aside(self._room.by_size(task.plan))
        with self._workspace.job_directory() as directory:
            is_refused = outcome is _Outcome.REFUSED
            again = replace(task, directory=directory, is_set_refused=is_refused)
            return self._convert_profiles(again) is Program.XPROF

    def _has_set(self, plan: Plan) -> bool:
        """Whether the shared set is there and the tool needs no more than that."""
        return plan.set_key is not None and self._artifacts.contains(plan.set_key)

    def _convert_artifacts(self, task: Task) -> _Outcome:
        """Makes the answer from the shared set, if it can be had."""
        manifest = self._fetch_artifacts(task)
        if manifest is None:
            self._observer.looked_up(CacheLayer.ARTIFACTS, Lookup.FAILED)
            return _Outcome.MISSING
        sizes = tuple(size for name, size in manifest.files if task.plan.wants(name))
        modules = tuple(
            name.removesuffix(MODULE_SUFFIX)
            for name, _ in manifest.files
            if name.endswith(MODULE_SUFFIX)
        )
        usable = Usable(manifest.hosts, sizes, manifest.warnings, modules=modules)
        task.set_aside(self._room.for_set(task.plan, usable))
        try:
            self._convert(task, usable, ARTIFACT)
        except LoaderError as error:
            if error.code not in _OF_A_SET:
                raise
            # The set may be damaged in a way that sizes don't show: the profile has the last word.
            self._observer.looked_up(CacheLayer.ARTIFACTS, Lookup.FAILED)
            return _Outcome.REFUSED
        self._observer.looked_up(CacheLayer.ARTIFACTS, Lookup.HIT)
        return _Outcome.DONE

    def _fetch_artifacts(self, task: Task) -> Manifest | None:
        """Places what the tool needs of the shared set in the directory."""
        plan = task.plan
        if plan.artifact_key is None:
            return None
        task.work.reporter.show(Phase.DOWNLOAD)
        with task.parts.timed(Part.DOWNLOAD) as moved:
            manifest = self._artifacts.fetch(plan.artifact_key, task.directory, plan.wants)
            moved.add(manifest.size_of(plan.wants) if manifest else 0)
        if (
            manifest is None
            and task.work.may_undo()
            and self._artifacts.contains(plan.artifact_key)
        ):
            self._artifacts.discard(plan.artifact_key)
        return manifest

    def _convert_profiles(self, task: Task) -> Program:
        """Makes the answer from the profiles, and the shared set on the way.

        A host that the engine fails on is left out like one that the inspection refuses, within the time of
        one conversion.
        """
        with self._downloaded(task) as files:
            ends = time.monotonic() + task.limits.seconds
            paths = {entry.host: (entry, path) for entry, path in files}
            culprits = Culprits(
                lambda host, seconds: self._try_alone(
                    task, paths[host], min(ends, time.monotonic() + seconds)
                ),
                (lambda host: paths[host][0].file.size) if task.plan.may_leave_out else None,
            )
            task.work.reporter.show(Phase.INSPECT, total_bytes=sum(task.plan.profile_sizes))
            program = self._attempt(task, files, culprits, ends)
            while program is None:
                with self._anew(task, ends) as again:
                    program = self._attempt(again, files, culprits, ends)
            return program

    def _attempt(
        self, task: Task, files: list[tuple[HostFile, Path]], culprits: Culprits, ends: float
    ) -> Program | None:
        """Makes the answer without the hosts at fault; None when it failed and more of them were found."""
        plan = task.plan
        hold = partial(self._workspace.hold, task.directory)
        with task.parts.timed(Part.INSPECT) as looked_at:
            looked_at.add(sum(plan.profile_sizes))
            usable = gather(
                bounded(timed(self._intake_for(plan), ends), plan, self._room, hold),
                files,
                task.directory,
                plan.left_out,
                culprits.found,
                plan.are_chosen,
                task.after_each,
            )
        task.set_aside(self._room.for_profiles(plan, usable))
        began = time.monotonic()
        try:
            return self._convert(task, usable, PROFILE)
        except LoaderError as problem:
            culprits.search(problem, usable.hosts, time.monotonic() - began)
            return None

    def _try_alone(self, task: Task, file: tuple[HostFile, Path], ends: float) -> None:
        """Runs the tool on one host, for nothing but to see whether it fails.

        Raises:
            LoaderError: how it failed.
        """
        with self._anew(task, ends) as trial:
            intake = self._intake_for(task.plan)
            usable = gather(intake, [file], trial.directory, (), {}, True, trial.after_each)
            self._run(replace(trial, is_trial=True), usable, PROFILE)

    @contextmanager
    def _anew(self, task: Task, ends: float) -> Iterator[Task]:
        """The task with the time that is left, in a directory that no failed child has written to."""
        seconds = max(ends - time.monotonic(), _NO_TIME)
        with self._workspace.job_directory() as directory:
            limits = replace(task.limits, seconds=seconds)
            yield replace(task, directory=directory, limits=limits)

    @contextmanager
    def _downloaded(self, task: Task) -> Iterator[list[tuple[HostFile, Path]]]:
        """The hosts with their files on this disk."""
        files, reporter = task.plan.files, task.work.reporter
        reporter.show(Phase.DOWNLOAD, total_bytes=sum(task.plan.profile_sizes))
        wanted = [entry.file for entry in files]
        with ExitStack() as kept:
            with task.parts.timed(Part.DOWNLOAD) as moved:
                fetching = self._workspace.fetch(wanted, task.after_each, moved.add)
                paths = kept.enter_context(fetching)
            task.work.check()
            yield list(zip(files, paths, strict=True))

    def _convert(self, task: Task, usable: Usable, source: str) -> Program:
        """Runs the engine, publishes a new artifact set, and hands over the compressed answer."""
        key = task.plan.artifact_key
        task.work.reporter.show(Phase.CONVERT, total_bytes=sum(usable.sizes))
        converted = self._run(task, usable, source)
        is_replaced = task.is_set_refused and task.suits_all_tools(usable)
        if is_replaced and key and task.work.may_undo():
            # The engine accepts the profile that the set was made of.
            self._artifacts.discard(key)
        if source == PROFILE:
            self._publish(task, usable)
        with task.parts.timed(Part.COMPRESS) as packed:
            made = pack(
                converted.output,
                converted.content_type,
                usable.warnings,
                usable.is_final and not task.plan.is_for_now,
                task.directory,
            )
            packed.add(made.header.size)
        self._hand_over(
            task, replace(made, profiles_of=usable.hosts) if source == PROFILE else made
        )
        return converted.program

    def _hand_over(self, task: Task, made: Made) -> None:
        """Keeps the answer for later workers too, if it took the profiles."""
        with task.parts.timed(Part.PUBLISH) as kept:
            self._kept.keep(task.plan.key, made, task.directory)
            task.keep(made)
            kept.add(made.header.size)

    def _run(self, task: Task, usable: Usable, source: str) -> Converted:
        """Runs the engine, once more before that when modules are yet to be extracted."""
        plan, request = task.plan, task.plan.request
        if plan.needs_modules:
            self._make_modules(task, usable, source)
        job = Job(
            task.directory,
            usable.hosts,
            request.tool,
            request.options,
            as_csv=request.as_csv,
            is_plain=usable.is_plain and not task.is_trial,
        )
        return self._runs.run(task, job, usable, source)

    def _make_modules(self, task: Task, usable: Usable, source: str) -> None:
        """Extracts the HLO modules unless they are known, and refuses a module that is not among them."""
        names = usable.modules
        if names is None:
            job = Job(task.directory, usable.hosts, MODULE_LIST, needs_modules=True)
            self._runs.run(task, job, usable, source)
            self._publish(task, usable)
            found = task.directory.glob(f"*{MODULE_SUFFIX}")
            names = tuple(path.name.removesuffix(MODULE_SUFFIX) for path in found)
        module = task.plan.module
        if module and module not in names:
            raise LoaderError(
                ErrorCode.NOT_FOUND, f"This session has no HLO module called “{module[:200]}”."
            )

    def _publish(self, task: Task, usable: Usable) -> None:
        """Shares what the engine left behind, unless a host is missing that others will have."""
        key = task.plan.artifact_key
        if key is None or task.is_trial or not task.suits_all_tools(usable):
            return
        files = self._produced_files(task.directory, usable.hosts)
        if files and usable.is_final:
            with task.parts.timed(Part.PUBLISH) as moved:
                moved.add(sum(path.stat().st_size for path in files))
                self._artifacts.publish(key, files, usable.hosts, usable.warnings)

    def _answer_health(self, task: Task) -> None:
        """What the inspection says of each host."""
        with self._downloaded(task) as files:
            total = sum(task.plan.profile_sizes)
            task.work.reporter.show(Phase.INSPECT, total_bytes=total)
            intake = timed(self._intake_for(task.plan), time.monotonic() + task.limits.seconds)
            with task.parts.timed(Part.INSPECT) as looked_at:
                looked_at.add(total)
                made = health(intake, files, task.plan.left_out, task.directory, task.after_each)
            self._hand_over(task, made)


class _Outcome(Enum):
    """What came of a shared artifact set."""

    MISSING = auto()
    REFUSED = auto()
    DONE = auto()
