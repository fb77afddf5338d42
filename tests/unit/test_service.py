"""What the service does with a conversion: once, kept, remembered when it fails, and never stale."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import zstandard

from loader.conversion.conversion import Converter
from loader.engine.base import Job
from loader.errors import ErrorCode, LoaderError
from loader.tools import HEALTH
from tests.service_bench import ARTIFACT, Bench, StandInEngine, make_bench, read


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


def test_asked_twice_converted_once(bench: Bench) -> None:
    engine = StandInEngine()
    service = bench.service(engine)
    first = read(service.get(bench.request()))
    assert read(service.get(bench.request())) == first
    assert read(bench.service(StandInEngine()).get(bench.request())) == first
    assert len(engine.jobs) == 1


def test_sixteen_at_once_converted_once(bench: Bench) -> None:
    engine = StandInEngine(gate=threading.Event())
    service = bench.service(engine)
    with ThreadPoolExecutor(16) as pool:
        waiting = [pool.submit(service.get, bench.request()) for _ in range(16)]
        assert engine.gate is not None
        engine.gate.set()
        answers = [read(each.result(20)) for each in waiting]
    assert len(engine.jobs) == 1
    assert all(answer == answers[0] for answer in answers)


def test_tools_share_their_artifact(bench: Bench) -> None:
    engine = StandInEngine()
    service = bench.service(engine)
    with ThreadPoolExecutor(4) as pool:
        tools = ["overview_page", "hlo_stats", "op_profile", "kernel_stats"]
        answers = list(pool.map(lambda tool: read(service.get(bench.request(tool))), tools))
    assert sorted(answer[4] is True for answer in answers) == [False, True, True, True]
    assert [record.source for record in bench.records].count("profile") == 1
    # An artifact is enough: no profile was placed.
    assert sorted(len(str(answer[3])) > 2 for answer in answers) == [False, False, False, True]


def test_another_engine_version_is_seen_at_once(bench: Bench) -> None:
    old, new = StandInEngine("engine-1"), StandInEngine("engine-2")
    assert read(bench.service(old).get(bench.request()))[0] == "engine-1"
    answer = read(bench.service(new).get(bench.request()))
    assert answer[0] == "engine-2"
    assert answer[4] is False  # the other version's artifact is none of its business
    assert read(bench.service(old).get(bench.request()))[0] == "engine-1"


def test_a_replaced_file_and_a_late_host_are_seen_at_once(bench: Bench) -> None:
    service = bench.service(StandInEngine())
    assert read(service.get(bench.request()))[2] == ["a", "b"]
    bench.write("b", b"second, longer")
    assert read(service.get(bench.request()))[3] == {"a.xplane.pb": 5, "b.xplane.pb": 14}
    bench.write("c", b"late")
    assert read(service.get(bench.request()))[2] == ["a", "b", "c"]


def test_host_choices_never_mix(bench: Bench) -> None:
    service = bench.service(StandInEngine())
    assert read(service.get(bench.request(hosts=("a",))))[2:] == [["a"], {"a.xplane.pb": 5}, False]
    assert read(service.get(bench.request()))[2:] == [
        ["a", "b"],
        {"a.xplane.pb": 5, "b.xplane.pb": 6},
        False,
    ]


def test_a_damaged_host_is_left_out_and_every_answer_says_so(bench: Bench) -> None:
    bench.write("b", b"bad")
    service = bench.service(StandInEngine())
    for tool in ("hlo_stats", "overview_page"):  # the second comes from the artifact
        answered = service.get(bench.request(tool))
        assert answered.result.header.warnings == ("1 of 2 hosts; b: ends too early",)
        assert read(answered)[2] == ["a"]
    with pytest.raises(LoaderError) as caught:
        service.get(bench.request(hosts=("b",)))
    assert (caught.value.code, caught.value.file) == (ErrorCode.MALFORMED, "b.xplane.pb")
    bench.write("b", b"good again")
    assert service.get(bench.request()).result.header.warnings == ()


def test_with_no_host_left_the_reason_is_the_answer(bench: Bench) -> None:
    bench.write("a", b"bad")
    bench.write("b", b"bad")
    engine = StandInEngine()
    with pytest.raises(LoaderError, match="ends too early"):
        bench.service(engine).get(bench.request())
    assert engine.jobs == []


@pytest.mark.parametrize(
    ("code", "remembered"),
    [
        (ErrorCode.ENGINE_CRASHED, True),
        (ErrorCode.TIMED_OUT, True),
        (ErrorCode.OUT_OF_MEMORY, True),
        (ErrorCode.INTERNAL, False),
        (ErrorCode.BUSY, False),
        (ErrorCode.STORAGE_UNAVAILABLE, False),
    ],
)
def test_only_what_lies_in_the_profile_is_remembered(
    bench: Bench, code: ErrorCode, remembered: bool
) -> None:
    bench.memory_bytes = 1 << 30  # so little that all of it is given at once
    engine = StandInEngine(fail=lambda job: LoaderError(code, "on purpose"))
    service = bench.service(engine)
    for _ in range(2):
        with pytest.raises(LoaderError) as caught:
            service.get(bench.request())
        assert caught.value.code is code
    runs_of_all_hosts = [job for job in engine.jobs if job.hosts == ("a", "b")]
    assert len(runs_of_all_hosts) == (1 if remembered else 2)
    # Another tool of the same profile is not affected, nor is the profile's next version.
    engine.fail = lambda job: None
    assert read(service.get(bench.request("overview_page")))[1] == "overview_page"
    bench.write("a", b"repaired")
    assert read(service.get(bench.request()))[1] == "hlo_stats"


def test_a_bad_artifact_falls_back_to_the_profile(bench: Bench) -> None:
    engine = StandInEngine()
    service = bench.service(engine)
    service.get(bench.request())

    def refuse_artifacts(job: Job) -> LoaderError | None:
        damaged = (job.directory / ARTIFACT).exists()
        return LoaderError(ErrorCode.ENGINE_REFUSED, "damaged") if damaged else None

    engine.fail = refuse_artifacts
    answer = read(service.get(bench.request("op_profile")))
    assert answer[3] == {"a.xplane.pb": 5, "b.xplane.pb": 6}
    # The bad set is gone: the next tool finds a new one and needs no profile.
    engine.fail = lambda job: None
    assert read(service.get(bench.request("kernel_stats")))[3:] == [{}, True]


def test_tools_do_not_queue_behind_an_artifact_that_cannot_be_made(bench: Bench) -> None:
    engine = StandInEngine()
    service = bench.service(engine)
    engine.fail = lambda job: LoaderError(ErrorCode.ENGINE_CRASHED, "on purpose")
    with pytest.raises(LoaderError, match="on purpose"):
        service.get(bench.request("hlo_stats"))
    together = threading.Barrier(3, timeout=20)

    def meet(_job: Job) -> LoaderError:
        together.wait()
        return LoaderError(ErrorCode.ENGINE_CRASHED, "on purpose")

    engine.fail = meet
    with ThreadPoolExecutor(3) as pool:
        tools = ["op_profile", "kernel_stats", "roofline_model"]
        waiting = [pool.submit(service.get, bench.request(tool)) for tool in tools]
        for each in waiting:
            with pytest.raises(LoaderError, match="on purpose"):
                each.result(30)


def test_the_key_names_the_content(bench: Bench) -> None:
    service = bench.service(StandInEngine())
    first = service.get(bench.request())
    assert service.get(bench.request()).key == first.key
    bench.write("a", b"another")
    assert service.get(bench.request()).key != first.key


def test_many_damaged_hosts_make_a_bounded_warning(bench: Bench) -> None:
    for number in range(200):
        bench.write(f"bad{number}", b"bad")
    (warning,) = bench.service(StandInEngine()).get(bench.request()).result.header.warnings
    assert warning.startswith("2 of 202 hosts; bad0: ends too early")
    assert len(warning) <= 1001


def test_a_file_replaced_while_it_is_fetched_is_fetched_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = bench.service(StandInEngine())
    run = Converter.run
    raced: list[int] = []

    def replace_first(self: Converter, *arguments: object) -> None:
        if not raced:
            raced.append(1)
            bench.write("a", b"replaced between listing and fetching")
        run(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Converter, "run", replace_first)
    answer = read(service.get(bench.request()))
    assert answer[3] == {"a.xplane.pb": 37, "b.xplane.pb": 6}


def test_health_needs_no_engine(bench: Bench) -> None:
    bench.write("b", b"bad")
    bench.write("c", b"odd")
    engine = StandInEngine()
    result = bench.service(engine).get(bench.request(HEALTH)).result
    body = zstandard.ZstdDecompressor().decompressobj().decompress(b"".join(result.pieces))
    hosts = {row["host"]: row for row in json.loads(body)["hosts"]}
    assert engine.jobs == []
    assert hosts["a"]["usable"] is True
    assert (hosts["a"]["startNs"], hosts["a"]["stopNs"]) == (1000, 2500)
    assert hosts["a"]["hostnames"] == ["vm-0", "vm-1"]
    assert (hosts["b"]["usable"], hosts["b"]["reason"]) == (False, "malformed")
    assert hosts["c"]["warnings"] == ["odd clock"]


def test_a_missing_host_or_session_is_said(bench: Bench) -> None:
    service = bench.service(StandInEngine())
    with pytest.raises(LoaderError, match="no host called “z”"):
        service.get(bench.request(hosts=("z",)))
    for path in bench.session.iterdir():
        path.unlink()
    with pytest.raises(LoaderError) as caught:
        service.get(bench.request())
    assert caught.value.code is ErrorCode.NOT_FOUND


def test_nothing_is_left_in_the_scratch_directory(bench: Bench) -> None:
    engine = StandInEngine()
    service = bench.service(engine)
    service.get(bench.request())
    engine.fail = lambda job: LoaderError(ErrorCode.ENGINE_CRASHED, "on purpose")
    with pytest.raises(LoaderError):
        service.get(bench.request("memory_profile", ("a",)))
    assert not any(job.directory.exists() for job in engine.jobs)
