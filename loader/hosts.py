"""Which hosts a request means: XProf's `host` and `hosts` parameters against the session's own list.

Host names may hold commas, and a host may be called ALL_HOSTS; nothing is split or guessed without the list
of the hosts that exist. Facts: xprof 2.24.2, the plugin's choice of hosts.
"""

from __future__ import annotations

from collections.abc import Sequence

from loader.errors import ErrorCode, LoaderError
from loader.tools import ALL_HOSTS, HostSupport, Tool

HOST_CALLED_ALL_HOSTS = "host:ALL_HOSTS"
"""How the menu of a tool that can show all hosts together names a single host called ALL_HOSTS."""


def host_menu(tool: Tool, hosts: Sequence[str]) -> list[str]:
    """What XProf's hosts route answers for the tool, sorted."""
    if len(hosts) <= 1:
        return sorted(hosts)
    if tool.hosts is HostSupport.ALL_ONLY:
        return [ALL_HOSTS]
    if tool.hosts is HostSupport.EACH:
        return sorted(hosts)
    single = [HOST_CALLED_ALL_HOSTS if host == ALL_HOSTS else host for host in hosts]
    return sorted({*single, ALL_HOSTS})


def chosen_hosts(
    tool: Tool, host: str | None, hosts: str | None, known: Sequence[str]
) -> tuple[str, ...] | None:
    """The hosts that a request names, sorted; None for all hosts of the session.

    Raises:
        LoaderError: NOT_FOUND for a host that the session does not have.
    """
    if hosts and tool.several_hosts:
        return tuple(sorted(set(_split_names(hosts, known))))
    if not host:
        return None
    if host == HOST_CALLED_ALL_HOSTS and host not in known and ALL_HOSTS in known:
        return (ALL_HOSTS,)
    single_only = tool.hosts is HostSupport.EACH
    if host == ALL_HOSTS and not (single_only and ALL_HOSTS in known):
        return None
    if host in known:
        return (host,)
    raise _no_such_host(host)


def _no_such_host(host: str) -> LoaderError:
    return LoaderError(
        ErrorCode.NOT_FOUND,
        f"This session has no host called “{host[:200]}”. Choose one of the session's hosts.",
    )


def _split_names(text: str, known: Sequence[str]) -> list[str]:
    """Splits at commas so that every part is a known host, preferring the longest names."""
    if text == ALL_HOSTS and ALL_HOSTS not in known:
        return list(known)
    names = set(known)
    parts = text.split(",")
    longest = 1 + max((name.count(",") for name in known), default=0)
    if len(parts) > longest * len(known):
        raise _no_such_host(text)
    found: list[str] = []
    start = 0
    while start < len(parts):
        for end in range(min(len(parts), start + longest), start, -1):
            candidate = ",".join(parts[start:end])
            if candidate in names:
                found.append(candidate)
                start = end
                break
        else:
            raise _no_such_host(parts[start])
    return found
