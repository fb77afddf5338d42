"""One conversion from start to end: wait for a turn, fetch, inspect, convert in a child, keep what is left.

Works in a private directory that is removed afterwards whatever happens. It reads the user's files and never
writes beside them. What to convert, and whether somebody else is already at it, is `loader.service`'s matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import Path
from typing import Protocol

from loader.admission import Admission, Place
from loader.answers import Keep, health, pack
from loader.artifacts import ArtifactStore, Manifest
from loader.catalog import HostFile
from loader.engine.base import Converted, Engine, Job, Limits, Program
from loader.engine.produced import MODULE_SUFFIX
from loader.errors import ErrorCode, LoaderError
from loader.estimates import CHILD_BYTES, Estimate, Estimates, Reading
from loader.plan import Plan
from loader.profiles import Intake, Usable, gather
from loader.progress import Phase
from loader.storage.base import StoredFile, ignore
from loader.tools import HEALTH, MODULE_LIST, RUN_TOOLS
from loader.work import Work

_PROFILE, _ARTIFACT = "profile", "artifact"
_MB, _GB = 1e6, 1e9


class Workspace(Protocol):
    """Disk space for downloads and for running conversions (loader.scratch)."""

    def fetch(
        self, files: Sequence[StoredFile], wrote: Callable[[int], None] = ignore
    ) -> AbstractContextManager[list[Path]]:
        """The files on this disk, in the order asked for, kept while the context lasts.

        Args:
            files: what to fetch.
            wrote: told of every so many bytes that have come, from any thread.
        """

    def job_directory(self) -> AbstractContextManager[Path]:
        """A private directory for one job."""


@dataclass(frozen=True)
class ConversionRecord:
    """What a conversion cost, for metrics.

    Attributes:
        tool: XProf's name of the tool.
        source: `profile`, or `artifact` when no profile was read.
        outcome: `ok` or an error code.
        converted: cost of the child, None when it gave no answer.
        reserved_bytes: memory that was set aside for it.
    """

    tool: str
    source: str
    outcome: str
    converted: Converted | None
    reserved_bytes: int = 0


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
    ) -> None:
        self._engine = engine
        self._workspace = workspace
        self._artifacts = artifacts
        self._intake = intake
        memory = min(limits.memory_bytes, admission.memory_bytes)
        self._limits = replace(limits, memory_bytes=memory)
        self._admission = admission
        self._record = record
        self._produced_files = produced_files
        self._estimates = estimates or Estimates()

    @property
    def engine_version(self) -> str:
        """Version of the engine, part of every key."""
        return self._engine.version

    def run(self, plan: Plan, work: Work, keep: Keep) -> bool:
        """Makes the answer and hands it to `keep`.

        Returns:
            Whether the shared set was made on the way, if it can be made at all; xprof-rs makes none.

        Raises:
            LoaderError: whatever went wrong, in words.
        """
        has_set = self._has_set(plan)
        with self._admission.enter(work, self._need(plan, has_set)) as place, ExitStack() as stack:
            directory = stack.enter_context(self._workspace.job_directory())
            task = _Task(plan, work, place, directory, keep)
            if plan.tool.name == HEALTH:
                self._answer_health(task)
                return True
            outcome = self._convert_artifacts(task) if has_set else _Outcome.MISSING
            if outcome is _Outcome.DONE:
                return True
            if has_set:
                place.resize(self._estimate(plan).high)
                directory = stack.enter_context(self._workspace.job_directory())
            is_refused = outcome is _Outcome.REFUSED
            program = self._convert_profiles(
                replace(task, directory=directory, is_set_refused=is_refused)
            )
            return program is Program.XPROF

    def _has_set(self, plan: Plan) -> bool:
        """Whether the shared set is there and the tool needs no more than that."""
        if plan.artifact_key is None or plan.tool.name == RUN_TOOLS:
            return False
        return self._artifacts.contains(plan.artifact_key)

    def _need(self, plan: Plan, has_set: bool) -> int:
        """Bytes of memory to wait for.

        Raises:
            LoaderError: NEEDS_LARGER_WORKER.
        """
        if plan.tool.name == HEALTH:
            return CHILD_BYTES
        if has_set:  # How large it is, is known when it was fetched.
            reading = Reading(plan.request.tool, _ARTIFACT, plan.profile_sizes)
            return self._estimates.of(reading).high
        return self._estimate(plan).high

    def _estimate(self, plan: Plan) -> Estimate:
        """What the profiles will need, by their sizes on the store.

        Raises:
            LoaderError: NEEDS_LARGER_WORKER.
        """
        reading = Reading(plan.heaviest, _PROFILE, plan.profile_sizes)
        return self._require_room(self._estimates.of(reading))

    def _require_room(self, estimate: Estimate) -> Estimate:
        """The estimate, unless no conversion may use so much here.

        Raises:
            LoaderError: NEEDS_LARGER_WORKER.
        """
        if estimate.low <= self._limits.memory_bytes:
            return estimate
        raise self._admission.refuse(
            f"This needs about {_size(estimate.low)} of memory; this worker may use "
            f"{_size(self._limits.memory_bytes)}. Choose fewer hosts, capture a shorter profile, or ask for "
            "a worker with more memory."
        )

    def _convert_artifacts(self, task: _Task) -> _Outcome:
        """Makes the answer from the shared set, if it can be had."""
        manifest = self._fetch_artifacts(task)
        if manifest is None:
            return _Outcome.MISSING
        sizes = tuple(size for name, size in manifest.files if task.plan.wants(name))
        modules = tuple(
            name.removesuffix(MODULE_SUFFIX)
            for name, _ in manifest.files
            if name.endswith(MODULE_SUFFIX)
        )
        usable = Usable(manifest.hosts, sizes, manifest.warnings, modules=modules)
        task.place.resize(
            self._estimates.of(_reading(task.plan.request.tool, _ARTIFACT, usable)).high
        )
        try:
            self._convert(task, usable, _ARTIFACT)
        except LoaderError as error:
            if error.code not in {ErrorCode.ENGINE_REFUSED, ErrorCode.ENGINE_CRASHED}:
                raise
            # The set may be damaged in a way that sizes don't show: the profile has the last word.
            return _Outcome.REFUSED
        return _Outcome.DONE

    def _fetch_artifacts(self, task: _Task) -> Manifest | None:
        """Places what the tool needs of the shared set in the directory."""
        plan = task.plan
        if plan.artifact_key is None:
            return None
        task.work.reporter.show(Phase.DOWNLOAD)
        manifest = self._artifacts.fetch(plan.artifact_key, task.directory, plan.wants)
        if (
            manifest is None
            and task.work.may_undo()
            and self._artifacts.contains(plan.artifact_key)
        ):
            self._artifacts.discard(plan.artifact_key)
        return manifest

    def _convert_profiles(self, task: _Task) -> Program:
        """Makes the answer from the profiles, and the shared set on the way."""
        plan, work = task.plan, task.work
        with self._downloaded(task) as files:
            work.reporter.show(Phase.INSPECT, total_bytes=sum(plan.profile_sizes))
            are_chosen = plan.request.hosts is not None
            usable = gather(self._intake, files, task.directory, are_chosen, task.after_each)
            reading = _reading(plan.heaviest, _PROFILE, usable)
            task.place.resize(self._require_room(self._estimates.of(reading)).high)
            return self._convert(task, usable, _PROFILE)

    @contextmanager
    def _downloaded(self, task: _Task) -> Iterator[list[tuple[HostFile, Path]]]:
        """The hosts with their files on this disk."""
        files, reporter = task.plan.files, task.work.reporter
        reporter.show(Phase.DOWNLOAD, total_bytes=sum(task.plan.profile_sizes))
        with self._workspace.fetch([entry.file for entry in files], reporter.add) as paths:
            task.work.check()
            yield list(zip(files, paths, strict=True))

    def _convert(self, task: _Task, usable: Usable, source: str) -> Program:
        """Runs the engine, publishes a new artifact set, and hands over the compressed answer."""
        plan, request = task.plan, task.plan.request
        task.work.reporter.show(Phase.CONVERT, total_bytes=sum(usable.sizes))
        if plan.needs_modules:
            self._make_modules(task, usable, source)
        job = Job(
            task.directory,
            usable.hosts,
            request.tool,
            request.options,
            as_csv=request.as_csv,
            has_warnings=bool(usable.warnings),
        )
        converted = self._run_engine(task, job, usable, source)
        if task.is_set_refused and plan.artifact_key is not None and task.work.may_undo():
            # The engine accepts the profile that the set was made of.
            self._artifacts.discard(plan.artifact_key)
        if source == _PROFILE:
            self._publish(task, usable)
        task.keep(
            pack(
                converted.output,
                converted.content_type,
                usable.warnings,
                usable.is_final,
                task.directory,
            )
        )
        return converted.program

    def _make_modules(self, task: _Task, usable: Usable, source: str) -> None:
        """Extracts the HLO modules unless they are known, and refuses a module that is not among them."""
        names = usable.modules
        if names is None:
            job = Job(task.directory, usable.hosts, MODULE_LIST, needs_modules=True)
            self._run_engine(task, job, usable, source)
            self._publish(task, usable)
            found = task.directory.glob(f"*{MODULE_SUFFIX}")
            names = tuple(path.name.removesuffix(MODULE_SUFFIX) for path in found)
        module = task.plan.module
        if module and module not in names:
            raise LoaderError(
                ErrorCode.NOT_FOUND, f"This session has no HLO module called “{module[:200]}”."
            )

    def _run_engine(self, task: _Task, job: Job, usable: Usable, source: str) -> Converted:
        """One run of the engine, counted and learnt from."""
        task.work.check()
        reading, reserved = _reading(job.tool, source, usable), task.place.memory_bytes
        try:
            converted = self._engine.convert(job, self._limits, task.work)
        except LoaderError as error:
            self._record(ConversionRecord(job.tool, source, error.code.value, None, reserved))
            if error.code is ErrorCode.OUT_OF_MEMORY:
                self._estimates.learn(reading, self._limits.memory_bytes)
            raise
        self._record(ConversionRecord(job.tool, source, "ok", converted, reserved))
        if converted.program is Program.XPROF:
            self._estimates.learn(reading, converted.peak_memory_bytes)
        return converted

    def _publish(self, task: _Task, usable: Usable) -> None:
        """Shares what the engine left behind, unless a host is missing that will be there soon."""
        key = task.plan.artifact_key
        files = self._produced_files(task.directory, usable.hosts)
        if key is not None and files and usable.is_final:
            self._artifacts.publish(key, files, usable.hosts, usable.warnings)

    def _answer_health(self, task: _Task) -> None:
        """What the inspection says of each host."""
        with self._downloaded(task) as files:
            total = sum(task.plan.profile_sizes)
            task.work.reporter.show(Phase.INSPECT, total_bytes=total)
            task.keep(health(self._intake, files, task.directory, task.after_each))


@dataclass(frozen=True)
class _Task:
    """One run of a plan, with what it has got so far."""

    plan: Plan
    work: Work
    place: Place
    directory: Path
    keep: Keep
    is_set_refused: bool = False

    def after_each(self, size: int) -> None:
        """A file of so many bytes was looked at."""
        self.work.reporter.add(size)
        self.work.check()


class _Outcome(Enum):
    """What came of a shared artifact set."""

    MISSING = auto()
    REFUSED = auto()
    DONE = auto()


def _reading(tool: str, source: str, usable: Usable) -> Reading:
    return Reading(tool, source, usable.sizes, usable.events)


def _size(number: int) -> str:
    """Memory for a person, to two digits or so."""
    if number < _GB:
        return f"{number / _MB:,.0f} MB"
    return f"{number / _GB:,.0f} GB" if number >= 10 * _GB else f"{number / _GB:.1f} GB"
