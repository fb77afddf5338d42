"""Uploads of hosts' profiles: in parts, going on where a broken one has ended, checked by SHA-256.

What the hub has of a file is the hub's to say: after every failure it is asked, also when another front end
answers. So a program that was killed goes on when it is started again.
"""

from __future__ import annotations

import base64
import hashlib
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx2

from server.client.errors import ConflictError, HubError, StrangeAnswerError, UnreachableError
from server.client.paths import session_path
from server.client.transport import Call, Transport
from server.schemas import EmptyAnswer, Session
from server.schemas.uploads import HostUpload

PART_BYTES = 8 << 20
"""Bytes of one request; what is lost when a connection breaks, and below the limits of usual proxies."""
_TRIES = 10
"""How often in a row nothing may come of a request."""
_LONGEST_WAIT = 30.0
_PASSING = frozenset({408, 429, 500})
_INCOMPLETE = 308
_RANGE = re.compile(r"bytes=0-(\d+)")
_CHECKED_BYTES_PER_SECOND = 20e6
"""How fast a hub puts parts together and looks at them, at the least."""

Advance = Callable[[int], None]
"""Told how many bytes of the file the hub has."""


@dataclass(frozen=True)
class LocalProfile:
    """A host's file on this machine.

    Attributes:
        host: name of the host.
        path: where it is.
    """

    host: str
    path: Path


class Uploads:
    """Sends hosts' files; every method raises `HubError`. Safe to share between threads."""

    def __init__(
        self, transport: Transport, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._transport = transport
        self._sleep = sleep

    def send(
        self,
        run: str,
        session: str,
        profile: LocalProfile,
        *,
        expected_hosts: int | None = None,
        replace: bool = False,
        advance: Advance = lambda _bytes: None,
    ) -> HostUpload:
        """Sends a file, or the rest of it, and waits until it is in its place.

        Args:
            run: id of the run, which must be there.
            session: id of the session, which is made by its first file.
            profile: the file; it must not change meanwhile.
            expected_hosts: how many hosts the session will have, so that the hub knows when it is complete.
            replace: whether another file of this host may be replaced.
            advance: hears how far it is.

        Raises:
            OSError: the file can't be read.
        """
        sending = _Sending(self._transport, run, session, profile, expected_hosts, replace)
        failures = 0
        while True:
            try:
                before, is_part = sending.received, sending.knows_received
                if (done := sending.step()) is not None:
                    advance(sending.size)
                    return done
                advance(sending.received)
                if sending.received > before:
                    failures = 0
                elif is_part:
                    raise UnreachableError("The hub took a part and has no more than before.", 308)
            except HubError as problem:
                failures += 1
                if failures >= _TRIES or not sending.may_go_on(problem):
                    raise
                # Many hosts that lost the same hub shall not come back in the same moment.
                wait = min(0.5 * 2 ** (failures - 1), _LONGEST_WAIT) * random.uniform(0.75, 1.25)  # noqa: S311 - no secret
                # A hub that names a time is asked then and a little later, and not before.
                self._sleep(max(wait, problem.retry_after * random.uniform(1.0, 1.25)))  # noqa: S311 - no secret

    def complete(self, run: str, session: str) -> Session:
        """Says that all hosts of a session are there, so that it is converted in advance."""
        path = f"{session_path(run, session)}:completeUpload"
        return self._transport.send(Call("POST", path, is_repeatable=True), Session)

    def remove(self, run: str, session: str, host: str) -> None:
        """Removes a host's file."""
        self._transport.send(Call("DELETE", host_path(run, session, host)), EmptyAnswer)


def host_path(run: str, session: str, host: str) -> str:
    """Path of a host of a session."""
    return f"{session_path(run, session)}/hosts/{quote(host, safe='')}"


class _Sending:
    """One file on its way.

    Attributes:
        size: bytes of the file.
        received: how many the hub is known to have.
        knows_received: whether that was asked since the last failure; nobody asks for a small file.
    """

    def __init__(
        self,
        transport: Transport,
        run: str,
        session: str,
        profile: LocalProfile,
        expected_hosts: int | None,
        replace: bool,
    ) -> None:
        self._transport = transport
        self._path = host_path(run, session, profile.host)
        self._profile = profile
        self._parameters = {"expectedHosts": str(expected_hosts or "")}
        self._replace = replace
        with profile.path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").digest()
            self.size = file.tell()
        self._headers = {"Repr-Digest": f"sha-256=:{base64.b64encode(digest).decode()}:"}
        self.received = 0
        self.knows_received = self.size <= PART_BYTES

    def step(self) -> HostUpload | None:
        """Asks how far the hub is, or sends the next part; the answer when all is done."""
        if not self.knows_received:
            response = self._put(b"", f"bytes */{self.size}")
            self.knows_received = True
        elif self.size <= PART_BYTES:
            response = self._put(self._read(0, self.size), None)
        else:
            part = self._read(self.received, PART_BYTES)
            last = self.received + len(part) - 1
            response = self._put(part, f"bytes {self.received}-{last}/{self.size}")
        if response.status_code != _INCOMPLETE:
            return self._transport.read(response, HostUpload)
        self.received = _received(response)
        if self.received >= self.size:
            raise StrangeAnswerError("The hub has all bytes, and says that some are missing.", 308)
        return None

    def may_go_on(self, problem: HubError) -> bool:
        """Whether it makes sense to ask and try again."""
        self.knows_received = self.size <= PART_BYTES
        if isinstance(problem, ConflictError):
            if problem.code == "ALREADY_EXISTS" and self._replace:
                self._headers["If-Match"] = "*"
                return True
            return problem.code == "ABORTED" and "If-Match" not in self._headers
        return isinstance(problem, UnreachableError) or problem.status in _PASSING

    def _put(self, content: bytes, span: str | None) -> httpx2.Response:
        headers = dict(self._headers)
        if span is not None:
            headers["Content-Range"] = span
        call = Call(
            "PUT",
            self._path,
            self._parameters,
            headers=headers,
            content=content,
            accepts=frozenset({_INCOMPLETE}),
            seconds=60.0 + self.size / _CHECKED_BYTES_PER_SECOND,
        )
        return self._transport.exchange(call)

    def _read(self, first: int, most: int) -> bytes:
        with self._profile.path.open("rb") as file:
            file.seek(first)
            return file.read(most)


def _received(response: httpx2.Response) -> int:
    """How many bytes have come, after RFC 9110's Range as Cloud Storage uses it."""
    found = _RANGE.fullmatch(response.headers.get("range", ""))
    return int(found[1]) + 1 if found else 0
