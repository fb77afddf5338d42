"""Which files a conversion may leave in its job's directory, and which of them are worth keeping.

The child decides what it writes, so nothing is taken that is not a plain file under an expected name.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

MODULE_SUFFIX = ".hlo_proto.pb"
"""Ending of an extracted HLO module's file; `NO_MODULE` before it says that a profile holds none."""

ANSWER_FILE = ".answer"
"""Name of the file in the job's directory that holds a conversion's answer."""

_TRACE_SUFFIXES = (".SSTABLE", ".metadata.SSTABLE", ".trie.SSTABLE")
_SHARED_CACHE = re.compile(r"(ALL_HOSTS|NO_HOST)\.[A-Za-z0-9_]{1,64}\.pb")
_MODULE_NAME_BYTES = 200 + len(f"({1 << 64})") + len(MODULE_SUFFIX)
"""The longest name that the inspection accepts, and the module's id behind it."""


def module_names(directory: Path) -> list[str]:
    """Names of the extracted HLO modules in a job's directory, sorted."""
    names = (path.name for path in directory.iterdir())
    return sorted(name.removesuffix(MODULE_SUFFIX) for name in names if _is_module(name))


def produced_files(directory: Path, hosts: Sequence[str]) -> list[Path]:
    """The artifacts in a job's directory, sorted by name.

    Those are XProf's caches for all of the job's hosts together, each host's trace tables when all three
    are there, and extracted HLO modules; never profiles, answers, links, or names that XProf does not use.
    """
    traces = {
        host + suffix
        for host in hosts
        if all(is_own_file(directory / f"{host}{suffix}") for suffix in _TRACE_SUFFIXES)
        for suffix in _TRACE_SUFFIXES
    }
    return [
        path
        for path in sorted(directory.iterdir())
        if path.name in traces
        or ((_SHARED_CACHE.fullmatch(path.name) or _is_module(path.name)) and is_own_file(path))
    ]


def _is_module(name: str) -> bool:
    """Whether a name is that of an extracted module, harmless to show and to store."""
    return (
        name.endswith(MODULE_SUFFIX)
        and name != MODULE_SUFFIX
        and len(os.fsencode(name)) <= _MODULE_NAME_BYTES
        and name.isprintable()
    )


def is_plain_file(path: Path) -> bool:
    """Whether a path is a file itself: no link, folder, pipe or device."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def is_own_file(path: Path) -> bool:
    """Whether a path is a file itself that has no other name anywhere, as what was just written has not."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1
