"""What a worker's loader tells of its conversions: parts with their bytes, and looks into caches."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from loader.caches.counted_looks import counted
from loader.errors import ErrorCode, LoaderError
from loader.observing import CacheLayer, Lookup, Part, PartRecord, Parts
from tests.service_bench import ARTIFACT, Bench, StandInEngine, make_bench


class Noted:
    """A `ConversionObserver` that keeps what it is told."""

    def __init__(self) -> None:
        self.parts: list[PartRecord] = []
        self.looks: Counter[tuple[CacheLayer, Lookup]] = Counter()

    def part_ended(self, record: PartRecord) -> None:
        self.parts.append(record)

    def looked_up(self, layer: CacheLayer, outcome: Lookup) -> None:
        self.looks[layer, outcome] += 1

    def take(self) -> tuple[dict[Part, int], Counter[tuple[CacheLayer, Lookup]]]:
        """Bytes by part, and looks, since the last time."""
        sizes: Counter[Part] = Counter()
        for record in self.parts:
            sizes[record.part] += record.size
        looks, self.parts, self.looks = self.looks, [], Counter()
        return dict(sizes), looks


@pytest.fixture
def noted() -> Noted:
    return Noted()


@pytest.fixture
def bench(tmp_path: Path, noted: Noted) -> Bench:
    made = make_bench(tmp_path)
    made.observer = noted
    return made


DISK_MISS = (CacheLayer.DISK, Lookup.MISS)
KEPT_MISS = (CacheLayer.KEPT_ANSWERS, Lookup.MISS)


def test_every_part_is_told_of_with_its_bytes(bench: Bench, noted: Noted) -> None:
    profiles = sum(path.stat().st_size for path in bench.session.glob("*.xplane.pb"))
    header = bench.service(StandInEngine()).get(bench.request()).result.header
    sizes, looks = noted.take()
    artifact = sum(path.stat().st_size for path in (bench.folder / "artifacts").rglob(ARTIFACT))
    assert artifact > 0
    assert sizes == {
        Part.WAIT: 0,
        Part.DOWNLOAD: profiles,
        Part.INSPECT: profiles,
        Part.CONVERT: profiles,
        Part.COMPRESS: header.size,
        Part.PUBLISH: artifact + header.size,
    }
    artifacts_miss = (CacheLayer.ARTIFACTS, Lookup.MISS)
    assert looks == {DISK_MISS: 1, KEPT_MISS: 1, artifacts_miss: 1}


def test_an_artifact_saves_profiles_and_a_kept_answer_saves_all(bench: Bench, noted: Noted) -> None:
    service = bench.service(StandInEngine())
    service.get(bench.request())
    noted.take()
    service.get(bench.request())
    assert noted.take() == ({}, {(CacheLayer.DISK, Lookup.HIT): 1})
    service.get(bench.request("overview_page"))
    sizes, looks = noted.take()
    assert Part.INSPECT not in sizes
    assert looks == {DISK_MISS: 1, KEPT_MISS: 1, (CacheLayer.ARTIFACTS, Lookup.HIT): 1}
    for path in (bench.folder / "results").rglob("*"):
        if path.is_file():
            path.unlink()
    service.get(bench.request())
    sizes, looks = noted.take()
    assert sizes == {}
    assert looks == {DISK_MISS: 1, (CacheLayer.KEPT_ANSWERS, Lookup.HIT): 1}


def test_what_lies_on_the_disk_already_was_not_moved(bench: Bench, noted: Noted) -> None:
    service = bench.service(StandInEngine())
    service.get(bench.request(hosts=("a",)))
    noted.take()
    service.get(bench.request())
    sizes, _ = noted.take()
    assert sizes[Part.DOWNLOAD] == (bench.session / "b.xplane.pb").stat().st_size


def test_tools_and_outcomes_are_words_of_tables(bench: Bench, noted: Noted) -> None:
    failing = StandInEngine(fail=lambda job: LoaderError(ErrorCode.ENGINE_CRASHED, "on purpose"))
    with pytest.raises(LoaderError):
        bench.service(failing).get(bench.request(hosts=("a",)))
    assert {record.tool for record in noted.parts} == {"hlo_stats"}
    by_part = {record.part: record.outcome for record in noted.parts}
    assert by_part[Part.DOWNLOAD] == "ok"
    assert by_part[Part.CONVERT] == ErrorCode.ENGINE_CRASHED.value


def test_what_was_too_short_to_notice_is_not_told_unless_it_failed(noted: Noted) -> None:
    parts = Parts(noted, "hlo_stats")
    times = iter([0.0, 0.005, 1.0, 1.5, 2.0, 2.001])
    with parts.timed(Part.WAIT, 0.01, lambda: next(times)):
        pass
    with parts.timed(Part.WAIT, 0.01, lambda: next(times)):
        pass
    with pytest.raises(KeyError), parts.timed(Part.WAIT, 0.01, lambda: next(times)):
        raise KeyError
    told = [(round(record.seconds, 3), record.outcome) for record in noted.parts]
    assert told == [(0.5, "ok"), (0.001, "fault")]


def test_a_store_that_is_out_of_order_did_not_miss(noted: Noted) -> None:
    is_failing = [False, True]
    look = counted(lambda key: None, CacheLayer.REDIS, noted.looked_up, lambda: is_failing.pop(0))
    assert look("key") is None
    assert look("key") is None
    redis = CacheLayer.REDIS
    assert noted.looks == {(redis, Lookup.MISS): 1, (redis, Lookup.FAILED): 1}
