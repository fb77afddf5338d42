"""Where uploads lie: parts and drafts in one folder of the upload root, whole files beside it.

    <root>/.uploads/<key>/<offset>-<size>    a part; all front ends see the same ones
    <root>/.uploads/<key>/whole-<etag>       says that the upload of this key became the file of this etag
    <root>/<made up>/<session>/<host>.xplane.pb

The key is a digest of session, host and content, so that two uploads of one host never mix, and the same one
may go on at another front end. Everything blocks; nothing here knows HTTP or the registry.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from dataclasses import dataclass
from uuid import uuid4

from loader.errors import ErrorCode, LoaderError
from loader.storage.base import XPLANE_SUFFIX, Storage, StoredFile
from loader.storage.writing import AlreadyThereError, Draft, FileWriter

MOST_PARTS = 10_000
"""Of one upload: parts are listed with each request, and put together by 32."""
_MOST_DIGESTS = 4096
_PARTS_FOLDER = ".uploads"
_PART = re.compile(r"(\d{18})-(\d{1,18})")
_MARK = "whole-"
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Progress:
    """What has come of an upload in parts.

    Attributes:
        parts: those that follow one another from the first byte on.
        received: how many bytes these are.
    """

    parts: tuple[StoredFile, ...]
    received: int


def etag_of_file(file: StoredFile) -> str:
    """Names this state of a file; says nothing of where it lies."""
    return hashlib.sha256(f"{file.generation}:{file.size}".encode()).hexdigest()[:16]


def upload_key(session: str, host: str, digest: bytes) -> str:
    """Names one upload.

    Args:
        session: identity of the session, whether it is there yet or not.
        host: name of the host.
        digest: SHA-256 of the whole file.
    """
    return hashlib.sha256(json.dumps([session, host, digest.hex()]).encode()).hexdigest()


class UploadStore:
    """The files of uploads.

    Args:
        root: the upload root, without a slash at its end.
        storage: reads below the root.
        writer: writes below the root.
    """

    def __init__(self, root: str, storage: Storage, writer: FileWriter) -> None:
        self._root = root
        self.storage = storage
        self._writer = writer
        self._digests: dict[tuple[str, str], bytes] = {}

    def new_folder(self, session: str) -> str:
        """A folder for a session's files that no other ever had; its last part is the session's id."""
        return f"{self._root}/{uuid4().hex}/{session}"

    def find(self, folder: str, host: str) -> StoredFile | None:
        """The file of a host, if it is there."""
        found = self._list(_file_of(folder, host))
        return found[0] if found else None

    def progress(self, key: str) -> Progress:
        """What has come of an upload."""
        sizes: dict[int, list[StoredFile]] = {}
        for file in self._list(self._folder(key)):
            name = _PART.fullmatch(file.name)
            if name and int(name[2]) == file.size:
                sizes.setdefault(int(name[1]), []).append(file)
        parts: list[StoredFile] = []
        received = 0
        while received in sizes:
            part = max(sizes[received], key=lambda file: file.size)
            parts.append(part)
            received += part.size
        return Progress(tuple(parts), received)

    def begin_part(self, key: str, first: int, size: int) -> Draft:
        """Begins to write a part."""
        return self._writer.begin(f"{self._folder(key)}/{first:018}-{size}")

    def begin_whole(self) -> Draft:
        """Begins to write a file that comes at once."""
        return self._writer.begin(f"{self._folder(uuid4().hex)}/file")

    def join(self, key: str, progress: Progress) -> StoredFile:
        """Makes one draft of all parts."""
        try:
            return self._join(key, progress)
        except AlreadyThereError:
            # Nobody else knows the name: a request of ours was sent again because its answer was lost.
            return self._join(key, progress)

    def _join(self, key: str, progress: Progress) -> StoredFile:
        return self._writer.join(progress.parts, f"{self._folder(key)}/joined-{uuid4().hex}")

    def digest(self, file: StoredFile) -> bytes:
        """Reads a file, unless it did so lately; its SHA-256."""
        known = (file.location, file.generation)
        if known in self._digests:
            return self._digests[known]
        seen = hashlib.sha256()
        self._writer.read(file, seen.update)
        # A request without a body must not have a file of gigabytes read each time.
        while len(self._digests) >= _MOST_DIGESTS:
            self._digests.pop(next(iter(self._digests)), None)
        self._digests[known] = seen.digest()
        return self._digests[known]

    def publish(
        self, draft: StoredFile, folder: str, host: str, replaces: StoredFile | None
    ) -> StoredFile:
        """Makes a draft the file of a host.

        Raises:
            AlreadyThereError: what is there is not what was expected.
        """
        generation = replaces.generation if replaces else None
        return self._writer.publish(draft, _file_of(folder, host), generation)

    def mark(self, key: str, file: StoredFile) -> None:
        """Notes what an upload became, so that its client may ask again; only a help, so it never fails."""
        try:
            draft = self._writer.begin(f"{self._folder(key)}/{_MARK}{etag_of_file(file)}")
            draft.write(b"\n")
            draft.finish()
        except AlreadyThereError:
            return
        except LoaderError as problem:
            logger.warning("the end of an upload was not noted: %s", problem.message)

    def became(self, key: str, file: StoredFile) -> bool:
        """Whether the upload of this key is known to have become this file."""
        wanted = f"{_MARK}{etag_of_file(file)}"
        return any(entry.name == wanted for entry in self._list(self._folder(key)))

    def clear(self, key: str) -> None:
        """Removes an upload's parts and drafts; what can't be removed now goes when it is a day old."""
        try:
            for file in self._list(self._folder(key)):
                if not file.name.startswith(_MARK):
                    self._writer.remove(file)
        except LoaderError as problem:
            logger.warning("parts of an upload were not removed: %s", problem.message)

    def drop(self, draft: StoredFile) -> None:
        """Removes a draft that is not wanted, in the same way."""
        try:
            self._writer.remove(draft)
        except LoaderError as problem:
            logger.warning("a draft of an upload was not removed: %s", problem.message)

    def remove(self, file: StoredFile) -> bool:
        """Removes a host's file, if it is still this one."""
        return self._writer.remove(file)

    def remove_abandoned(self, before: float) -> int:
        """Removes uploads in which nothing was written since `before`, in Unix seconds; how many files."""
        return self._writer.remove_idle(f"{self._root}/{_PARTS_FOLDER}", before)

    def _folder(self, key: str) -> str:
        return f"{self._root}/{_PARTS_FOLDER}/{key}"

    def _list(self, location: str) -> list[StoredFile]:
        try:
            return self.storage.list_files(location)
        except LoaderError as error:
            if error.code is ErrorCode.NOT_FOUND:
                return []
            raise


def _file_of(folder: str, host: str) -> str:
    return f"{folder}/{host}{XPLANE_SUFFIX}"
