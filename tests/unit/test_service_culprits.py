"""A host that only the engine fails on does not hide the others: what is answered, kept, shared and told."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from loader.engine.base import Job
from loader.errors import ErrorCode, LoaderError
from loader.turns.admission import Urgency
from tests.service_bench import ARTIFACT, Bench, StandInEngine, make_bench, read

Fail = Callable[[Job], LoaderError | None]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = make_bench(tmp_path)
    made.write("c", b"third one")
    return made


def crash_on(*hosts: str, tool: str | None = None) -> Fail:
    """A crash whenever one of the hosts is there (and the profile is read for the tool)."""

    def fail(job: Job) -> LoaderError | None:
        if set(hosts) & set(job.hosts) and tool in {None, job.tool}:
            return LoaderError(ErrorCode.ENGINE_CRASHED, f"crashed on {len(job.hosts)}")
        return None

    return fail


def unreadable(host: str) -> Fail:
    """A refusal that names the host, whenever it is there."""

    def fail(job: Job) -> LoaderError | None:
        if host in job.hosts:
            return LoaderError(ErrorCode.MALFORMED, "can't parse", f"{host}.xplane.pb")
        return None

    return fail


def runs(engine: StandInEngine) -> list[str]:
    return ["".join(job.hosts) for job in engine.jobs]


def warnings(bench: Bench, engine: StandInEngine, tool: str = "hlo_stats") -> tuple[str, ...]:
    return bench.service(engine).get(bench.request(tool)).result.header.warnings


def test_a_host_that_crashes_the_engine_is_left_out_and_named(bench: Bench) -> None:
    engine = StandInEngine(fail=crash_on("b"))
    service = bench.service(engine)
    answered = service.get(bench.request())
    assert answered.result.header.warnings == ("2 of 3 hosts; b: XProf crashes on it",)
    assert read(answered)[2:] == [["a", "c"], {"a.xplane.pb": 5, "c.xplane.pb": 9}, False]
    assert runs(engine) == ["abc", "a", "b", "c", "ac"]
    assert [record.outcome for record in bench.records] == [
        "engine_crash",
        "ok",
        "engine_crash",
        "ok",
        "ok",
    ]
    service.get(bench.request())  # kept like any answer
    assert len(engine.jobs) == 5


def test_a_host_that_the_engine_can_not_read_is_found_by_its_name(bench: Bench) -> None:
    engine = StandInEngine(fail=unreadable("b"))
    assert warnings(bench, engine) == ("2 of 3 hosts; b: XProf can't read it",)
    assert runs(engine) == ["abc", "b", "ac"]


def test_beside_one_that_the_inspection_refuses(bench: Bench) -> None:
    bench.write("a", b"bad")
    bench.write("d", b"fourth")
    engine = StandInEngine(fail=unreadable("c"))
    assert warnings(bench, engine) == ("2 of 4 hosts; a: ends too early; c: XProf can't read it",)
    assert runs(engine) == ["bcd", "c", "bd"]


@pytest.mark.parametrize("hosts", [("a", "b", "c"), ()])
def test_all_or_none_at_fault_alone_is_the_first_error(
    bench: Bench, hosts: tuple[str, ...]
) -> None:
    def together(job: Job) -> LoaderError | None:
        if len(job.hosts) == 3:
            return LoaderError(ErrorCode.ENGINE_CRASHED, "crashed on 3")
        return crash_on(*hosts)(job)

    engine = StandInEngine(fail=together)
    service = bench.service(engine)
    for _ in range(2):
        with pytest.raises(LoaderError, match="crashed on 3"):
            service.get(bench.request())
    assert runs(engine) == ["abc", "a", "b", "c"]


def test_of_chosen_hosts_the_one_at_fault_is_the_error(bench: Bench) -> None:
    engine = StandInEngine(fail=unreadable("b"))
    with pytest.raises(LoaderError) as caught:
        bench.service(engine).get(bench.request("trace_viewer@", hosts=("a", "b")))
    assert (caught.value.code, caught.value.file) == (ErrorCode.MALFORMED, "b.xplane.pb")


def test_to_choose_all_hosts_is_to_choose_none(bench: Bench) -> None:
    """Both have one key, so a failure of the one would be the answer of the other."""
    bench.write("b", b"bad")
    service = bench.service(StandInEngine())
    chosen = service.get(bench.request("trace_viewer@", hosts=("a", "b", "c")))
    whole = service.get(bench.request("trace_viewer@"))
    assert chosen.key == whole.key
    assert read(chosen)[2] == read(whole)[2] == ["a", "c"]
    assert chosen.result.header.warnings == ("2 of 3 hosts; b: ends too early",)


def test_every_run_begins_in_a_directory_of_its_own(bench: Bench) -> None:
    """A child that a profile has taken over leaves nothing for the next."""
    seen: list[list[str]] = []

    def look_and_leave(job: Job) -> LoaderError | None:
        seen.append(sorted(path.name for path in job.directory.iterdir()))
        (job.directory / ARTIFACT).write_bytes(b"forged")
        return crash_on("b")(job)

    service = bench.service(StandInEngine(fail=look_and_leave))
    service.get(bench.request())
    assert seen == [
        ["a.xplane.pb", "b.xplane.pb", "c.xplane.pb"],
        ["a.xplane.pb"],
        ["b.xplane.pb"],
        ["c.xplane.pb"],
        ["a.xplane.pb", "c.xplane.pb"],
    ]
    assert list((bench.folder / "scratch" / "jobs").iterdir()) == []


def test_the_other_engine_is_not_asked_in_a_trial(bench: Bench) -> None:
    """Of a host that XProf fails on, xprof-rs may well give an answer."""
    engine = StandInEngine(fail=crash_on("b"))
    bench.service(engine).get(bench.request())
    assert [job.is_plain for job in engine.jobs] == [True, False, False, False, True]


def test_tools_share_what_was_made_without_an_unreadable_host(bench: Bench) -> None:
    engine = StandInEngine(fail=unreadable("b"))
    assert warnings(bench, engine) == ("2 of 3 hosts; b: XProf can't read it",)
    answered = bench.service(engine).get(bench.request("kernel_stats"))
    assert answered.result.header.warnings == ("2 of 3 hosts; b: XProf can't read it",)
    assert read(answered)[2:] == [["a", "c"], {}, True]
    assert runs(engine) == ["abc", "b", "ac", "ac"]


def test_a_crash_of_one_tool_leaves_the_others_all_hosts(bench: Bench) -> None:
    engine = StandInEngine(fail=crash_on("b", tool="overview_page"))
    assert warnings(bench, engine, "overview_page") == ("2 of 3 hosts; b: XProf crashes on it",)
    assert warnings(bench, engine, "hlo_stats") == ()
    # Nor does it cost them the set that they share.
    bench.write("c", b"new generation")
    assert warnings(bench, engine, "hlo_stats") == ()
    assert warnings(bench, engine, "overview_page") == ("2 of 3 hosts; b: XProf crashes on it",)
    answered = bench.service(engine).get(bench.request("kernel_stats"))
    assert read(answered)[2:] == [["a", "b", "c"], {}, True]


def test_the_tables_of_a_trace_are_shared_after_a_crash(bench: Bench) -> None:
    """Only the trace viewer uses them, and every zoom would search anew."""
    engine = StandInEngine(fail=crash_on("b"))
    assert warnings(bench, engine, "trace_viewer@") == ("2 of 3 hosts; b: XProf crashes on it",)
    zoom = bench.request("trace_viewer@")
    zoom = type(zoom)(zoom.locations, zoom.tool, None, {"resolution": "9000"})
    answered = bench.service(engine).get(zoom)
    assert answered.result.header.warnings == ("2 of 3 hosts; b: XProf crashes on it",)
    assert read(answered)[2:] == [["a", "c"], {}, True]


def test_all_runs_together_get_the_time_of_one(bench: Bench) -> None:
    engine = StandInEngine(fail=crash_on("b"))
    bench.seconds = 300
    bench.service(engine).get(bench.request())
    seconds = [limits.seconds for limits in engine.limits]
    assert seconds[0] == 300
    assert seconds == sorted(seconds, reverse=True)
    assert len(set(seconds)) == len(seconds)


def test_a_search_is_given_up_when_its_time_is_over(bench: Bench) -> None:
    def slow(job: Job) -> LoaderError | None:
        if job.hosts == ("b",):
            return LoaderError(ErrorCode.TIMED_OUT, "too slow")
        return crash_on("c")(job)

    engine = StandInEngine(fail=slow)
    with pytest.raises(LoaderError, match="crashed on 3"):
        bench.service(engine).get(bench.request())
    assert runs(engine) == ["abc", "a", "b"]


def test_a_search_ends_when_nobody_wants_the_answer(bench: Bench) -> None:
    cancelled = threading.Event()

    def cancel(job: Job) -> LoaderError | None:
        if job.hosts == ("a",):
            cancelled.set()
        return crash_on("b")(job)

    engine = StandInEngine(fail=cancel)
    with pytest.raises(LoaderError) as caught:
        bench.service(engine).get(bench.request(), Urgency.PREWARM, cancelled)
    assert caught.value.code is ErrorCode.CANCELLED
    assert runs(engine) == ["abc", "a"]


def test_many_hosts_at_fault_are_found(bench: Bench) -> None:
    """Whatever the engine names first: three runs of all, then each once, then the good ones."""
    for number in range(20):
        bench.write(f"n{number:02}", b"damaged")

    def first_bad(job: Job) -> LoaderError | None:
        bad = [host for host in job.hosts if host.startswith("n")]
        return unreadable(bad[0])(job) if bad else None

    engine = StandInEngine(fail=first_bad)
    answered = bench.service(engine).get(bench.request())
    assert read(answered)[2] == ["a", "b", "c"]
    assert answered.result.header.warnings[0].startswith(
        "3 of 23 hosts; n00: XProf can't read it; n01: XProf can't read it;"
    )
    assert len(engine.jobs) == 3 * 2 + 1 + 20 + 1


def too_much(job: Job) -> LoaderError | None:
    """What XProf says whenever host c is there, whatever memory it has."""
    if "c" in job.hosts:
        return LoaderError(ErrorCode.OUT_OF_MEMORY, f"too much of {len(job.hosts)}")
    return None


def test_a_host_that_takes_too_much_memory_alone_is_left_out_and_named(bench: Bench) -> None:
    engine = StandInEngine(fail=too_much)
    answered = bench.service(engine).get(bench.request(), is_last=True)
    reason = "c: XProf needs too much memory for it"
    assert answered.result.header.warnings == (f"2 of 3 hosts; {reason}",)
    assert read(answered)[2] == ["a", "b"]
    # All with what was estimated, all with whatever there is, the heaviest alone, and the others.
    assert runs(engine) == ["abc", "abc", "c", "ab"]


def test_another_tool_may_take_less_of_the_same_host(bench: Bench) -> None:
    def of_one_tool(job: Job) -> LoaderError | None:
        return too_much(job) if job.tool == "hlo_stats" else None

    engine = StandInEngine(fail=of_one_tool)
    service = bench.service(engine)
    service.get(bench.request("hlo_stats"), is_last=True)
    other = service.get(bench.request("overview_page"), is_last=True)
    assert other.result.header.warnings == ()
    assert read(other)[2] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("hosts", "is_last"), [(None, False), (("a", "c"), True)], ids=["larger worker", "chosen"]
)
def test_none_is_left_out_where_a_larger_worker_may_show_it_or_it_was_chosen(
    bench: Bench, hosts: tuple[str, ...] | None, is_last: bool
) -> None:
    engine = StandInEngine(fail=too_much)
    with pytest.raises(LoaderError) as caught:
        bench.service(engine).get(bench.request("trace_viewer@", hosts=hosts), is_last=is_last)
    assert caught.value.code is ErrorCode.OUT_OF_MEMORY
    assert set(runs(engine)) == {"".join(hosts or ("a", "b", "c"))}


def test_all_hosts_together_having_too_much_stays_the_answer(bench: Bench) -> None:
    def together(job: Job) -> LoaderError | None:
        if len(job.hosts) > 1:
            return LoaderError(ErrorCode.OUT_OF_MEMORY, "too much of all")
        return None

    engine = StandInEngine(fail=together)
    with pytest.raises(LoaderError, match="too much of all"):
        bench.service(engine).get(bench.request(), is_last=True)
    assert runs(engine) == ["abc", "abc", "c", "b", "a"]
