"""XProf's static files, from its installed wheel, as we serve them.

XProf's scripts stay byte for byte. Its stylesheet loses imports of web fonts, and its trace viewer page loses
links to other hosts and gains our script. XProf's Python package is located, never imported, because
importing it would map its native library into the front end.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path

TRACE_PAGE = "trace_viewer_index.html"
ICON_FONT = "material_symbols_outlined.woff2"
ICON_FONT_USERS = ("bundle.js", "styles.css")
"""Where XProf names the font's icons."""
XPROF_FILES = (
    "bundle.js",
    "zone.js",
    "runtime.js",
    "styles.css",
    ICON_FONT,
    "materialicons.woff2",
    TRACE_PAGE,
    "trace_viewer_index.js",
)
"""What the page uses of the wheel. Its own index.html is replaced by ours; its second trace viewer, which
needs `eval` and WebGPU, is not offered."""

_FOREIGN_IMPORT = re.compile(rb"""@import\s*(?:url\()?\s*["']?https?:[^;]*;""")
_FOREIGN_HREF = re.compile(rb"""(<a\b[^>]*?)\s+href="https?://[^"]*\"""")
_TRACE_SCRIPT = b'<script src="trace_viewer_index.js"'


class XprofNotInstalledError(Exception):
    """XProf's wheel, whose files the page is made of, is not installed."""


def find_xprof_static() -> Path:
    """The directory of XProf's static files, found without importing XProf.

    Raises:
        XprofNotInstalledError: there is no such directory.
    """
    spec = importlib.util.find_spec("xprof")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        static = Path(root) / "static"
        if (static / "bundle.js").is_file():
            return static
    raise XprofNotInstalledError(
        "XProf is not installed, and its page is made of XProf's files. Install xprof-hub[engine]."
    )


def read_xprof_files(static: Path) -> Mapping[str, bytes]:
    """The files by name; the trace viewer's page still names its script as XProf does.

    Raises:
        XprofNotInstalledError: a file of XProf is missing.
    """
    files: dict[str, bytes] = {}
    for name in XPROF_FILES:
        try:
            files[name] = (static / name).read_bytes()
        except FileNotFoundError:
            raise XprofNotInstalledError(f"XProf's static file {name} is missing.") from None
    files["styles.css"] = _FOREIGN_IMPORT.sub(b"", files["styles.css"])
    files[TRACE_PAGE] = _FOREIGN_HREF.sub(rb"\1", files[TRACE_PAGE])
    return files


def with_trace_scripts(page: bytes, own_script: str, xprof_script: str) -> bytes:
    """The trace viewer's page with its scripts at these addresses, ours first to see XProf's requests.

    Raises:
        XprofNotInstalledError: the page is not as this version of XProf makes it.
    """
    if page.count(_TRACE_SCRIPT) != 1 or page.count(b"<head>") != 1:
        raise XprofNotInstalledError(f"XProf's {TRACE_PAGE} is of a version that we don't know.")
    ours = f'<head><script defer src="{own_script}"></script>'.encode()
    theirs = f'<script defer src="{xprof_script}"'.encode()
    return page.replace(b"<head>", ours).replace(_TRACE_SCRIPT, theirs)
