"""`docs/architecture.md` names every room of the house, and none that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "architecture.md").read_text()


def rooms_of_table(package: str) -> list[str]:
    """What the first column of the package's table names, folders and files, in order."""
    section = re.search(rf"### In `{package}/`.*?\n(\|.*?)\n\n", DOCUMENT, re.S)
    assert section is not None
    rows = section[1].splitlines()[2:]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


@pytest.mark.parametrize("package", ["loader", "server"])
def test_every_room_is_named_once(package: str) -> None:
    rooms = sorted(f"{init.parent.name}/" for init in (ROOT / package).glob("*/__init__.py"))
    named = rooms_of_table(package)
    assert sorted(name for name in named if name.endswith("/")) == rooms
    assert all((ROOT / package / name).exists() for name in named)
    assert len(set(named)) == len(named)


@pytest.mark.parametrize("package", ["auth", "loader", "server"])
def test_what_lies_beside_the_rooms_is_little(package: str) -> None:
    """A stranger finds a file by its folder: at most two dozen modules stand side by side at the top."""
    beside = [path.name for path in (ROOT / package).glob("*.py") if path.name != "__init__.py"]
    assert len(beside) <= 24, beside
