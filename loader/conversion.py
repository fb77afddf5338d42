"""One conversion from start to end: fetch, inspect, convert in a child, keep what it left behind.

Works in a private directory that is removed afterwards whatever happens. It reads the user's files and never
writes beside them. What to convert, and whether somebody else is already at it, is `loader.service`'s matter.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Protocol

import zstandard

from loader.artifacts import ArtifactStore, Manifest, place
from loader.catalog import HostFile
from loader.engine.base import Converted, Engine, Job, Limits
from loader.engine.produced import MODULE_SUFFIX
from loader.errors import ErrorCode, LoaderError
from loader.inspect import Inspection
from loader.keys import ToolRequest
from loader.results import ResultHeader
from loader.storage.base import XPLANE_SUFFIX, StoredFile
from loader.tools import HEALTH, MODULE_LIST, RUN_TOOLS, ArtifactKind, Tool

_MOST_WARNINGS = 20
_LONGEST_WARNING = 1000
_OWN_MODULE_TOOLS = frozenset({RUN_TOOLS, MODULE_LIST})
_ZSTD_LEVEL = 9
"""Half the bytes of level 3 on a trace, for 10 ms of CPU per MB, paid once (docs/adr/004)."""

Keep = Callable[[ResultHeader, Path], None]
"""Given the header and the zstd body of an answer; the body's file is gone afterwards."""

Inspect = Callable[[Path, StoredFile], Inspection]
"""Looks a downloaded profile over; raises `LoaderError` when it can't be used."""


class Workspace(Protocol):
    """Disk space for downloads and for running conversions (loader.scratch)."""

    def fetch(self, files: Sequence[StoredFile]) -> AbstractContextManager[list[Path]]:
        """The files on this disk, in the order asked for, kept while the context lasts."""

    def job_directory(self) -> AbstractContextManager[Path]:
        """A private directory for one job."""


@dataclass(frozen=True)
class Plan:
    """A request with everything that was looked up for it.

    Attributes:
        request: what was asked.
        tool: its row in the table.
        files: the chosen hosts' files, sorted by host.
        key: of the answer.
        artifact_key: of the artifact set that the tool shares, or None.
    """

    request: ToolRequest
    tool: Tool
    files: tuple[HostFile, ...]
    key: str
    artifact_key: str | None


@dataclass(frozen=True)
class ConversionRecord:
    """What a conversion cost, for metrics.

    Attributes:
        tool: XProf's name of the tool.
        source: `profile`, or `artifact` when no profile was read.
        outcome: `ok` or an error code.
        converted: cost of the child, None when it gave no answer.
    """

    tool: str
    source: str
    outcome: str
    converted: Converted | None


class Converter:
    """Runs plans, a bounded number at once."""

    def __init__(
        self,
        engine: Engine,
        workspace: Workspace,
        artifacts: ArtifactStore,
        inspect: Inspect,
        limits: Limits,
        slots: int,
        record: Callable[[ConversionRecord], None],
        produced_files: Callable[[Path, Sequence[str]], list[Path]],
    ) -> None:
        self._engine = engine
        self._workspace = workspace
        self._artifacts = artifacts
        self._inspect = inspect
        self._limits = limits
        self._slots = threading.BoundedSemaphore(slots)
        self._record = record
        self._produced_files = produced_files

    @property
    def engine_version(self) -> str:
        """Version of the engine, part of every key."""
        return self._engine.version

    def run(self, plan: Plan, keep: Keep) -> None:
        """Makes the answer and hands it to `keep`.

        Raises:
            LoaderError: whatever went wrong, in words.
        """
        with self._slot(), ExitStack() as stack:
            directory = stack.enter_context(self._workspace.job_directory())
            if plan.tool.name == HEALTH:
                self._answer_health(plan, directory, keep)
                return
            outcome = self._convert_artifacts(plan, directory, keep)
            if outcome is _Outcome.DONE:
                return
            if outcome is _Outcome.REFUSED:
                directory = stack.enter_context(self._workspace.job_directory())
            paths = stack.enter_context(self._workspace.fetch([entry.file for entry in plan.files]))
            usable = self._place_profiles(plan, paths, directory)
            refused = outcome is _Outcome.REFUSED
            self._convert(plan, directory, usable, keep, "profile", is_set_damaged=refused)

    @contextmanager
    def _slot(self) -> Iterator[None]:
        """Keeps what runs at once within bounds: disk and cores for fetching, inspecting and converting."""
        if not self._slots.acquire(timeout=self._limits.seconds):
            raise LoaderError(
                ErrorCode.BUSY,
                "All conversion slots of the worker are taken. Try again in a minute.",
            )
        try:
            yield
        finally:
            self._slots.release()

    def _convert_artifacts(self, plan: Plan, directory: Path, keep: Keep) -> _Outcome:
        """Makes the answer from the shared set, if there is one."""
        manifest = self._fetch_artifacts(plan, directory)
        if manifest is None:
            return _Outcome.MISSING
        try:
            usable = _Usable(manifest.hosts, manifest.warnings)
            self._convert(plan, directory, usable, keep, "artifact")
        except LoaderError as error:
            if error.code not in {ErrorCode.ENGINE_REFUSED, ErrorCode.ENGINE_CRASHED}:
                raise
            # The set may be damaged in a way that sizes don't show: the profile has the last word.
            return _Outcome.REFUSED
        return _Outcome.DONE

    def _fetch_artifacts(self, plan: Plan, directory: Path) -> Manifest | None:
        """The shared set in the directory, when there is one and the tool needs no more than that."""
        if plan.artifact_key is None or plan.tool.name == RUN_TOOLS:
            return None
        manifest = self._artifacts.fetch(plan.artifact_key, directory)
        if manifest is None and self._artifacts.contains(plan.artifact_key):
            self._artifacts.discard(plan.artifact_key)
        return manifest

    def _place_profiles(self, plan: Plan, paths: Sequence[Path], directory: Path) -> _Usable:
        """Places the usable profiles in the directory; their hosts, and warnings about the rest."""
        hosts: list[str] = []
        warnings: list[str] = []
        problems: list[LoaderError] = []
        for entry, path in zip(plan.files, paths, strict=True):
            try:
                warnings += self._inspect(path, entry.file).warnings
                place(path, directory / f"{_usable_name(entry)}{XPLANE_SUFFIX}")
                hosts.append(entry.host)
            except LoaderError as problem:
                problems.append(problem)
        if problems and (not hosts or plan.request.hosts is not None):
            raise problems[0]
        if problems:
            left_out = "; ".join(f"{problem.file}: {problem.message}" for problem in problems)
            warnings.insert(0, f"{len(hosts)} of {len(plan.files)} hosts. {left_out}")
        return _Usable(tuple(hosts), _bounded(warnings))

    def _convert(
        self,
        plan: Plan,
        directory: Path,
        usable: _Usable,
        keep: Keep,
        source: str,
        is_set_damaged: bool = False,
    ) -> None:
        """Runs the engine, publishes a new artifact set, and hands over the compressed answer."""
        request = plan.request
        if plan.tool.artifact is ArtifactKind.MODULES and request.tool not in _OWN_MODULE_TOOLS:
            self._make_modules(plan, directory, usable, source)
        job = Job(directory, usable.hosts, request.tool, request.options, as_csv=request.as_csv)
        converted = self._run_engine(job, source)
        if is_set_damaged and plan.artifact_key is not None:
            # The engine accepts the profile that the set was made of.
            self._artifacts.discard(plan.artifact_key)
        if source == "profile":
            self._publish(plan, directory, usable)
        body = directory / ".answer.zst"
        raw_size = converted.output.stat().st_size
        with converted.output.open("rb") as raw, body.open("wb") as packed:
            _compressor().copy_stream(raw, packed, size=raw_size)
        keep(_header(body, converted.content_type, raw_size, usable.warnings), body)

    def _make_modules(self, plan: Plan, directory: Path, usable: _Usable, source: str) -> None:
        """Extracts the HLO modules unless they are there, and refuses a module that is not among them."""
        if not any(directory.glob(f"*{MODULE_SUFFIX}")):
            self._run_engine(Job(directory, usable.hosts, MODULE_LIST, needs_modules=True), source)
            if source == "profile":
                self._publish(plan, directory, usable)
        module = plan.request.options.get("module_name")
        names = {
            path.name.removesuffix(MODULE_SUFFIX) for path in directory.glob(f"*{MODULE_SUFFIX}")
        }
        if module and module not in names:
            raise LoaderError(
                ErrorCode.NOT_FOUND, f"This session has no HLO module called “{str(module)[:200]}”."
            )

    def _run_engine(self, job: Job, source: str) -> Converted:
        try:
            converted = self._engine.convert(job, self._limits)
        except LoaderError as error:
            self._record(ConversionRecord(job.tool, source, error.code.value, None))
            raise
        self._record(ConversionRecord(job.tool, source, "ok", converted))
        return converted

    def _publish(self, plan: Plan, directory: Path, usable: _Usable) -> None:
        if plan.artifact_key is None:
            return
        files = self._produced_files(directory, usable.hosts)
        if files:
            self._artifacts.publish(plan.artifact_key, files, usable.hosts, usable.warnings)

    def _answer_health(self, plan: Plan, directory: Path, keep: Keep) -> None:
        """What the inspection says of each host."""
        rows = []
        with self._workspace.fetch([entry.file for entry in plan.files]) as paths:
            for entry, path in zip(plan.files, paths, strict=True):
                rows.append(self._health_of(entry, path))
        raw = json.dumps({"hosts": rows}).encode()
        body = directory / ".answer.zst"
        body.write_bytes(_compressor().compress(raw))
        keep(_header(body, "application/json", len(raw), ()), body)

    def _health_of(self, entry: HostFile, path: Path) -> dict[str, object]:
        row: dict[str, object] = {
            "host": entry.host,
            "file": entry.file.name,
            "size": entry.file.size,
        }
        try:
            found = self._inspect(path, entry.file)
            _usable_name(entry)
        except LoaderError as problem:
            return {
                **row,
                "usable": False,
                "reason": problem.code.value,
                "message": problem.message,
            }
        return {
            **row,
            "usable": True,
            "warnings": list(found.warnings),
            "startNs": found.start_ns,
            "stopNs": found.stop_ns,
            "hostnames": list(found.hostnames),
        }


@dataclass(frozen=True)
class _Usable:
    """The hosts that can be converted, and sentences about the profile and the hosts that can't."""

    hosts: tuple[str, ...]
    warnings: tuple[str, ...]


class _Outcome(Enum):
    """What came of a shared artifact set."""

    MISSING = auto()
    REFUSED = auto()
    DONE = auto()


def _bounded(warnings: Sequence[str]) -> tuple[str, ...]:
    """The first warnings, cut: they travel in headers and lie in every cached answer."""
    return tuple(
        text if len(text) <= _LONGEST_WARNING else f"{text[:_LONGEST_WARNING]}…"
        for text in warnings[:_MOST_WARNINGS]
    )


def _compressor() -> zstandard.ZstdCompressor:
    return zstandard.ZstdCompressor(level=_ZSTD_LEVEL, write_checksum=True)


def _header(
    body: Path, content_type: str, raw_size: int, warnings: tuple[str, ...]
) -> ResultHeader:
    with body.open("rb") as source:
        digest = hashlib.file_digest(source, "sha256").hexdigest()
    size = body.stat().st_size
    return ResultHeader(content_type, size, raw_size, warnings, digest=digest)


def _usable_name(entry: HostFile) -> str:
    """The host's name, when it can be a file's name with XProf's longest ending.

    Raises:
        LoaderError: TOO_LARGE.
    """
    if len(entry.host.encode()) > 200 or "\0" in entry.host or "/" in entry.host:
        raise LoaderError(
            ErrorCode.TOO_LARGE,
            "The host's name is longer than 200 bytes. Rename the file and attach the session again.",
            entry.file.name,
        )
    return entry.host
