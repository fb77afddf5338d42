"""Paths of this hub in an address: how they are written, and which ones somebody else may name."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from server.names import has_controls

_KEPT_IN_PATHS = "/:@!$&'()*+,;=~"
_KEPT_IN_QUERIES = "%?" + _KEPT_IN_PATHS
_LONGEST = 8000
_DOTS = re.compile(r"(?:^|/)\.{1,2}(?:/|$)")


def address_path(path: str, query: str) -> str:
    """A decoded path and a query as an address holds them, whatever a client wrote into them."""
    shown = quote(path, safe=_KEPT_IN_PATHS)
    return f"{shown}?{quote(query, safe=_KEPT_IN_QUERIES)}" if query else shown


def local_path(text: str, path_prefix: str, otherwise: str) -> str:
    """A path that a stranger names, if it leads to this hub and nowhere else.

    Args:
        text: path with query, as it would stand in a `Location`.
        path_prefix: below which this hub is published.
        otherwise: what is answered for everything else.
    """
    path = text.partition("?")[0].partition("#")[0]
    is_ours = path.startswith(f"{path_prefix}/") and not path.startswith("//")
    # Browsers take a backslash for a slash, drop tabs and line breaks, and walk up at dots, encoded ones too.
    is_odd = "\\" in text or has_controls(text) or _DOTS.search(unquote(path)) is not None
    return text if is_ours and not is_odd and len(text) <= _LONGEST else otherwise
