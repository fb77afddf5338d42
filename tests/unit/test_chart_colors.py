"""Series colours can be told from the page, light and dark, and keep their hue from XProf's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from server.ui.assets import OWN_FILES

SERIES = re.compile(r"--xh-series-(\d+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")
SURFACE = re.compile(r"--xh-surface: light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")
PAIR = re.compile(r"--xh-on-series: light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")


def text_of(name: str) -> str:
    return (Path(OWN_FILES) / name).read_text(encoding="utf-8")


def luminance(color: str) -> float:
    """The relative luminance of WCAG 2."""
    parts = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("theme", "surface"), [("light", 0), ("dark", 1)])
def test_series_can_be_told_from_the_surface(theme: str, surface: int) -> None:
    found = SURFACE.search(text_of("theme.css"))
    on_series = PAIR.search(text_of("charts.css"))
    assert found is not None
    assert on_series is not None
    series = SERIES.findall(text_of("charts.css"))
    assert len(series) == 12
    for number, *colors in series:
        color = colors[surface]
        assert contrast(color, found.group(surface + 1)) >= 4.5, f"{theme} {number}"
        # The share on a slice is written in this.
        assert contrast(color, on_series.group(surface + 1)) >= 4.5, f"{theme} {number}"


def test_palette_has_as_many_colours_as_the_stylesheet() -> None:
    count = re.search(r"const SERIES = (\d+);", text_of("charts/colors.js"))
    assert count is not None
    assert int(count.group(1)) == len(SERIES.findall(text_of("charts.css")))
