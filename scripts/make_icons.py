"""Makes the sprite of the site's icons, `static/vendor/lucide.svg`, from the package `lucide-static`.

    npm pack lucide-static@VERSION && tar xzf lucide-static-VERSION.tgz
    python scripts/make_icons.py package/icons

For whoever adds an icon: put its name below, run this, and change the file's row in the README beside it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SPRITE = Path(__file__).parents[1] / "server" / "ui" / "static" / "vendor" / "lucide.svg"
NAMES = """
activity archive bookmark boxes arrow-down arrow-left arrow-right arrow-up arrow-up-down ban calendar
check chevron-down chevron-left chevron-right chevrons-up-down circle circle-alert circle-check
circle-dashed circle-dot circle-help circle-x clipboard clock columns-2 copy cpu crown database download
ellipsis external-link eye eye-off file file-archive file-text files filter flag folder gauge git-compare
git-merge globe hard-drive hash history hourglass info key-round layers link list list-filter loader lock
log-in log-out menu message-square message-square-plus monitor moon network panel-top pencil pin pin-off
play plus qr-code refresh-cw rotate-ccw save scale scroll-text search server settings share-2 shield
shield-check sliders-horizontal square-terminal sun tag timer trash-2 trending-up triangle-alert undo-2
unlink unlock upload user user-plus users x zap
"""
_LICENCE = re.compile(r"<!-- @license (.+?) -->")
_SHAPES = re.compile(r"<svg[^>]*>(.*)</svg>", re.DOTALL)
_STYLE = (
    'viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" '
    'stroke-linecap="round" stroke-linejoin="round"'
)


def sprite(icons: Path) -> str:
    """All icons in one file, each a symbol that has its name.

    Raises:
        OSError: an icon is missing.
        ValueError: a file is no icon of this package.
    """
    licence, symbols = "", []
    for name in NAMES.split():
        text = (icons / f"{name}.svg").read_text("utf-8")
        found, shapes = _LICENCE.search(text), _SHAPES.search(text)
        if found is None or shapes is None:
            raise ValueError(f"{name}.svg is no icon of lucide-static")
        licence = found[1]
        symbols.append(f'<symbol id="{name}" {_STYLE}>{" ".join(shapes[1].split())}</symbol>')
    lines = [
        f"<!-- Some of the icons of {licence}; see lucide.LICENSE -->",
        '<svg xmlns="http://www.w3.org/2000/svg">',
        *symbols,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    SPRITE.write_text(sprite(Path(sys.argv[1])), "utf-8")
