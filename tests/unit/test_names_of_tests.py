"""Files of tests are called by their names alone, in reports and by who runs one of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def test_no_two_files_of_tests_have_the_same_name() -> None:
    names = Counter(path.name for path in TESTS.rglob("test_*.py"))
    assert len(names) > 100
    assert sorted(name for name, times in names.items() if times > 1) == []
