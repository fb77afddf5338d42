"""QR codes as figures for SVG: made here, for a page loads nothing from others and runs no inline script."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import segno

_QUIET_ZONE = 4
"""White modules that readers need around a code (ISO/IEC 18004)."""


@dataclass(frozen=True)
class QrCode:
    """A QR code.

    Attributes:
        side: modules of a side, with the quiet zone.
        path: the dark modules as data of an SVG `path`, one unit a module.
    """

    side: int
    path: str


def qr_code(text: str) -> QrCode:
    """The QR code of a text, which may be read with 15 in a hundred of it unreadable.

    Raises:
        ValueError: the text is longer than such a code can be.
    """
    made = segno.make(text, error="m", micro=False, boost_error=False)
    rows = [list(row) for row in made.matrix_iter(border=_QUIET_ZONE)]
    return QrCode(len(rows), "".join(_row(row, y) for y, row in enumerate(rows)))


def _row(row: list[int], y: int) -> str:
    """The dark runs of a row as rectangles."""
    drawn, x = "", 0
    for is_dark, modules in groupby(row, bool):
        width = len(list(modules))
        drawn += f"M{x} {y}h{width}v1h-{width}z" if is_dark else ""
        x += width
    return drawn
