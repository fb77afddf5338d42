"""From downloaded files to the profiles that a conversion may read: which hosts are left, and why not others.

One damaged or late host never hides the others, and every answer says which are missing. What makes a profile
unusable is decided elsewhere (`Intake`, `loader.conversion.culprits`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from loader.catalog import HostFile
from loader.errors import ErrorCode, HostTooLargeError, LoaderError
from loader.inspection.result import Inspection
from loader.plan import LeftOut
from loader.storage.base import XPLANE_SUFFIX, StoredFile

Intake = Callable[[Path, StoredFile, Path], Inspection]
"""Looks a downloaded profile over and places it, usable, at the last path; else raises `LoaderError`."""


class RedactingIntake(Protocol):
    """An `Intake` that places a copy without the profile's texts (loader.redaction)."""

    @property
    def mark(self) -> str:
        """Names the pseudonyms, as in `ToolRequest.redaction`."""

    def __call__(self, path: Path, file: StoredFile, target: Path) -> Inspection:
        """As an `Intake`; the inspection is that of the copy."""


_MOST_WARNINGS = 20
_LONGEST_WARNING = 1000
OF_THE_FILE = frozenset({ErrorCode.MALFORMED, ErrorCode.TOO_LARGE, ErrorCode.INCOMPLETE})
"""What lies in one host's file; anything else concerns all of them."""
_PASSING = frozenset({ErrorCode.INCOMPLETE, ErrorCode.NEEDS_LARGER_WORKER})
"""What may be otherwise in a moment, or in another worker."""
_REASONS = (
    re.compile(r"This file is not a readable XProf profile \((?:it )?(.+?)\)\. "),
    re.compile(r"This profile exceeds a limit: (?:it )?(.+?)\. "),
    re.compile(r"This (needs about .+?; this worker may use .+?)\. "),
)
"""The short reason inside the inspection's sentences."""
_OF_THE_ENGINE = {
    ErrorCode.MALFORMED: "XProf can't read it",
    ErrorCode.ENGINE_CRASHED: "XProf crashes on it",
    ErrorCode.OUT_OF_MEMORY: "XProf needs too much memory for it",
}
_OF_A_TOOL = frozenset({ErrorCode.ENGINE_CRASHED, ErrorCode.OUT_OF_MEMORY})
"""Failures of one tool on a host that others may well show."""


@dataclass(frozen=True)
class Usable:
    """The hosts that can be converted.

    Attributes:
        hosts: their names, sorted.
        sizes: bytes of what the engine will read: their profiles, or the files of an artifact set.
        warnings: sentences about the profile and the hosts that are left out.
        events: number of events of each host, where they were counted.
        modules: names of the HLO modules of an artifact set, None when they are yet to be extracted.
        is_final: False when a host is left out only for now, which was not known before it was looked at.
        is_of_tool: whether a host is left out because this very tool crashes on it, or takes too much memory.
        is_plain: whether every program reads all of the profiles alike (`Inspection`).
    """

    hosts: tuple[str, ...]
    sizes: tuple[int, ...]
    warnings: tuple[str, ...]
    events: tuple[int, ...] = ()
    modules: tuple[str, ...] | None = None
    is_final: bool = True
    is_of_tool: bool = False
    is_plain: bool = True


def gather(
    intake: Intake,
    files: Sequence[tuple[HostFile, Path]],
    directory: Path,
    left_out: Sequence[LeftOut],
    culprits: Mapping[str, LoaderError],
    are_chosen: bool,
    after_each: Callable[[int], None],
) -> Usable:
    """Places the usable profiles in a job's directory.

    Args:
        intake: see `Intake`.
        files: hosts with their downloaded files.
        directory: of the job.
        left_out: hosts that are not looked at.
        culprits: hosts that the engine has failed on, with its errors; they are left out, too.
        are_chosen: whether somebody asked for these very hosts, so that none may be left out.
        after_each: told the size of each file that was looked at.

    Raises:
        LoaderError: why no profile is usable, or one that may not be left out isn't.
    """
    found: dict[str, Inspection] = {}
    problems = {host.entry.host: host.problem for host in left_out}
    for entry, path in files:
        if entry.host in culprits:
            problems[entry.host] = culprits[entry.host]
            continue
        try:
            found[entry.host] = intake(path, entry.file, directory / profile_name(entry))
        except LoaderError as problem:
            if problem.code not in OF_THE_FILE and not isinstance(problem, HostTooLargeError):
                raise
            problems[entry.host] = problem
        after_each(entry.file.size)
    if problems and (are_chosen or not found):
        raise _worst(tuple(problems.values()))
    reasons = {
        host: _OF_THE_ENGINE[problem.code] if host in culprits else short_reason(problem)
        for host, problem in sorted(problems.items())
    }
    passing = [host for host, problem in problems.items() if problem.code in _PASSING]
    return replace(
        _usable(found, reasons),
        is_final={host.entry.host for host in left_out} >= set(passing),
        is_of_tool=any(problem.code in _OF_A_TOOL for problem in culprits.values()),
    )


def _usable(found: Mapping[str, Inspection], reasons: Mapping[str, str]) -> Usable:
    """What is left, with a warning about what is not."""
    warnings = [warning for inspection in found.values() for warning in inspection.warnings]
    if reasons:
        left_out = "; ".join(f"{host}: {reason}" for host, reason in reasons.items())
        count = len(found) + len(reasons)
        warnings.insert(0, f"{len(found)} of {count} hosts; {left_out}")
    return Usable(
        tuple(found),
        tuple(inspection.size for inspection in found.values()),
        bounded(warnings),
        events=tuple(inspection.events for inspection in found.values()),
        is_plain=all(inspection.is_plain for inspection in found.values()),
    )


def _worst(problems: Sequence[LoaderError]) -> LoaderError:
    """The one to answer with: one that passes by itself, if there is one, for it must not be remembered."""
    passing = [problem for problem in problems if problem.code in _PASSING]
    return (passing or problems)[0]


def short_reason(error: LoaderError) -> str:
    """The error in a few words, such as `ends too early`; its whole sentence is in the session's health."""
    for pattern in _REASONS:
        if match := pattern.match(error.message):
            return match[1].replace("; ", ", ")
    return error.message.partition(". ")[0].removeprefix("it ").removesuffix(".")


def bounded(warnings: Sequence[str]) -> tuple[str, ...]:
    """The first warnings, cut: they travel in headers and lie in every cached answer."""
    return tuple(
        text if len(text) <= _LONGEST_WARNING else f"{text[:_LONGEST_WARNING]}…"
        for text in warnings[:_MOST_WARNINGS]
    )


def profile_name(entry: HostFile) -> str:
    """What a host's profile is called in a job's directory.

    Raises:
        LoaderError: TOO_LARGE, the host's name can't be a file's name with XProf's longest ending.
    """
    if len(entry.host.encode()) > 200 or "\0" in entry.host or "/" in entry.host:
        raise LoaderError(
            ErrorCode.TOO_LARGE,
            "The host's name is longer than 200 bytes. Rename the file and attach the session again.",
            entry.file.name,
        )
    return f"{entry.host}{XPLANE_SUFFIX}"
