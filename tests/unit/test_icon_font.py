"""The icon font: every icon that XProf can show is kept and looks the same, and little else."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.ttLib import TTFont

from server.ui.icon_font import IconFontError, icons_of, kept_subset, subset_font, texts_of
from server.ui.xprof_files import ICON_FONT, ICON_FONT_USERS, find_xprof_static


@pytest.fixture(scope="module")
def whole() -> bytes:
    return (find_xprof_static() / ICON_FONT).read_bytes()


@pytest.fixture(scope="module")
def used() -> frozenset[str]:
    return texts_of((find_xprof_static() / name).read_bytes() for name in ICON_FONT_USERS)


@pytest.fixture(scope="module")
def subset(whole: bytes, used: frozenset[str]) -> bytes:
    return subset_font(whole, used)


def outline(font: TTFont, glyph: str, fill: float) -> object:
    """What is drawn for a glyph at a setting of the font's axis, and how wide it is."""
    glyphs = font.getGlyphSet(location={"FILL": fill})
    pen = DecomposingRecordingPen(glyphs)
    glyphs[glyph].draw(pen)
    return pen.value, glyphs[glyph].width


def test_each_icon_that_xprof_names_is_drawn_as_in_the_whole_font(
    whole: bytes, subset: bytes, used: frozenset[str]
) -> None:
    before, after = TTFont(BytesIO(whole)), TTFont(BytesIO(subset))
    old, new = icons_of(before), icons_of(after)
    assert set(new) == set(old) & used
    # Icons that can be seen in XProf's tool bar, tables and trace viewer.
    assert {"chevron_left", "download", "info", "expand_more", "zoom_in", "search"} <= set(new)
    for name, glyph in new.items():
        for fill in (0.0, 1.0):
            assert outline(after, glyph, fill) == outline(before, old[name], fill), name


def test_letters_of_names_without_an_icon_stay(subset: bytes) -> None:
    assert {ord(letter) for letter in "abcxyz059_"} <= set(TTFont(BytesIO(subset)).getBestCmap())


def test_it_is_a_small_part_of_the_font(whole: bytes, subset: bytes) -> None:
    assert len(subset) < 25_000 < len(whole) / 20


def test_names_are_whole_texts_between_quotes_or_tags() -> None:
    source = rb"""a("menu");b('zoom_in');c(`3d`);"<i>\n  home\n</i>";"a search b";undo"""
    assert texts_of([source]) == {"menu", "zoom_in", "3d", "home"}


def test_what_is_no_such_font_is_refused() -> None:
    with pytest.raises(IconFontError):
        subset_font(b"no font", {"menu"})


def test_a_font_with_none_of_the_icons_is_refused(whole: bytes) -> None:
    with pytest.raises(IconFontError, match="none of the icons"):
        subset_font(whole, {"no such icon"})


def test_another_script_or_font_is_another_subset(tmp_path: Path) -> None:
    paths = {
        kept_subset(font, sources, tmp_path).path
        for font in (b"font", b"other")
        for sources in ([b"ab", b"c"], [b"a", b"bc"], [b"ab"])
    }
    assert len(paths) == 6
