"""Finished answers on their way to the cache: compressed, measured, and with what the reader should know.

Also our own answer, that of the inspection, which needs no engine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import zstandard

from loader.catalog import HostFile
from loader.errors import ErrorCode, LoaderError
from loader.profiles import Intake, profile_name
from loader.results import ResultHeader

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
        is_final: False when it is to be made again soon, because a file was still being uploaded.
    """

    header: ResultHeader
    body: Path
    is_final: bool


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
    return Made(_header(body, content_type, raw_size, warnings), body, is_final)


def health(
    intake: Intake,
    files: list[tuple[HostFile, Path]],
    directory: Path,
    after_each: Callable[[int], None],
) -> Made:
    """What the inspection says of each host, as JSON."""
    rows = []
    for entry, path in files:
        rows.append(_health_of(intake, entry, path, directory / _TARGET))
        (directory / _TARGET).unlink(missing_ok=True)
        after_each(entry.file.size)
    raw = json.dumps({"hosts": rows}).encode()
    body = directory / _BODY
    body.write_bytes(_compressor().compress(raw))
    is_final = all(row.get("reason") != ErrorCode.INCOMPLETE.value for row in rows)
    return Made(_header(body, "application/json", len(raw), ()), body, is_final)


def _health_of(intake: Intake, entry: HostFile, path: Path, target: Path) -> dict[str, object]:
    row: dict[str, object] = {
        "host": entry.host,
        "file": entry.file.name,
        "size": entry.file.size,
    }
    try:
        profile_name(entry)
        found = intake(path, entry.file, target)
    except LoaderError as problem:
        return {**row, "usable": False, "reason": problem.code.value, "message": problem.message}
    return {
        **row,
        "usable": True,
        "warnings": list(found.warnings),
        "startNs": found.start_ns,
        "stopNs": found.stop_ns,
        "hostnames": list(found.hostnames),
    }


def _compressor() -> zstandard.ZstdCompressor:
    return zstandard.ZstdCompressor(level=_ZSTD_LEVEL, write_checksum=True)


def _header(
    body: Path, content_type: str, raw_size: int, warnings: tuple[str, ...]
) -> ResultHeader:
    with body.open("rb") as source:
        digest = hashlib.file_digest(source, "sha256").hexdigest()
    size = body.stat().st_size
    return ResultHeader(content_type, size, raw_size, warnings, digest=digest)
