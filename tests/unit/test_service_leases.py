"""A lease is given back whatever happens: one that isn't would be renewed as long as its worker lives."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from loader.caches.results import DirectoryResults, ResultHeader
from loader.coordination.leases import ProcessLeases
from loader.errors import ErrorCode, LoaderError
from tests.service_bench import Bench, StandInEngine, make_bench, read


class BrokenForFailures(DirectoryResults):
    """A store that can't keep a failure, in a way that nobody thought of."""

    def put(self, key: str, header: ResultHeader, body: Path | None, ttl_seconds: int) -> None:
        if header.error is not None:
            raise RuntimeError("out of order")
        super().put(key, header, body, ttl_seconds)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


def test_a_store_out_of_order_costs_no_lease(bench: Bench) -> None:
    leases = ProcessLeases()
    refusal = LoaderError(ErrorCode.ENGINE_REFUSED, "no")
    engine = StandInEngine(fail=lambda job: refusal)
    broken = bench.service(engine, leases, BrokenForFailures(bench.folder / "broken", 1 << 20))
    with pytest.raises(RuntimeError):
        broken.get(bench.request())
    engine.fail = lambda job: None
    service = bench.service(engine, leases)
    with ThreadPoolExecutor(1) as pool:
        next_one = pool.submit(service.get, bench.request())
        try:
            assert read(next_one.result(5))[1] == "hlo_stats"
        finally:
            service.stopping.begin()
