"""What tests of the service share: a session of two hosts, an engine that counts, and services on one cache.

The engine is a stand-in, for what can't be had of the real one: another version, a count of its jobs, a crash
on demand. The real engine answers in tests/integration.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import zstandard

from loader.caches.artifacts import DirectoryArtifacts, place
from loader.caches.counted_looks import counted
from loader.caches.results import DirectoryResults, ResultStore
from loader.conversion.conversion import Converter
from loader.coordination.leases import Leases, ProcessLeases
from loader.coordination.progress import DirectoryProgress
from loader.engine.base import Converted, Job, Limits, StopSignal
from loader.errors import ErrorCode, LoaderError
from loader.inspection.result import Inspection
from loader.intake.profiles import Intake
from loader.intake.scratch import Scratch
from loader.keys import ToolRequest
from loader.observing import CacheLayer, ConversionObserver, ConversionRecord, Unobserved
from loader.service import Answered, Retention, ToolDataService
from loader.storage.base import StoredFile
from loader.turns.admission import Admission
from tests.scratch_parts import CountingStorage

ARTIFACT = "ALL_HOSTS.op_stats_v2.pb"


@dataclass
class StandInEngine:
    """Answers with what it was given: hosts, tool, sizes of profiles, whether an artifact was there."""

    version: str = "engine-1"
    jobs: list[Job] = field(default_factory=list)
    fail: Callable[[Job], LoaderError | None] = lambda job: None
    gate: threading.Event | None = None
    limits: list[Limits] = field(default_factory=list)
    peak_bytes: int = 1000

    def convert(self, job: Job, limits: Limits, cancelled: StopSignal | None = None) -> Converted:
        self.jobs.append(job)
        self.limits.append(limits)
        self._wait(cancelled)
        error = self.fail(job)
        if error is not None:
            raise error
        profiles = {
            path.name: path.stat().st_size for path in sorted(job.directory.glob("*.xplane.pb"))
        }
        had_artifact = (job.directory / ARTIFACT).exists()
        if not had_artifact:
            (job.directory / ARTIFACT).write_bytes(b"stats of " + json.dumps(profiles).encode())
        output = job.directory / ".answer"
        answer = [self.version, job.tool, list(job.hosts), profiles, had_artifact]
        output.write_text(json.dumps(answer))
        return Converted(output, "application/json", 0.1, 0.1, self.peak_bytes)

    def _wait(self, cancelled: StopSignal | None) -> None:
        """Until the gate opens, or as long as the job is wanted."""
        for _ in range(2000):
            if self.gate is None or self.gate.wait(0.01):
                return
            if cancelled is not None and cancelled.is_set():
                raise LoaderError(ErrorCode.CANCELLED, "not wanted any more")
        raise AssertionError("nobody opened the gate")

    def close(self) -> None:
        pass


@dataclass
class Bench:
    """A session of two hosts, and services that share one cache."""

    folder: Path
    session: Path
    records: list[ConversionRecord] = field(default_factory=list)
    slots: int = 4
    memory_bytes: int = 1 << 40
    scratch_bytes: int = 1 << 20
    seconds: float = 600.0
    most_waiting: int = 100
    admission: Admission = field(init=False)
    files: CountingStorage = field(default_factory=CountingStorage)
    now: float = 1_000_000.0
    intake: Intake = field(default_factory=lambda: intake)
    observer: ConversionObserver = field(default_factory=Unobserved)

    def results(self) -> DirectoryResults:
        return DirectoryResults(self.folder / "results", 1 << 20, lambda: self.now)

    def board(self) -> DirectoryProgress:
        return DirectoryProgress(self.folder / "progress")

    def service(
        self,
        engine: StandInEngine,
        leases: Leases | None = None,
        results: ResultStore | None = None,
        scratch: str = "scratch",
    ) -> ToolDataService:
        artifacts = DirectoryArtifacts(self.folder / "artifacts", 1 << 20)
        self.admission = Admission(
            self.slots, self.memory_bytes, self.seconds, most_waiting=self.most_waiting
        )
        converter = Converter(
            engine=engine,
            workspace=Scratch(self.folder / scratch, self.scratch_bytes, self.files),
            artifacts=artifacts,
            intake=self.intake,
            limits=Limits(seconds=self.seconds),
            admission=self.admission,
            record=self.records.append,
            produced_files=produced,
            observer=self.observer,
        )
        results = results or self.results()
        return ToolDataService(
            storage=self.files,
            results=results,
            first_look=counted(results.open, CacheLayer.DISK, self.observer.looked_up),
            artifacts=artifacts,
            leases=leases or ProcessLeases(),
            converter=converter,
            retention=Retention(3600, 60),
            progress=self.board(),
        )

    def request(self, tool: str = "hlo_stats", hosts: tuple[str, ...] | None = None) -> ToolRequest:
        return ToolRequest((str(self.session),), tool, hosts)

    def write(self, host: str, content: bytes) -> None:
        (self.session / f"{host}.xplane.pb").write_bytes(content)


def intake(path: Path, file: StoredFile, target: Path) -> Inspection:
    """Goes by the first letters of a file."""
    content = path.read_bytes()
    if content.startswith(b"bad"):
        raise LoaderError(
            ErrorCode.MALFORMED,
            "This file is not a readable XProf profile (it ends too early). Upload it again.",
            file.name,
        )
    if content.startswith(b"growing"):
        raise LoaderError(
            ErrorCode.INCOMPLETE,
            "This file is not a readable XProf profile (it ends too early). Wait.",
            file.name,
        )
    place(path, target)
    return Inspection(
        size=len(content),
        planes=1,
        device_planes=0,
        lines=0,
        events=len(content) if content.startswith(b"many") else 0,
        longest_name=1,
        modules=(),
        hostnames=("vm-0", "vm-1"),
        start_ns=1000,
        stop_ns=2500,
        warnings=("odd clock",) if content.startswith(b"odd") else (),
        repairs=(),
        is_plain=not content.startswith(b"far"),
    )


def produced(directory: Path, _hosts: Sequence[str]) -> list[Path]:
    path = directory / ARTIFACT
    return [path] if path.exists() else []


def read(answered: Answered) -> list[object]:
    body = b"".join(answered.result.pieces)
    answer: list[object] = json.loads(zstandard.ZstdDecompressor().decompressobj().decompress(body))
    return answer


def make_bench(folder: Path) -> Bench:
    """A session of the hosts a and b."""
    session = folder / "session"
    session.mkdir()
    made = Bench(folder, session)
    made.write("a", b"first")
    made.write("b", b"second")
    return made
