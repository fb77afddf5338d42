"""The one place that builds a cache key.

A key names everything that an answer depends on: engine version, locations, the exact hosts with their
generations, tool, options. Two requests with the same key may share one answer; nothing else may.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from loader.catalog import HostFile, digest_of
from loader.engine.base import OptionValue
from loader.tools import ArtifactKind

_FORMAT = 4
"""Raised whenever our own treatment of an answer changes, so that old answers are not found any more."""
MARK_DIGITS = 16
"""Hex digits at the beginning of every key that name the session. Two of a million have the same mark with a
chance of one to 37 million; then forgetting one costs the other time."""


@dataclass(frozen=True)
class ToolRequest:
    """What is asked of a session.

    Attributes:
        locations: folders or single file of the session; nearly always one.
        tool: name in `loader.tools`.
        hosts: sorted names, or None for all hosts that the session has when the request is served.
        options: canonical options.
        as_csv: as a CSV table.
        redaction: names the pseudonyms that stand in place of the profile's texts (`Pseudonyms.mark`);
            empty for the profile as it is.
    """

    locations: tuple[str, ...]
    tool: str
    hosts: tuple[str, ...] | None = None
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    as_csv: bool = False
    redaction: str = ""


def _hash(parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def session_mark(locations: Sequence[str]) -> str:
    """What all keys of a session begin with, so that a store finds all that was made of it."""
    return _hash(["session", *locations])[:MARK_DIGITS]


def _keyed(locations: Sequence[str], parts: object) -> str:
    """A key of a session, 64 hex digits."""
    return session_mark(locations) + _hash(parts)[MARK_DIGITS:]


def _derived(key: str, parts: object) -> str:
    """Another key of the same session."""
    return key[:MARK_DIGITS] + _hash(parts)[MARK_DIGITS:]


def _redacted(redaction: str) -> list[str]:
    """What sets the key of something redacted apart; nothing in the key of anything else."""
    return ["redacted", redaction] if redaction else []


def result_key(engine_version: str, request: ToolRequest, files: tuple[HostFile, ...]) -> str:
    """Key of an answer, 64 hex digits; `files` are the chosen hosts' files."""
    return _keyed(
        request.locations,
        [
            "result",
            _FORMAT,
            engine_version,
            list(request.locations),
            digest_of(files),
            request.tool,
            dict(request.options),
            request.as_csv,
            *_redacted(request.redaction),
        ],
    )


def artifact_key(
    engine_version: str,
    locations: tuple[str, ...],
    kind: ArtifactKind,
    files: tuple[HostFile, ...],
    redaction: str = "",
) -> str:
    """Key of an artifact set, 64 hex digits; `redaction` as in `ToolRequest`."""
    return _keyed(
        locations,
        [
            "artifact",
            _FORMAT,
            engine_version,
            list(locations),
            kind.value,
            digest_of(files),
            *_redacted(redaction),
        ],
    )


def tool_failure_key(engine_version: str, request: ToolRequest, files: tuple[HostFile, ...]) -> str:
    """Key of a failure that a tool meets with these profiles whatever its options; as `result_key`."""
    return _keyed(
        request.locations,
        [
            "tool failure",
            _FORMAT,
            engine_version,
            list(request.locations),
            digest_of(files),
            request.tool,
            *_redacted(request.redaction),
        ],
    )


def key_without(key: str, hosts: Iterable[str]) -> str:
    """Key of an artifact set that was made without some of the hosts that its key names."""
    return _derived(key, ["without", key, sorted(hosts)])


def kept_answer_key(key: str) -> str:
    """Key of the artifact set that holds one finished answer; `key` is that of the answer."""
    return _derived(key, ["kept answer", _FORMAT, key])


def failure_key(key: str) -> str:
    """Key under which a worker with much memory remembers that it could not make it either.

    `key` is that of an answer, of an artifact set, or of a tool's failure.
    """
    return _derived(key, ["failure", _FORMAT, key])


def encoded_key(key: str, encoding: str) -> str:
    """Key of the same answer in another content encoding than the stored zstd."""
    return _derived(key, ["encoded", _FORMAT, key, encoding])
