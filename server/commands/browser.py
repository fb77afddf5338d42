"""Whether somebody who ran a command can be shown a page, and how."""

from __future__ import annotations

import os
import sys
import webbrowser


def has_display() -> bool:
    """Whether a browser that is started here would be seen."""
    return sys.platform == "darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )


def show_page(address: str) -> bool:
    """Opens an address in the browser, where there is a display; whether one was started.

    The address is the hub's word: what is none of the web would be an option or a file to some browsers.
    """
    is_page = address.startswith(("https://", "http://"))
    return is_page and has_display() and webbrowser.open(address)
