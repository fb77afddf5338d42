"""Documents lead somewhere: links to files and headings, and names of files in the text."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = (
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "deploy").rglob("*.md"),
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED = re.compile(r"`((?:auth|bench|deploy|docs|loader|scripts|server|tests)/[\w/.-]+)`")
ELSEWHERE = re.compile(r"https?:|mailto:")


def slug(heading: str) -> str:
    """The anchor that GitHub makes of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


@cache
def anchors(path: Path) -> frozenset[str]:
    """Of all headings of a document."""
    lines = path.read_text("utf-8").splitlines()
    return frozenset(slug(line.lstrip("#")) for line in lines if re.match(r"#+ ", line))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_names_lead_somewhere(path: Path) -> None:
    text = path.read_text("utf-8")
    lost = [name for name in NAMED.findall(text) if not (ROOT / name).exists()]
    for link in LINK.findall(text):
        place, _, anchor = link.partition("#")
        target = (path.parent / place).resolve() if place else path
        if ELSEWHERE.match(link):
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    assert lost == []
