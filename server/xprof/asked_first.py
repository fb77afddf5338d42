"""What XProf's page asks for before it shows anything: the browser can ask while XProf's scripts still load.

XProf asks one after the other, each when the answer before it is there. An address that is not exactly the
one that XProf makes would be asked for in vain: what is not certain is left out. Facts: xprof 2.24.2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlencode

from loader.catalog import SessionFiles
from server.xprof.first_glance import OVERVIEW, overview_host

_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")
"""Names that need no encoding, which XProf and we might do in different ways."""
_KNOWN = frozenset({"run", "tag", "host"})


def asked_first(
    session_id: str, session: SessionFiles, tool: str, query: Mapping[str, str]
) -> tuple[str, ...]:
    """Addresses relative to `/data/plugin/profile/`, in the order in which XProf asks.

    Args:
        session_id: what XProf calls the run.
        session: the session's files as they are now.
        tool: the tool that the page will open.
        query: the page's query, in its order.
    """
    if not _PLAIN.fullmatch(session_id):
        return ("runs",)
    lists = ("runs", f"run_tools?run={session_id}")
    if not _PLAIN.fullmatch(tool.removesuffix("@")):
        return lists
    # XProf writes the tool as it is, an @ included.
    hosts = f"hosts?run={session_id}&tag={tool}"
    host = overview_host(session, query)
    is_certain = tool == OVERVIEW and query.keys() <= _KNOWN
    if not is_certain or host is None or not _PLAIN.fullmatch(host):
        return (*lists, hosts)
    # XProf keeps the order of the page's own query, and adds what is not there.
    asked = {**query, "run": session_id, "tag": tool, "host": host}
    return (*lists, hosts, f"data?{urlencode(asked)}")
