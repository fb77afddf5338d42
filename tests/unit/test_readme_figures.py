"""What the README says of speed is what docs/performance.md has measured."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
MEASURED = (ROOT / "docs" / "performance.md").read_text("utf-8")


def cells(text: str, *begin: str) -> list[str]:
    """The first row of a table in `text` whose first cells are these."""
    rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines())
    return next(row for row in rows if row[: len(begin)] == list(begin))


def opened(users: str, step: str) -> tuple[list[str], list[str]]:
    """Seconds, CPU seconds, engine runs and completeness in XProf's own server and in the hub."""
    xprof, hub = (cells(MEASURED, users, step, server) for server in ("xprof", "XProf Hub"))
    return xprof[3:], hub[3:]


def told(what: str) -> list[str]:
    """What the README's table says of both."""
    return cells(README, what)[1:]


def test_eight_people_who_open_a_session() -> None:
    expected = [
        f"{float(seconds):.1f} s, {runs} conversions"
        for seconds, _, runs, _ in opened("8", "first overview")
    ]
    assert told("8 people open a session that nobody has opened") == expected
    (_, _, many, _), (_, _, few, _) = opened("8", "first overview")
    assert f"cost {few} conversions instead of {many}" in " ".join(README.split())


def test_eight_people_who_open_its_trace() -> None:
    xprof, hub = opened("8", "first trace")
    assert (xprof[3], hub[3]) == ("0%", "100%")
    assert told("they open its trace")[1] == f"{float(hub[0]):.1f} s, {hub[2]} conversion"


def test_opening_again() -> None:
    xprof, hub = opened("1", "repeat of both")
    ratios = MEASURED.partition("CPU, xprof / hub")[2]
    ratio = f"{float(cells(ratios, '1', 'repeat of both')[3]):.0f} times less"
    assert told("one person opens both again") == [
        f"{float(xprof[1]):.1f} s of CPU",
        f"{hub[1]} s of CPU: {ratio}",
    ]
    assert f"{ratio} CPU" in " ".join(README.split())


def test_the_overview_in_a_browser() -> None:
    xprof, hub = (cells(MEASURED, "overview, repeat", server) for server in ("xprof", "XProf Hub"))
    sizes = f"{float(xprof[2]) / 1000:.1f} MB", f"{float(hub[2]):.0f} KB"
    figures = (f"first figure after {int(row[6]) / 1000:.2f} s" for row in (xprof, hub))
    assert told("the overview in a browser that has seen it") == [
        f"{size}, {figure}" for size, figure in zip(sizes, figures, strict=True)
    ]


def test_a_first_opening_by_one_person() -> None:
    (slow, *_), (quick, *_) = opened("1", "first overview")
    sentence = re.search(r"A first opening by one person .* here\.", README)
    assert sentence
    assert f"{float(quick):.1f} s instead of {float(slow):.1f} s" in sentence[0]
