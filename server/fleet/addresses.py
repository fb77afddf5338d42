"""Where workers are: fixed URLs, or names that stand for several, and in which order they are asked.

The same session goes to the same worker while it answers, so that its disk is warm (rendezvous hashing); one
that has just failed comes last for a moment, one that stood still for longer each time. One whose disk has no
room for a session comes after the others for that session alone: it may have room for the next, and a session
that fits nowhere takes nobody's worker away. Nothing here asks a worker anything.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import socket
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

_RESOLVE_SECONDS = 5.0
_LOOK_UP_SECONDS = 2.0
"""How long a name server may take; who asks for it serves a person, and the last addresses may do."""
_EJECT_SECONDS = 3.0
_SILENT_SECONDS, _LONGEST_SILENT_SECONDS = 10.0, 120.0
"""How long one that stood still is passed over, at first and at most: to find out costs a request seconds."""
_REMEMBERED_SECONDS = 600.0
_TRIAL_SECONDS = 10.0
"""How long others keep away while one request finds out whether such a one is back."""
_FULL_SECONDS = 30.0
"""How long one that has no room for a session is passed over for it."""
_MOST_FULL = 4096
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Silence:
    """That an address stood still: when it was last found out, and for how long it was passed over then."""

    noted: float
    seconds: float


class WorkerAddresses:
    """The addresses of workers: fixed URLs, or one name that stands for several addresses.

    Args:
        urls: where workers are.
        clock: seconds that only grow.
        resolve: the URLs that one URL stands for now, or None when nobody can say.
        on_eject: told why an address is passed over from now on: `failed`, `silent` or `full`.
    """

    def __init__(
        self,
        urls: Sequence[str],
        clock: Callable[[], float] = time.monotonic,
        resolve: Callable[[str], Awaitable[list[str] | None]] | None = None,
        on_eject: Callable[[str], None] = lambda _reason: None,
    ) -> None:
        self._known = {url.rstrip("/"): [url.rstrip("/")] for url in urls}
        self._clock = clock
        self._resolve = resolve or _resolve
        self._on_eject = on_eject
        self._checked = float("-inf")
        self._ejected: dict[str, float] = {}
        self._silences: dict[str, _Silence] = {}
        self._full: dict[tuple[str, str], float] = {}

    async def ranked(self, name: str) -> list[str]:
        """All addresses, the best for this name first; those that failed last, the soonest back first.

        Just before those come the ones that had no room for it.
        """

        def rank(url: str) -> tuple[float, float, bytes]:
            return self._ejected_until(url), self._full_until(url, name), _score(url, name)

        return sorted(await self._addresses(), key=rank)

    def eject(self, url: str) -> None:
        """Puts an address at the end of the line for a moment."""
        if not self.is_ejected(url):
            self._on_eject("failed")
        self._eject(url, _EJECT_SECONDS)

    def eject_silent(self, url: str) -> None:
        """Puts an address that did not say anything at the end of the line, each time for twice as long."""
        now = self._clock()
        known = {u: s for u, s in self._silences.items() if s.noted > now - _REMEMBERED_SECONDS}
        last = known.get(url)
        if last is None or now >= last.noted + _SILENT_SECONDS:
            self._on_eject("silent")
        if last is None:
            known[url] = _Silence(now, _SILENT_SECONDS)
        elif now >= last.noted + _SILENT_SECONDS:  # else all who waited then find out the same
            known[url] = _Silence(now, min(2 * last.seconds, _LONGEST_SILENT_SECONDS))
        self._silences = known
        self._eject(url, known[url].seconds)

    def note_full(self, url: str, name: str) -> None:
        """Puts an address behind those that may have room for this name."""
        now = self._clock()
        if self._full_until(url, name) == float("-inf"):
            self._on_eject("full")
        known = {of: end for of, end in self._full.items() if end > now}
        known[url, name] = now + _FULL_SECONDS
        self._full = known if len(known) <= _MOST_FULL else {(url, name): known[url, name]}

    def begin(self, url: str) -> None:
        """A request is about to ask; from an address that was silent, others keep away until it is heard."""
        if url in self._silences:
            self._eject(url, _TRIAL_SECONDS)

    def note_answer(self, url: str) -> None:
        """The address has been heard."""
        if self._silences.pop(url, None) is not None:
            self._ejected.pop(url, None)

    def is_ejected(self, url: str) -> bool:
        """Whether the address has just failed."""
        return self._ejected_until(url) > float("-inf")

    def _eject(self, url: str, seconds: float) -> None:
        now = self._clock()
        self._ejected = {known: end for known, end in self._ejected.items() if end > now}
        self._ejected[url] = max(now + seconds, self._ejected.get(url, now))

    def _ejected_until(self, url: str) -> float:
        """When the address is asked again; -inf when it is asked now."""
        end = self._ejected.get(url, float("-inf"))
        return end if end > self._clock() else float("-inf")

    def _full_until(self, url: str, name: str) -> float:
        """When the address is asked for this name again as before; -inf when it is."""
        end = self._full.get((url, name), float("-inf"))
        return end if end > self._clock() else float("-inf")

    async def _addresses(self) -> list[str]:
        """All addresses; those of a name that can't be resolved now are the last ones that it had."""
        now = self._clock()
        if now - self._checked >= _RESOLVE_SECONDS:
            # One request looks; the others go by what is known, also when names are slow to be resolved.
            self._checked = now
            for url in self._known:
                self._known[url] = await self._resolve(url) or self._known[url]
        return list(dict.fromkeys(address for found in self._known.values() for address in found))


def may_stand_for_several(url: str) -> bool:
    """Whether a platform's balancer answers there, which may first have to start a worker."""
    return urlsplit(url).scheme == "https"


def _score(url: str, name: str) -> bytes:
    return hashlib.sha256(f"{url}\n{name}".encode()).digest()


async def _resolve(url: str) -> list[str] | None:
    """One URL per address that an `http` name has, None when that can't be found out; others as they are."""
    parts = urlsplit(url)
    if parts.scheme != "http" or parts.hostname is None:
        return [url]
    try:
        async with asyncio.timeout(_LOOK_UP_SECONDS):
            rows = await asyncio.get_running_loop().getaddrinfo(
                parts.hostname, parts.port or 80, type=socket.SOCK_STREAM
            )
    except (socket.gaierror, TimeoutError) as problem:
        logger.warning("the name of the workers can't be resolved: %r", problem)
        return None
    addresses = sorted(
        {str(row[4][0]) for row in rows if row[0] in {socket.AF_INET, socket.AF_INET6}}
    )
    if len(addresses) <= 1 or parts.hostname == "localhost":
        return [url]
    port = parts.port or 80
    return [
        urlunsplit(
            (
                "http",
                f"[{address}]:{port}" if ":" in address else f"{address}:{port}",
                parts.path,
                "",
                "",
            )
        )
        for address in addresses
    ]
