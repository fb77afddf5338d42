"""Putting a file that has come whole into its place, and saying what is there already. Everything blocks.

A file is published when its digest is right, and never over another one unless the client names that.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from loader.storage.base import StoredFile
from loader.storage.writing import AlreadyThereError
from server.http.error_table import CONFLICT, EXISTS, NOT_FOUND
from server.http.errors import ApiError
from server.names import session_name
from server.registry.database import Database
from server.registry.holds import require_files_free
from server.registry.records import ProfilerSession
from server.registry.runs import get_run
from server.registry.sessions import get_session
from server.uploads.headers import Asked
from server.uploads.receiving import digest_mismatch
from server.uploads.sessions import Completed, complete, find_session, open_session
from server.uploads.store import Progress, UploadStore, etag_of_file, upload_key
from server.xprof.prewarm import Prewarmer


@dataclass(frozen=True)
class Target:
    """Whose profile it is.

    Attributes:
        run: id of the run, which must be there.
        session: id of the session, which is made when it is not there.
        host: name of the host.
        expected_hosts: how many hosts the session will have, if the client says so.
        creator: name of the caller.
    """

    run: str
    session: str
    host: str
    expected_hosts: int | None
    creator: str


@dataclass(frozen=True)
class Whole:
    """The file is in its place.

    Attributes:
        session: as it is now.
        file: the host's file.
        completed: the session's completion, if this file brought it about.
    """

    session: ProfilerSession
    file: StoredFile
    completed: Completed | None = None


@dataclass(frozen=True)
class Partial:
    """Bytes are missing.

    Attributes:
        received: how many there are, from the first one on.
    """

    received: int


@dataclass(frozen=True)
class Known:
    """What there was when the request came.

    Attributes:
        owner: names the session in upload keys, whether it is there yet or not.
        session: it, or None.
        file: the host's file, or None.
    """

    owner: str
    session: ProfilerSession | None
    file: StoredFile | None


class Placer:
    """Decides about files and sessions of uploads.

    Args:
        database: the registry.
        store: the files.
        prewarmer: says how a session that is complete begins to be converted.
    """

    def __init__(self, database: Database, store: UploadStore, prewarmer: Prewarmer) -> None:
        self._database = database
        self._store = store
        self._prewarmer = prewarmer

    def look(self, target: Target) -> Known:
        """What is there.

        Raises:
            RegistryError: NOT_FOUND, there is no such run.
            ApiError: the session was not made by uploads.
        """
        run = get_run(self._database, target.run)
        session = find_session(self._database, target.run, target.session)
        file = self._store.find(session.locations[0], target.host) if session else None
        # Named by its run and id, so that parts may come before there is a session.
        return Known(session_name(run.uid, target.session), session, file)

    def settle(self, target: Target, known: Known, asked: Asked) -> Whole | None:
        """The answer when nothing is left to do; None when the bytes are wanted.

        Raises:
            ApiError: another file is there, or none where one was to be replaced.
            RegistryError: HELD, one that may not be replaced.
        """
        if known.file is None or known.session is None:
            if asked.replaces is not None:
                raise _conflict("There is no file of this host that could be replaced.")
            return None
        if asked.digest and not asked.only_new:
            key = upload_key(known.owner, target.host, asked.digest)
            may_be_same = asked.size in (None, known.file.size)
            if may_be_same and self._is_same(key, known.file, asked.digest):
                return self._note(known.session, known.file)
        if asked.replaces is None:
            raise _exists(target.host, known.file)
        _require_same(known.file, asked.replaces)
        self._require_free(known.session, target.host)
        return None

    def _is_same(self, key: str, file: StoredFile, digest: bytes) -> bool:
        """Whether a file has this content; read only if nothing is noted of it."""
        if self._store.became(key, file):
            return True
        if not hmac.compare_digest(self._store.digest(file), digest):
            return False
        self._store.mark(key, file)
        return True

    def finish(self, target: Target, asked: Asked, key: str, progress: Progress) -> Whole:
        """Puts the parts together, looks whether they are what was announced, and publishes them."""
        draft = self._store.join(key, progress)
        digest = self._store.digest(draft)
        if digest != asked.digest:
            self._store.clear(key)
            raise digest_mismatch("Repr-Digest")
        return self.place(target, asked, draft, digest, key)

    def place(
        self, target: Target, asked: Asked, draft: StoredFile, digest: bytes, key: str | None
    ) -> Whole:
        """Publishes a draft whose digest is right; parts stay when the store fails, so that one may go on."""
        folder = self._store.new_folder(target.session)
        session = open_session(
            self._database,
            target.run,
            target.session,
            folder,
            expected_hosts=target.expected_hosts,
            creator=target.creator,
        )
        run = get_run(self._database, target.run)
        key = key or upload_key(session_name(run.uid, session.id), target.host, digest)
        try:
            file = self._publish(session, target, asked, draft)
        except AlreadyThereError:
            self._store.drop(draft)
            current = self._store.find(session.locations[0], target.host)
            if current is None:
                raise _conflict("The host's file was removed meanwhile. Send it again.") from None
            may_be_same = not asked.only_new and current.size == draft.size
            if not (may_be_same and self._is_same(key, current, digest)):
                self._store.clear(key)
                raise _exists(target.host, current) from None
            file = current
        self._store.drop(draft)
        self._store.mark(key, file)
        self._store.clear(key)
        return self._note(session, file)

    def _publish(
        self, session: ProfilerSession, target: Target, asked: Asked, draft: StoredFile
    ) -> StoredFile:
        folder = session.locations[0]
        current = None
        if asked.replaces is not None:
            current = self._store.find(folder, target.host)
            if current is None:
                raise _conflict("There is no file of this host that could be replaced.")
            _require_same(current, asked.replaces)
            self._require_free(session, target.host)
        return self._store.publish(draft, folder, target.host, current)

    def _note(self, session: ProfilerSession, file: StoredFile) -> Whole:
        """Closes the session if this was its last host. One that was deleted may come back, with the file."""
        current = find_session(self._database, session.run, session.id)
        if current is None or current.uid != session.uid:
            raise _conflict("The session was deleted meanwhile. Send the file again.")
        completed = complete(
            self._database, self._store.storage, self._prewarmer, current, is_asked=False
        )
        return Whole(completed.session if completed else current, file, completed)

    def complete(self, run: str, session: str) -> Completed | None:
        """Closes a session to which no more hosts come; None when it is closed already.

        Raises:
            ApiError: the session was not made by uploads.
            RegistryError: NOT_FOUND.
            LoaderError: it has no files.
        """
        found = self._existing(run, session)
        return complete(self._database, self._store.storage, self._prewarmer, found, is_asked=True)

    def remove(self, run: str, session: str, host: str, etag: str | None) -> None:
        """Removes a host's file; the session stays.

        Raises:
            ApiError: the session was not made by uploads, has no such host, or the file is another one.
            RegistryError: NOT_FOUND, or HELD.
        """
        found = self._existing(run, session)
        file = self._store.find(found.locations[0], host)
        if file is not None and etag is not None:
            _require_same(file, etag)
        self._require_free(found, host)
        if file is None or not self._store.remove(file):
            raise ApiError(NOT_FOUND, f"The session has no file of host {host!r}.")

    def _require_free(self, session: ProfilerSession, host: str) -> None:
        """Refuses to take a file from a session that is held."""
        refused = f"The file of host {host!r} stays as it is"
        require_files_free(self._database, session.run, session.id, refused)

    def _existing(self, run: str, session: str) -> ProfilerSession:
        found = find_session(self._database, run, session)
        return found or get_session(self._database, run, session)


def _require_same(file: StoredFile, etag: str) -> None:
    if etag not in ("*", etag_of_file(file)):
        raise _conflict("The host's file is another one than the etag names. Nothing was changed.")


def _conflict(message: str) -> ApiError:
    return ApiError(CONFLICT, message)


def _exists(host: str, file: StoredFile) -> ApiError:
    return ApiError(
        EXISTS,
        f"There is another file of host {host!r} already, and it was kept. To replace it, send If-Match with "
        "its ETag.",
        headers={"ETag": f'"{etag_of_file(file)}"'},
    )
