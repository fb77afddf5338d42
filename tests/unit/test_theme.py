"""The colours of our pages: all there in light and dark, and readable (WCAG 2.2, success criterion 1.4.3)."""

from __future__ import annotations

import re

import pytest

from server.ui.assets import OWN_FILES
from server.ui.inline_style import inline_style

THEME = (OWN_FILES / "theme.css").read_text("utf-8")
PAIRS = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--xh-([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", THEME
    )
}
READABLE = 4.5
ON_SURFACES = [
    (ink, surface)
    for ink in ("text", "quiet", "accent", "bad", "good")
    for surface in ("surface", "surface-2")
]


def luminance(colour: str) -> float:
    """The relative luminance of `#rrggbb`, as WCAG defines it."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio, from 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("appearance", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("ink", "surface"),
    [*ON_SURFACES, ("on-accent", "accent"), ("warn-text", "warn-surface"), ("text", "track")],
)
def test_text_is_readable_where_it_stands(ink: str, surface: str, appearance: int) -> None:
    assert contrast(PAIRS[ink][appearance], PAIRS[surface][appearance]) >= READABLE


def test_the_ratio_of_black_on_white_is_twenty_one() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_every_property_that_a_stylesheet_of_ours_uses_is_defined() -> None:
    defined = set(re.findall(r"(--xh-[\w-]+):", THEME))
    for sheet in OWN_FILES.glob("*.css"):
        text = sheet.read_text("utf-8")
        local = set(re.findall(r"(--xh-[\w-]+):", text))
        assert set(re.findall(r"var\((--xh-[\w-]+)", text)) <= defined | local, sheet.name


def test_pages_of_words_carry_their_style_and_can_t_be_left_by_it() -> None:
    style = str(inline_style())
    assert style.index("--xh-surface:") < style.index(".xh-message")
    assert "</" not in style
