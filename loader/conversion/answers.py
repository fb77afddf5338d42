"""Finished answers on their way to the cache: compressed, measured, and with what the reader should know.

Also our own answer, that of the inspection, which needs no engine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import zstandard

from loader.caches.results import ResultHeader
from loader.catalog import HostFile
from loader.errors import ErrorCode, LoaderError
from loader.inspection.contents import Contents
from loader.intake.profiles import OF_THE_FILE, Intake, profile_name
from loader.plan import LeftOut

_ZSTD_LEVEL = 9
"""Half the bytes of level 3 on a trace, for 10 ms of CPU per MB, paid once (docs/adr/004)."""
_BODY = ".answer.zst"
_TARGET = ".inspected"


@dataclass(frozen=True)
class Made:
    """An answer that was just made.

    Attributes:
        header: what is known of it.
        body: file with its zstd body; gone after it was kept.
        profiles_of: the hosts whose profiles were read for it; none when an artifact set was enough.
    """

    header: ResultHeader
    body: Path
    profiles_of: tuple[str, ...] = ()


Keep = Callable[[Made], None]
"""Given an answer; afterwards its file is gone."""


def pack(
    output: Path, content_type: str, warnings: tuple[str, ...], is_final: bool, directory: Path
) -> Made:
    """Compresses an answer that lies in a file."""
    body = directory / _BODY
    raw_size = output.stat().st_size
    with output.open("rb") as raw, body.open("wb") as packed:
        _compressor().copy_stream(raw, packed, size=raw_size)
    return Made(_header(body, content_type, raw_size, warnings, is_final), body)


def health(
    intake: Intake,
    files: list[tuple[HostFile, Path]],
    left_out: Sequence[LeftOut],
    directory: Path,
    after_each: Callable[[int], None],
) -> Made:
    """What the inspection says of each host, as JSON; of one that is left out, why.

    Raises:
        LoaderError: what says nothing of a host's file, as when the disk is full.
    """
    rows = [_refused(host.entry, host.problem) for host in left_out]
    for entry, path in files:
        rows.append(_health_of(intake, entry, path, directory / _TARGET))
        (directory / _TARGET).unlink(missing_ok=True)
        after_each(entry.file.size)
    rows.sort(key=lambda row: str(row["host"]))
    raw = json.dumps({"hosts": rows}).encode()
    body = directory / _BODY
    body.write_bytes(_compressor().compress(raw))
    is_final = all(row.get("reason") != ErrorCode.INCOMPLETE.value for row in rows)
    usable = tuple(str(row["host"]) for row in rows if row["usable"])
    return Made(_header(body, "application/json", len(raw), (), is_final), body, usable)


def _health_of(intake: Intake, entry: HostFile, path: Path, target: Path) -> dict[str, object]:
    try:
        profile_name(entry)
        found = intake(path, entry.file, target)
    except LoaderError as problem:
        if problem.code not in OF_THE_FILE:
            raise
        return _refused(entry, problem)
    return {
        **_row(entry),
        "usable": True,
        "warnings": list(found.warnings),
        "startNs": found.start_ns,
        "stopNs": found.stop_ns,
        "hostnames": list(found.hostnames),
        "contents": contents_of(found.contents),
    }


def contents_of(contents: Contents) -> dict[str, object]:
    """What a profile holds, as it stands in the answer."""
    return {
        "tpuPlanes": contents.tpu_planes,
        "gpuPlanes": contents.gpu_planes,
        "deviceEvents": contents.device_events,
        "hloModules": contents.hlo_modules,
        "memoryEvents": contents.has_memory_events,
        "hostOps": contents.has_host_ops,
        "hardwareCounters": contents.has_counters,
        "megascaleEvents": contents.has_megascale,
    }


def _refused(entry: HostFile, problem: LoaderError) -> dict[str, object]:
    reason = {"usable": False, "reason": problem.code.value, "message": problem.message}
    return {**_row(entry), **reason}


def _row(entry: HostFile) -> dict[str, object]:
    return {"host": entry.host, "file": entry.file.name, "size": entry.file.size}


def _compressor() -> zstandard.ZstdCompressor:
    return zstandard.ZstdCompressor(level=_ZSTD_LEVEL, write_checksum=True)


def _header(
    body: Path, content_type: str, raw_size: int, warnings: tuple[str, ...], is_final: bool
) -> ResultHeader:
    with body.open("rb") as source:
        digest = hashlib.file_digest(source, "sha256").hexdigest()
    size = body.stat().st_size
    return ResultHeader(content_type, size, raw_size, warnings, digest=digest, is_final=is_final)
