"""docs/security.md names a test for each claim, and every test that it names exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "security.md").read_text("utf-8")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
WITHOUT_CLAIMS = {"What is protected", "From whom", "Where trust changes", "Known limits"}
"""Sections that say what there is, and what is not protected."""


def sections() -> dict[str, str]:
    """Text of each section by its heading."""
    parts = re.split(r"^## (.+)$", DOCUMENT, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


CLAIMS = [
    (heading, claim)
    for heading, text in sections().items()
    if heading not in WITHOUT_CLAIMS
    for claim in re.split(r"^- ", text, flags=re.MULTILINE)[1:]
]


@cache
def names_in(path: str) -> frozenset[str]:
    """Names of the tests of a file."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("claim", [claim for _, claim in CLAIMS], ids=lambda text: text[:40])
def test_each_claim_names_tests_that_exist(claim: str) -> None:
    named = TEST.findall(claim)
    assert named, "this claim names no test"
    assert len(named) == claim.count("tests/"), "a test is written PATH::NAME, in backticks"
    for path, name in named:
        assert (ROOT / path).is_file(), path
        assert name in names_in(path), f"{path} has no {name}"


def test_each_section_claims_something() -> None:
    claiming = {heading for heading, _ in CLAIMS}
    assert set(sections()) == claiming | WITHOUT_CLAIMS
    assert not claiming & WITHOUT_CLAIMS
    assert len(CLAIMS) > 40
