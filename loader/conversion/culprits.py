"""Which hosts make the engine fail, when the inspection found nothing wrong with any of them.

A host is at fault when the engine fails on it alone, in a child and a directory that hold nothing of the
others. What the engine says about a file only tells where to look first: the child has read hostile bytes,
and its word must not take another host out of an answer. The same for memory: most often all hosts together
have too much, and only one that has too much alone may go. Knows no engine and no files; whoever searches is
told how to try a host.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from math import inf

from loader.errors import CACHEABLE, ErrorCode, LoaderError
from loader.storage.base import XPLANE_SUFFIX

_OF_A_HOST = frozenset({ErrorCode.MALFORMED, ErrorCode.ENGINE_CRASHED})
"""Failures of the engine that one host's file can cause by itself."""
_INNOCENT = frozenset({ErrorCode.ENGINE_REFUSED, ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST})
"""What the engine may well say of one host alone: it lacks what the tool shows, or one is too few."""
_MOST_NAMED = 3
"""Hosts that are looked at because the engine named them. Each costs a run of all hosts; from then on trying
every host once is cheaper."""


class Culprits:
    """One search, which goes on until the engine accepts the hosts that are left.

    Attributes:
        found: the hosts at fault, with the error of each.
    """

    def __init__(
        self,
        try_alone: Callable[[str, float], None],
        weigh: Callable[[str], int] | None = None,
    ) -> None:
        """Begins with nobody under suspicion.

        Args:
            try_alone: runs the same tool on one host, no longer than so many seconds, and raises its
                `LoaderError`.
            weigh: how much a host has; None when one that takes too much memory may not be left out.
        """
        self.found: dict[str, LoaderError] = {}
        self._try_alone = try_alone
        self._weigh = weigh
        self._cleared: set[str] = set()
        self._named = 0
        self._first: LoaderError | None = None

    def search(self, problem: LoaderError, hosts: Sequence[str], seconds: float = inf) -> None:
        """Adds to `found` after a run failed.

        Args:
            problem: how it failed.
            hosts: all hosts of that run.
            seconds: how long it took; for want of memory the trials together take no longer.

        Raises:
            LoaderError: the first run's, when nobody is at fault alone, or everybody; what ended a trial
                and says nothing of the profiles.
        """
        first = self._first = self._first or problem
        if problem.code is ErrorCode.OUT_OF_MEMORY and self._weigh is not None and len(hosts) > 1:
            self._try_heaviest(sorted(hosts, key=self._weigh, reverse=True), first, seconds)
            return
        if problem.code not in _OF_A_HOST:
            raise first if _lies_in_profiles(problem) else problem
        if len(hosts) == 1:
            raise first
        if not self._try(self._named_by(problem, hosts), first) and not self._try(hosts, first):
            raise first
        if self.found.keys() >= set(hosts):
            raise first

    def _named_by(self, problem: LoaderError, hosts: Sequence[str]) -> list[str]:
        """The host whose file the engine named, the first few times."""
        named = [host for host in hosts if f"{host}{XPLANE_SUFFIX}" == problem.file]
        self._named += len(named)
        return named if self._named <= _MOST_NAMED else []

    def _try(self, hosts: Sequence[str], first: LoaderError) -> bool:
        """Tries those that were not tried yet; whether one of them is at fault."""
        before = len(self.found)
        for host in hosts:
            if host not in self._cleared:
                problem = self._problem_of(host)
                if problem is None:
                    self._cleared.add(host)
                elif problem.code in _OF_A_HOST:
                    self.found[host] = problem
                else:
                    raise first if _lies_in_profiles(problem) else problem
        return len(self.found) > before

    def _try_heaviest(self, hosts: Sequence[str], first: LoaderError, seconds: float) -> None:
        """Adds the first one that takes too much memory alone: without it the others may fit.

        Raises:
            LoaderError: the first run's, when none does, or the time was over before one was found.
        """
        ends = time.monotonic() + seconds
        for host in hosts:
            if host in self._cleared:
                continue
            problem = self._problem_of(host, ends - time.monotonic())
            if problem is None:
                self._cleared.add(host)
            elif problem.code is ErrorCode.OUT_OF_MEMORY:
                self.found[host] = problem
                return
            else:
                raise first if _lies_in_profiles(problem) else problem
        raise first

    def _problem_of(self, host: str, seconds: float = inf) -> LoaderError | None:
        try:
            self._try_alone(host, seconds)
        except LoaderError as problem:
            return None if problem.code in _INNOCENT else problem
        return None


def _lies_in_profiles(problem: LoaderError) -> bool:
    """Whether trying again would end in the same way."""
    return problem.code in CACHEABLE | _INNOCENT
