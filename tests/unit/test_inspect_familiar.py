"""What is known of metadata from other profiles changes nothing that is said of a profile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loader.errors import LoaderError
from loader.inspection.familiar import LONGEST, EventKind, Familiar, StatKind
from loader.inspection.limits import DEFAULT_LIMITS, InspectionLimits
from loader.inspection.result import Inspection
from loader.intake.inspect import inspect_profile
from server.demo.session import write_session
from tests.services.engine import CORPUS
from tests.services.random_profiles import allocator_profile, device_profile
from tests.text_places import profiles
from tests.wire_bytes import (
    block,
    event_metadata,
    good_profile,
    line,
    map_entry,
    number,
    plane,
    stat_metadata,
)

MISNAMED = map_entry(4, 7, number(1, 8) + block(2, "renamed"))
ODD = {
    "two ids": plane("p", MISNAMED + MISNAMED),
    "two ids in a stat": plane("p", map_entry(5, 7, number(1, 8) + block(2, "counter_value"))),
    "children": plane("p", event_metadata(1, "a", children=(2,)) + event_metadata(2, "b")),
    "an op that lost its children": plane(
        "p", event_metadata(1, "a", children=(1,)) + event_metadata(1, "a")
    ),
    "a cycle": plane("p", event_metadata(1, "a") + event_metadata(1, "a", children=(1,))),
    "memory": plane("p", event_metadata(1, "MemoryAllocation") + event_metadata(2, "x")),
    "an operation": plane("p", event_metadata(1, "a:Mul") + stat_metadata(1, "tf_op")),
    "slices": plane("p", event_metadata(1, "MegaScale: send")),
    "a long entry": plane("p", event_metadata(1, "n" * (LONGEST + 1))),
    "capture times": good_profile(),
}


def said(path: Path, familiar: Familiar | None, limits: InspectionLimits) -> Inspection | str:
    """What the inspection says, or why it refuses."""
    try:
        return inspect_profile(path, limits=limits, familiar=familiar)
    except LoaderError as problem:
        return f"{problem.code} {problem.message}"


def contents() -> list[bytes]:
    """Odd profiles of many kinds, many of which share entries with each other."""
    random = [kind(seed) for seed in range(20) for kind in (device_profile, allocator_profile)]
    texts = [*profiles(b"caf\xe9").values(), *profiles(b"a\0b").values()]
    corpus = [path.read_bytes() for path in sorted(CORPUS.glob("*.xplane.pb"))]
    return [*ODD.values(), *random, *texts, *corpus]


@pytest.mark.parametrize(
    "limits", [DEFAULT_LIMITS, replace(DEFAULT_LIMITS, name_bytes=8, fields=40)]
)
def test_the_same_is_said_of_every_profile(tmp_path: Path, limits: InspectionLimits) -> None:
    familiar = Familiar()
    for index, data in enumerate(contents()):
        path = tmp_path / f"{index}.xplane.pb"
        path.write_bytes(data)
        alone = said(path, None, limits)
        # Known from profiles that may have more, from profiles with these limits, and from itself.
        inspect_all = said(path, familiar, DEFAULT_LIMITS)
        assert inspect_all == said(path, None, DEFAULT_LIMITS), index
        assert said(path, familiar, limits) == alone, index
        assert said(path, familiar, limits) == alone, index


def test_what_all_hosts_share_is_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = write_session(tmp_path, hosts=2, events=200)
    familiar = Familiar()
    inspect_profile(first, familiar=familiar)
    kept: list[bytes] = []
    monkeypatch.setattr(familiar, "keep_event", lambda entry, _kind: kept.append(entry))
    monkeypatch.setattr(familiar, "keep_stat", lambda entry, _kind: kept.append(entry))
    inspect_profile(second, familiar=familiar)
    assert kept == []
    inspect_profile(second, familiar=Familiar())
    assert inspect_profile(second, familiar=familiar) == inspect_profile(second)


def test_what_must_be_repaired_is_looked_at_each_time(tmp_path: Path) -> None:
    familiar = Familiar()
    path = tmp_path / "p.xplane.pb"
    path.write_bytes(
        plane("p", line() + event_metadata(1, "a") + block(4, b"\x12\x03\x12\x01\xff"))
    )
    found = [inspect_profile(path, familiar=familiar).repairs for _ in range(2)]
    assert found[0] == found[1]
    assert len(found[0]) == 1


def test_it_takes_no_more_than_it_may_and_begins_anew_with_the_next_profile() -> None:
    familiar = Familiar()
    event, stat = EventKind(1, False, 1, 0, 3), StatKind(1, False, b"n", 3)
    entries = [index.to_bytes(LONGEST, "big") for index in range(8000)]
    familiar.keep_stat(entries[0], stat)
    for entry in entries:
        familiar.keep_event(entry, event)
    kept = [entry for entry in entries if familiar.event(entry)]
    assert kept == entries[: len(kept)]
    assert 12 << 20 < LONGEST * len(kept) <= 16 << 20
    familiar.begin_profile()
    assert familiar.event(entries[0]) is None
    assert familiar.stat(entries[0]) is None
    familiar.keep_event(entries[-1], event)
    familiar.begin_profile()
    assert familiar.event(entries[-1]) == event
