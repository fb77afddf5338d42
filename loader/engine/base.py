"""What the loader needs of a converter.

An engine is asked to run steps in a directory that holds nothing but the job's own files. It runs them
outside this process and answers with files in that directory, or with a `LoaderError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol

XPROF_VERSION = "2.24.2"
"""The one version of xprof that answers and cache keys depend on (pinned in pyproject.toml)."""

ENGINE_VERSION = f"xprof-{XPROF_VERSION}"
"""How keys name the engine; front ends build keys too and never load XProf."""

RS_VERSION = "0.1.3"
"""The one version of xprof-rs that the fast engine uses (pinned in pyproject.toml)."""

CONTENT_TYPES = frozenset(
    {"application/json", "text/plain", "application/octet-stream", "text/csv"}
)
"""All that a conversion may answer with. HTML is not among them: XProf's holds unescaped names."""

OptionValue = str | int | bool
EngineName = Literal["xprof", "fast"]


def engine_version(engine: EngineName) -> str:
    """How keys name an engine, so that answers of one are never taken for the other's."""
    return ENGINE_VERSION if engine == "xprof" else f"{ENGINE_VERSION}+rs-{RS_VERSION}"


class Program(StrEnum):
    """What makes an answer."""

    XPROF = "xprof"
    RS = "xprof-rs"


@dataclass(frozen=True)
class Job:
    """One conversion.

    Attributes:
        directory: private directory; holds `<host>.xplane.pb` for every host unless artifacts make them
            unnecessary, and any artifacts of earlier conversions. The engine writes only here.
        hosts: names of the hosts, in the order in which the engine gets them (sorted).
        tool: XProf's tool name (`overview_page`, `trace_viewer@`, ...) or one of our own: `run_tools`
            (JSON list of tools) and `module_list` (comma-separated text).
        options: canonical options of the tool (loader.keys).
        needs_modules: run XProf's extraction of HLO modules first, when the directory has none.
        as_csv: answer the tool's table as CSV (XProf's data_csv).
        is_plain: whether every program reads the profiles alike; otherwise only XProf's own reading counts.
        program: what makes the answer; an engine decides that, its callers leave it.
    """

    directory: Path
    hosts: tuple[str, ...]
    tool: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    needs_modules: bool = False
    as_csv: bool = False
    is_plain: bool = True
    program: Program = Program.XPROF


@dataclass(frozen=True)
class Limits:
    """What one conversion may use.

    Attributes:
        seconds: wall clock.
        memory_bytes: resident memory of the child.
        output_bytes: size of any file that the child writes.
    """

    seconds: float = 600.0
    memory_bytes: int = 8 << 30
    output_bytes: int = 8 << 30


@dataclass(frozen=True)
class Converted:
    """What a conversion left behind.

    Attributes:
        output: file in the job's directory with the answer's bytes.
        content_type: media type of the answer.
        seconds: wall clock of the child.
        cpu_seconds: user and system time of the child.
        peak_memory_bytes: largest resident size of the child.
        program: what has made the answer; only XProf leaves artifacts behind.
    """

    output: Path
    content_type: str
    seconds: float
    cpu_seconds: float
    peak_memory_bytes: int
    program: Program = Program.XPROF


class StopSignal(Protocol):
    """Says whether work should end now; a `threading.Event` is one."""

    def is_set(self) -> bool:
        """Whether nobody needs the work any more."""


class Engine(Protocol):
    """A converter. Thread-safe: several jobs may run at once, each in its own process."""

    @property
    def version(self) -> str:
        """Name and version, part of every cache key, e.g. `xprof-2.24.2`."""

    def convert(self, job: Job, limits: Limits, cancelled: StopSignal | None = None) -> Converted:
        """Runs the job to its end.

        Args:
            job: what to do.
            limits: what it may use.
            cancelled: looked at often; once it is set the job's child is ended.

        Raises:
            LoaderError: ENGINE_REFUSED, ENGINE_CRASHED, OUT_OF_MEMORY, TIMED_OUT, CANCELLED, or INTERNAL.
        """

    def close(self) -> None:
        """Ends all children. Jobs still running fail with INTERNAL."""
