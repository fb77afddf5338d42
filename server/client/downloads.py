"""Downloads of hosts' original profiles: in pieces, going on where a broken one has ended.

What has arrived lies beside its target in a file whose name holds the version that it is of, so that a
program that was killed goes on when it is started again, and never joins parts of two versions.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx2

from server.client.errors import HubError, StrangeAnswerError, UnreachableError
from server.client.paths import session_path
from server.client.transport import Call, Transport

_PIECE_BYTES = 1 << 20
_TRIES = 6
"""How often in a row a connection may break without a byte having come."""
_PARTIAL, _BEHIND_END = 206, 416
_ETAG = re.compile(r'"([0-9a-zA-Z-]{1,64})"')

Advance = Callable[[int, int], None]
"""Told how many bytes are here, and of how many."""


def ignore(_here: int, _all: int) -> None:
    """For who doesn't want to know."""


@dataclass(frozen=True)
class _Part:
    """What has arrived of a file.

    Attributes:
        path: where it lies.
        etag: of the version that it is of, without quotes.
    """

    path: Path
    etag: str

    @property
    def size(self) -> int:
        return self.path.stat().st_size


class Downloads:
    """Fetches hosts' files; every method raises `HubError`, or `OSError` for this machine's own trouble."""

    def __init__(
        self, transport: Transport, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._transport = transport
        self._sleep = sleep

    def fetch(
        self, run: str, session: str, host: str, target: Path, advance: Advance = ignore
    ) -> None:
        """Downloads a host's profile; an older file at the target is replaced when all is here.

        Args:
            run: id of the run.
            session: id of the session.
            host: name of the host.
            target: where the file goes; its folder exists.
            advance: hears how far it is.
        """
        path = f"{session_path(run, session)}/hosts/{quote(host, safe='')}:download"
        failures = 0
        while True:
            part = _find_part(target)
            before = part.size if part else 0
            try:
                done = self._go_on(path, target, part, advance)
            except UnreachableError:
                now = _find_part(target)
                failures = 0 if now and now.size > before else failures + 1
                if failures >= _TRIES:
                    raise
                self._sleep(min(0.2 * 2**failures, 10.0))
                continue
            if done is not None:
                done.path.replace(target)
                return

    def _go_on(self, path: str, target: Path, part: _Part | None, advance: Advance) -> _Part | None:
        """Fetches what is missing; None when what was here is of no use, and was taken away."""
        headers = {"Accept-Encoding": "identity"}
        if part is not None:
            headers |= {"Range": f"bytes={part.size}-", "If-Range": f'"{part.etag}"'}
        call = Call(
            "GET", path, headers=headers, is_repeatable=True, accepts=frozenset({_BEHIND_END})
        )
        with self._transport.stream(call) as response:
            if response.status_code == _BEHIND_END:
                if part is None:
                    raise StrangeAnswerError("The hub answered a range that nobody asked for.")
                # The version is still the same one, or the whole file would have come.
                if response.headers.get("content-range") == f"bytes */{part.size}":
                    return part
                part.path.unlink()
                return None
            is_rest = response.status_code == _PARTIAL and part is not None
            found = part if is_rest and part else _new_part(target, part, response)
            total = _total_of(response)
            self._write(response, found, total, is_rest=is_rest, advance=advance)
        if found.size != total:
            raise UnreachableError("The connection broke off.")
        return found

    def _write(
        self,
        response: httpx2.Response,
        part: _Part,
        total: int,
        *,
        is_rest: bool,
        advance: Advance,
    ) -> None:
        here = part.size if is_rest else 0
        with part.path.open("ab" if is_rest else "wb") as stream:
            for piece in response.iter_bytes(_PIECE_BYTES):
                stream.write(piece)
                here += len(piece)
                advance(here, total)


def _find_part(target: Path) -> _Part | None:
    """What has arrived of the target before."""
    begin = f"{target.name}."
    for path in target.parent.iterdir():
        etag = path.name.removeprefix(begin).removesuffix(".part")
        if path.name == f"{begin}{etag}.part" and _ETAG.fullmatch(f'"{etag}"'):
            return _Part(path, etag)
    return None


def _new_part(target: Path, old: _Part | None, response: httpx2.Response) -> _Part:
    found = _ETAG.fullmatch(response.headers.get("etag", ""))
    if found is None:
        raise StrangeAnswerError("The hub did not say which version of the file this is.")
    if old is not None:
        old.path.unlink(missing_ok=True)
    return _Part(target.with_name(f"{target.name}.{found[1]}.part"), found[1])


def _total_of(response: httpx2.Response) -> int:
    """The whole file's size; long answers have no length of their own."""
    text = response.headers.get("x-xprof-hub-size", "")
    if not text.isdecimal():
        raise HubError("The hub did not say how long the file is.")
    return int(text)
