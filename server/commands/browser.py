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
    """Opens an address in the browser, where there is a display; whether one was started."""
    return has_display() and webbrowser.open(address)
