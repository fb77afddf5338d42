"""What a conversion leaves behind for other tools: op_stats, the trace's SSTABLE set, HLO modules.

An artifact set is published whole or not at all, under a key that names engine, hosts and generations, and is
never changed afterwards; the first one published stays until it proves useless. It is portable between
workers (facts: engine.md), so that a fresh worker answers the next tool or zoom without the profile. It only
saves work: no failure of a store may cost an answer.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import shutil
import threading
import time
import uuid
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from loader.disk import EXHAUSTED, disk_errors
from loader.errors import ErrorCode, LoaderError
from loader.keys import MARK_DIGITS

MANIFEST = "manifest.json"
_NAME_TAKEN = frozenset({errno.ENOTEMPTY, errno.EEXIST})
_DRAFT_SECONDS = 3600
"""A draft that nothing was added to for so long belongs to a process that was killed."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Manifest:
    """What a set holds.

    Attributes:
        files: name and size in bytes of each file.
        hosts: the hosts it was made of; not all that were chosen when a host's profile was unusable.
        warnings: sentences about the profile that every answer made from the set repeats.
    """

    files: tuple[tuple[str, int], ...]
    hosts: tuple[str, ...]
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, files: Sequence[Path], hosts: Sequence[str], warnings: Sequence[str]) -> Manifest:
        """The manifest of files that lie on this disk."""
        sizes = tuple((path.name, path.stat().st_size) for path in files)
        return cls(sizes, tuple(hosts), tuple(warnings))

    def to_json(self) -> str:
        """As kept beside the files."""
        return json.dumps({"files": self.files, "hosts": self.hosts, "warnings": self.warnings})

    def size_of(self, wants: Callable[[str], bool]) -> int:
        """Bytes of those of its files that are wanted."""
        return sum(size for name, size in self.files if wants(name))

    @classmethod
    def from_json(cls, text: str | bytes) -> Manifest:
        """Reads `to_json`'s text.

        Raises:
            ValueError: it is not a manifest, names no host, or names a file or host outside its set.
        """
        fields = json.loads(text)
        try:
            files = tuple((str(name), int(size)) for name, size in fields["files"])
            hosts, warnings = _texts(fields["hosts"]), _texts(fields["warnings"])
        except (KeyError, TypeError) as problem:
            raise ValueError(f"not a manifest: {problem}") from problem
        if not hosts or any("/" in host or "\0" in host for host in hosts):
            raise ValueError("a manifest does not name the hosts of its set")
        if any("/" in name or name in {"", ".", "..", MANIFEST} for name, _ in files):
            raise ValueError("a manifest names a file outside its set")
        return cls(files, hosts, warnings)


def _texts(field: object) -> tuple[str, ...]:
    """A list of texts.

    Raises:
        TypeError: it is something else; a single text is not taken for a list of letters.
    """
    if not isinstance(field, list) or not all(isinstance(text, str) for text in field):
        raise TypeError("a list of texts is missing")
    return tuple(field)


class ArtifactStore(Protocol):
    """A place for artifact sets. A damaged or unreachable set counts as missing."""

    def contains(self, key: str) -> bool:
        """Whether the set is there."""

    def fetch(
        self, key: str, directory: Path, wants: Callable[[str], bool] = lambda _name: True
    ) -> Manifest | None:
        """Places the set's files in the directory; None, and no file, when there is no whole set.

        Args:
            key: of the set.
            directory: where the files go.
            wants: whether a file is needed, by its name; the manifest names the others, too.

        Raises:
            LoaderError: BUSY or INTERNAL, the worker's own disk is full or fails, or too many files are open.
                The conversion could not go on anyway, and the set must not be taken for a damaged one.
        """

    def publish(
        self, key: str, files: Sequence[Path], hosts: Sequence[str], warnings: Sequence[str]
    ) -> None:
        """Keeps copies of the files as a set, unless there is one already; a failure is only logged."""

    def discard(self, key: str) -> None:
        """Removes a set that `fetch` could not give or the engine could not use, to make way for a new one.

        Does nothing when there is none; a failure is only logged.
        """


def place(source: Path, target: Path) -> None:
    """Puts a file that must not change where a conversion can read it.

    As root the conversion runs under another user, which can't write a file that it does not own: a hard link
    is enough. Otherwise it gets a copy, for it could change what it owns.
    """
    if os.geteuid() == 0:
        try:
            os.link(source, target)
            return
        except OSError as problem:  # another file system
            logger.debug("copying instead of linking: %s", problem)
    shutil.copyfile(source, target)
    target.chmod(0o444)


def whole(directory: Path, files: Sequence[tuple[str, int]]) -> bool:
    """Whether every one of a manifest's files lies in the directory with its size."""
    try:
        return all((directory / name).stat().st_size == size for name, size in files)
    except OSError:
        return False


class DirectoryArtifacts:
    """Artifact sets in a directory, least recently used sets removed above a size."""

    def __init__(self, directory: Path, max_bytes: int) -> None:
        self._directory = directory
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        directory.mkdir(parents=True, exist_ok=True, mode=0o755)
        self._remove_old_drafts()

    def contains(self, key: str) -> bool:
        """Whether the set is there."""
        try:
            return self._read(self._directory / key) is not None
        except OSError as problem:
            logger.warning("an artifact set could not be looked at: %s", problem)
            return False

    def fetch(
        self, key: str, directory: Path, wants: Callable[[str], bool] = lambda _name: True
    ) -> Manifest | None:
        """Places the files in the directory."""
        try:
            descriptor = os.open(self._directory / key, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError as problem:
            logger.warning("an artifact set could not be opened: %s", problem)
            return None
        try:
            with disk_errors():
                return self._take(descriptor, directory, wants)
        finally:
            os.close(descriptor)

    def publish(
        self, key: str, files: Sequence[Path], hosts: Sequence[str], warnings: Sequence[str]
    ) -> None:
        """Copies the files beside the set's place, then renames."""
        if self.contains(key):
            return
        draft = self._new_draft()
        try:
            if not self._make_room(sum(path.stat().st_size for path in files)):
                logger.warning("an artifact set is larger than XPROF_HUB_ARTIFACT_BYTES allows")
                return
            draft.mkdir(mode=0o755)
            for path in files:
                shutil.copyfile(path, draft / path.name)
                (draft / path.name).chmod(0o444)
            (draft / MANIFEST).write_text(Manifest.of(files, hosts, warnings).to_json())
            self._settle(draft, key)
        except OSError as problem:
            if not self.contains(key):
                logger.warning("an artifact set could not be kept: %s", problem)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def discard(self, key: str) -> None:
        """Moves the set aside, so that it is gone at once, then removes it."""
        aside = self._new_draft()
        try:
            (self._directory / key).rename(aside)
        except FileNotFoundError:
            return
        except OSError as problem:
            logger.warning("an artifact set could not be discarded: %s", problem)
            return
        shutil.rmtree(aside, ignore_errors=True)

    def forget(self, marks: Collection[str]) -> int:
        """Removes the sets of these sessions; see `loader.caches.forgetting.Forgets`.

        Raises:
            LoaderError: STORAGE_UNAVAILABLE.
        """
        count = 0
        try:
            for folder in list(self._directory.iterdir()):
                if folder.name[:MARK_DIGITS] in marks and not folder.name.startswith("."):
                    with suppress(FileNotFoundError):  # another process removes it, too
                        aside = folder.rename(self._new_draft())
                        shutil.rmtree(aside)
                        count += 1
        except OSError as problem:
            reason = problem.strerror or "the disk does not answer"
            raise LoaderError(
                ErrorCode.STORAGE_UNAVAILABLE, f"Artifacts could not be removed: {reason}."
            ) from problem
        return count

    def _new_draft(self) -> Path:
        return self._directory / f".{uuid.uuid4().hex}.draft"

    def _settle(self, draft: Path, key: str) -> None:
        """Gives a finished draft the set's name, unless a whole set of another worker has it."""
        try:
            draft.rename(self._directory / key)
            return
        except OSError as problem:
            if problem.errno not in _NAME_TAKEN:
                raise
        if not self.contains(key):
            self.discard(key)
            draft.rename(self._directory / key)

    def _take(
        self, descriptor: int, directory: Path, wants: Callable[[str], bool]
    ) -> Manifest | None:
        """Places the files of the set that the descriptor holds open.

        Raises:
            OSError: one of `EXHAUSTED`.
        """
        # By its name the set could become another one meanwhile, and files of both would mix.
        folder = Path(f"/proc/self/fd/{descriptor}")
        manifest = self._read(folder)
        if manifest is None:
            return None
        wanted = [(name, size) for name, size in manifest.files if wants(name)]
        try:
            for name, _ in wanted:
                place(folder / name, directory / name)
            os.utime(descriptor)
            if whole(directory, wanted):
                return manifest
        except FileNotFoundError:
            logger.info("an artifact set was removed while it was read")
        except OSError as problem:
            if problem.errno in EXHAUSTED:
                raise
            logger.warning("an artifact set could not be read: %s", problem)
        for name, _ in wanted:
            (directory / name).unlink(missing_ok=True)
        return None

    def _read(self, folder: Path) -> Manifest | None:
        """The manifest of the whole set in a folder.

        Raises:
            OSError: one of `EXHAUSTED`.
        """
        try:
            manifest = Manifest.from_json((folder / MANIFEST).read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as problem:
            if isinstance(problem, OSError) and problem.errno in EXHAUSTED:
                raise
            logger.warning("a damaged artifact set is ignored: %s", problem)
            return None
        return manifest if whole(folder, manifest.files) else None

    def _remove_old_drafts(self) -> None:
        """Removes what killed processes left; another process's draft under way is younger."""
        for draft in self._directory.glob(".*.draft"):
            try:
                if draft.stat().st_mtime < time.time() - _DRAFT_SECONDS:
                    shutil.rmtree(draft, ignore_errors=True)
            except FileNotFoundError:
                continue

    def _make_room(self, needed: int) -> bool:
        """Removes least recently used sets until so many bytes fit in; False when they never can.

        A tenth more is freed than needed, so that not every set costs a look at all of them.
        """
        if needed > self._max_bytes:
            return False
        with self._lock:
            sets = self._sets()
            total = needed + sum(size for _, size, _ in sets)
            if total <= self._max_bytes:
                return True
            self._remove_old_drafts()
            sets = self._sets()
            total = needed + sum(size for _, size, _ in sets)
            for _, size, folder in sorted(sets):
                if total <= self._max_bytes * 0.9:
                    break
                if not folder.name.startswith("."):
                    shutil.rmtree(folder, ignore_errors=True)
                    total -= size
        return total <= self._max_bytes

    def _sets(self) -> list[tuple[float, int, Path]]:
        """(last use, size, folder) of all sets, and of drafts under way."""
        found = []
        for folder in self._directory.iterdir():
            try:
                size = sum(path.stat().st_size for path in folder.iterdir())
                found.append((folder.stat().st_mtime, size, folder))
            except OSError as problem:  # mostly removed by another process meanwhile
                logger.debug("not counted: %s", problem)
        return found
