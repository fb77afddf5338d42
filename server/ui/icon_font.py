"""XProf's icon font with the icons that XProf can show, 19 kB instead of 555 kB.

The font draws an icon for a word (`chevron_left`). An icon is kept when its word is a whole text somewhere in
XProf's script or styles, between quotes or tags: XProf has nowhere else to take one from. The subset is made
once and kept; until it is there, or when it can't be made, the whole font is served.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from server.ui.copies import Kept

if TYPE_CHECKING:
    from fontTools.ttLib import TTFont
    from fontTools.ttLib.tables.otTables import Ligature, LigatureSubst

_TEXT = re.compile(rb"""["'`>](?:\\n|\s)*([a-z0-9_]+)(?:\\n|\s)*(?=["'`<])""")
"""A word alone between quotes, or between tags in a template."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_"
"""What the names of icons are written with; a name that has no icon is shown in these letters."""
_LIGATURES = 4
"""GSUB lookup type (OpenType specification)."""
_RULE = b"1"
"""Part of a subset's file name: to be counted up when other icons are kept of the same files."""


class IconFontError(Exception):
    """The font is none, or draws its icons in another way than by ligatures."""


def kept_subset(font: bytes, sources: Iterable[bytes], folder: Path) -> Kept:
    """The subset of a font for some sources, and where it lies once it has been made."""
    digest = hashlib.sha256(_RULE + hashlib.sha256(font).digest())
    every = list(sources)
    for source in every:
        digest.update(hashlib.sha256(source).digest())
    make = partial(_make, font, every)
    return Kept(folder / f"{digest.hexdigest()}.woff2", len(font), make)


def _make(font: bytes, sources: Iterable[bytes]) -> bytes:
    return subset_font(font, texts_of(sources))


def texts_of(sources: Iterable[bytes]) -> frozenset[str]:
    """Whatever could be the name of an icon in scripts and styles."""
    return frozenset(word.decode() for source in sources for word in _TEXT.findall(source))


def subset_font(font: bytes, names: Set[str]) -> bytes:
    """A WOFF2 font with those of the named icons that it has. Takes some seconds.

    Raises:
        IconFontError: nothing can be left out of this font.
    """
    # Loaded by those who make the subset only, not by every front end.
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont, TTLibError

    subsetter = Subsetter(Options(layout_features=["*"], hinting=False, notdef_outline=True))
    subsetter.populate(text=_LETTERS)
    made = BytesIO()
    try:
        with TTFont(BytesIO(font)) as opened:
            if not _keep_ligatures(opened, names):
                raise IconFontError("The font has none of the icons.")
            subsetter.subset(opened)
            opened.flavor = "woff2"
            opened.save(made)
    except (TTLibError, KeyError) as problem:
        raise IconFontError(f"The font can't be read: {problem}") from problem
    return made.getvalue()


def icons_of(opened: TTFont) -> Mapping[str, str]:
    """The name of a font's glyph by each word for which it draws an icon."""
    letters = _letters_of(opened)
    return {
        _word_of(first, ligature, letters): str(ligature.LigGlyph)
        for table in _ligature_tables(opened)
        for first, ligatures in table.ligatures.items()
        for ligature in ligatures
    }


def _keep_ligatures(opened: TTFont, names: Set[str]) -> int:
    """Takes all other ligatures out, so that nothing needs their glyphs. Says how many are left."""
    letters = _letters_of(opened)
    count = 0
    for table in _ligature_tables(opened):
        for first, ligatures in list(table.ligatures.items()):
            kept = [
                ligature for ligature in ligatures if _word_of(first, ligature, letters) in names
            ]
            count += len(kept)
            if kept:
                table.ligatures[first] = kept
            else:
                del table.ligatures[first]
    return count


def _ligature_tables(opened: TTFont) -> Iterator[LigatureSubst]:
    """The tables of ligatures, also those that lie behind an extension."""
    for lookup in opened["GSUB"].table.LookupList.Lookup:
        for table in lookup.SubTable:
            inner = getattr(table, "ExtSubTable", table)
            if inner.LookupType == _LIGATURES:
                yield inner


def _letters_of(opened: TTFont) -> Mapping[str, str]:
    """The letter of each glyph that is one."""
    return {
        glyph: chr(code) for code, glyph in opened.getBestCmap().items() if chr(code) in _LETTERS
    }


def _word_of(first: str, ligature: Ligature, letters: Mapping[str, str]) -> str:
    """The word that a ligature replaces; a glyph that is no letter becomes a blank, which is in no name."""
    return "".join(letters.get(glyph, " ") for glyph in (first, *ligature.Component))
