"""Which hosts make the engine fail, when the inspection found nothing wrong with any of them.

A host is at fault when the engine fails on it alone, in a child and a directory that hold nothing of the
others. What the engine says about a file only tells where to look first: the child has read hostile bytes,
and its word must not take another host out of an answer. Knows no engine and no files; whoever searches is
told how to try a host.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

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

    def __init__(self, try_alone: Callable[[str], None]) -> None:
        """Begins with nobody under suspicion.

        Args:
            try_alone: runs the same tool on one host and raises its `LoaderError`.
        """
        self.found: dict[str, LoaderError] = {}
        self._try_alone = try_alone
        self._cleared: set[str] = set()
        self._named = 0
        self._first: LoaderError | None = None

    def search(self, problem: LoaderError, hosts: Sequence[str]) -> None:
        """Adds to `found` after a run failed.

        Args:
            problem: how it failed.
            hosts: all hosts of that run.

        Raises:
            LoaderError: the first run's, when nobody is at fault alone, or everybody; what ended a trial
                and says nothing of the profiles.
        """
        first = self._first = self._first or problem
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

    def _problem_of(self, host: str) -> LoaderError | None:
        try:
            self._try_alone(host)
        except LoaderError as problem:
            return None if problem.code in _INNOCENT else problem
        return None


def _lies_in_profiles(problem: LoaderError) -> bool:
    """Whether trying again would end in the same way."""
    return problem.code in CACHEABLE | _INNOCENT
