"""The engine answers what XProf's own server answers for the same files and the same query."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from loader.engine.base import Job, Limits
from loader.engine.xprof import XprofEngine
from loader.tools import canonical_options, tool_named
from tests.services.engine import MakeJob

LIMITS = Limits(seconds=120, memory_bytes=4 << 30, output_bytes=1 << 30)
SESSION = "one"
MODULE = "{module}"
NODE = "{node}"

ALL_HOST_QUERIES: list[dict[str, str]] = [
    {"tag": "overview_page"},
    {"tag": "input_pipeline_analyzer"},
    {"tag": "kernel_stats"},
    {"tag": "pod_viewer"},
    {"tag": "op_profile"},
    {"tag": "op_profile", "group_by": "category"},
    {"tag": "hlo_stats"},
    {"tag": "roofline_model"},
    {"tag": "inference_profile"},
    {"tag": "perf_counters"},
    {"tag": "perf_counters", "names_only": "1", "device_type": "v6e"},
    {"tag": "utilization_viewer"},
    {"tag": "smart_suggestion"},
    {"tag": "trace_viewer@"},
    {"tag": "trace_viewer@", "resolution": "200", "start_time_ms": "5.5", "end_time_ms": "7"},
    {"tag": "trace_viewer@", "resolution": "100", "full_dma": "true"},
    {"tag": "trace_viewer@", "search_prefix": "fusion"},
    {"tag": "trace_viewer@", "search_prefix": "fusion", "search_metadata": "true"},
    {"tag": "graph_viewer", "module_name": MODULE, "type": "short_txt"},
    {"tag": "graph_viewer", "module_name": MODULE, "type": "long_txt"},
    {"tag": "graph_viewer", "module_name": MODULE, "type": "pbtxt"},
    {"tag": "memory_viewer", "module_name": MODULE},
    {"tag": "memory_viewer", "module_name": MODULE, "memory_space": "1"},
]
ONE_HOST_QUERIES: list[dict[str, str]] = [
    {"tag": "memory_profile"},
    {"tag": "trace_viewer"},
    {"tag": "kernel_utilization"},
    {"tag": "megascale_stats"},
    {"tag": "hlo_stats"},
]


@dataclass(frozen=True)
class Reference:
    """XProf's own answers.

    Attributes:
        answers: query as sorted JSON to XProf's answer.
        tools: of run_tools.
        modules: of module_list.
        host: the first host.
        module: one of the modules.
        node: an operation of that module.
    """

    answers: dict[str, dict[str, Any]]
    tools: dict[str, Any]
    modules: dict[str, Any]
    host: str
    module: str
    node: str


def ask_xprof(
    profiles: Sequence[Path], workplace: Path, requests: Sequence[tuple[str, dict[str, str]]]
) -> list[dict[str, Any]]:
    """XProf's answers about copies of the profiles; HLO modules are there from the start."""
    session = workplace / "plugins" / "profile" / SESSION
    session.mkdir(parents=True)
    for profile in profiles:
        shutil.copy(profile, session)
    asked = [("/module_list", {}), *requests]
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.xprof_server", str(workplace)],
        input=json.dumps([[route, {"run": SESSION, **query}] for route, query in asked]),
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    return [json.loads(line) for line in done.stdout.splitlines()][1:]


def operation_in(hlo_stats: str) -> tuple[str, str]:
    """Program id and name of the first operation in XProf's table."""
    table = json.loads(hlo_stats)
    columns = [column["id"] for column in table["cols"]]
    row = [cell.get("v") for cell in table["rows"][0]["c"]]
    return row[columns.index("program_id")], row[columns.index("hlo_op_name")]


@pytest.fixture(scope="module")
def reference(small_session: Path, tmp_path_factory: pytest.TempPathFactory) -> Reference:
    profiles = sorted(small_session.iterdir())
    first = ask_xprof(
        profiles,
        tmp_path_factory.mktemp("first"),
        [("/run_tools", {}), ("/module_list", {}), ("/data", {"tag": "hlo_stats"})],
    )
    program, node = operation_in(first[2]["body"])
    module = next(name for name in first[1]["body"].split(",") if f"({program})" in name)
    queries = [fill(query, module) for query in ALL_HOST_QUERIES]
    answers = ask_xprof(
        profiles,
        tmp_path_factory.mktemp("all"),
        [
            *(("/data", query) for query in queries),
            ("/data_csv", {"tag": "hlo_stats"}),
            ("/data", graph_query(module, node)),
        ],
    )
    # In a session with several hosts XProf would answer one host's question from all hosts' cache.
    host = profiles[0].name.removesuffix(".xplane.pb")
    single = [{**query, "host": host} for query in ONE_HOST_QUERIES]
    answers += ask_xprof(
        profiles[:1], tmp_path_factory.mktemp("single"), [("/data", query) for query in single]
    )
    names = [*map(key, queries), "csv", "graph", *map(key, single)]
    named = dict(zip(names, answers, strict=True))
    return Reference(named, first[0], first[1], host, module, node)


def fill(query: dict[str, str], module: str) -> dict[str, str]:
    return {name: module if value == MODULE else value for name, value in query.items()}


def graph_query(module: str, node: str) -> dict[str, str]:
    return {
        "tag": "graph_viewer",
        "type": "graph",
        "format": "dot",
        "module_name": module,
        "node_name": node,
        "graph_width": "1",
    }


def key(query: dict[str, str]) -> str:
    return json.dumps(query, sort_keys=True)


def unordered(value: object) -> object:
    """The value with every list sorted: XProf fills some from hash tables."""
    if isinstance(value, dict):
        return {name: unordered(part) for name, part in value.items()}
    if isinstance(value, list):
        return sorted(json.dumps(unordered(part), sort_keys=True) for part in value)
    return value


def job_for(make_job: MakeJob, profiles: list[Path], query: dict[str, str]) -> Job:
    """The job that XProf Hub makes of a query."""
    tool = tool_named(query["tag"])
    options = canonical_options(tool, query)
    if tool.with_host and "host" in query:
        options["host"] = query["host"]
    return make_job(query["tag"], *profiles, **options)


def compare(engine: XprofEngine, job: Job, expected: dict[str, Any]) -> None:
    converted = engine.convert(replace(job, needs_modules=True), LIMITS)
    body = converted.output.read_bytes()
    assert expected["status"] == 200
    assert converted.content_type == expected["type"].partition(";")[0]
    if converted.content_type == "application/json":
        assert unordered(json.loads(body)) == unordered(json.loads(expected["body"]))
    else:
        assert body.decode("utf-8", "surrogateescape") == expected["body"]


@pytest.mark.parametrize("query", ALL_HOST_QUERIES, ids=json.dumps)
def test_all_hosts_together(
    engine: XprofEngine,
    make_job: MakeJob,
    small_session: Path,
    reference: Reference,
    query: dict[str, str],
) -> None:
    filled = fill(query, reference.module)
    job = job_for(make_job, sorted(small_session.iterdir()), filled)
    compare(engine, job, reference.answers[key(filled)])


@pytest.mark.parametrize("query", ONE_HOST_QUERIES, ids=json.dumps)
def test_one_host(
    engine: XprofEngine,
    make_job: MakeJob,
    small_session: Path,
    reference: Reference,
    query: dict[str, str],
) -> None:
    filled = {**query, "host": reference.host}
    job = job_for(make_job, [small_session / f"{reference.host}.xplane.pb"], filled)
    expected = reference.answers[key(filled)]
    compare(engine, job, expected)


def test_framework_op_stats_but_for_the_type_that_xprof_picks_at_random(
    engine: XprofEngine, make_job: MakeJob, small_session: Path, tmp_path: Path
) -> None:
    query = {"tag": "framework_op_stats"}
    profiles = sorted(small_session.iterdir())
    expected = ask_xprof(profiles, tmp_path / "xprof", [("/data", query)])[0]
    job = job_for(make_job, profiles, query)
    body = engine.convert(job, LIMITS).output.read_bytes()

    def without_types(text: str | bytes) -> list[object]:
        tables = json.loads(text)
        for table in tables:
            columns = [column["id"] for column in table["cols"]]
            for row in table["rows"]:
                del row["c"][columns.index("type")]
        return [tables]

    assert without_types(body) == without_types(expected["body"])


def test_perfetto_trace_but_for_its_bytes_that_differ_every_time(
    engine: XprofEngine, make_job: MakeJob, small_session: Path, tmp_path: Path
) -> None:
    profile = min(small_session.iterdir())
    host = profile.name.removesuffix(".xplane.pb")
    query = {"tag": "megascale_stats", "host": host, "perfetto": "true"}
    expected = ask_xprof([profile], tmp_path / "xprof", [("/data", query)])[0]
    converted = engine.convert(job_for(make_job, [profile], query), LIMITS)
    theirs = expected["body"].encode("utf-8", "surrogateescape")
    ours = converted.output.read_bytes()
    assert converted.content_type == expected["type"] == "application/octet-stream"
    assert len(gzip.decompress(ours)) == len(gzip.decompress(theirs))


def test_tools_and_modules(
    engine: XprofEngine, make_job: MakeJob, small_session: Path, reference: Reference
) -> None:
    profiles = sorted(small_session.iterdir())
    tools = engine.convert(make_job("run_tools", *profiles), LIMITS)
    modules = engine.convert(make_job("module_list", *profiles), LIMITS)
    assert json.loads(tools.output.read_bytes()) == json.loads(reference.tools["body"])
    assert tools.content_type == "application/json"
    assert modules.output.read_text() == reference.modules["body"]
    assert modules.content_type == "text/plain"


def test_csv(
    engine: XprofEngine, make_job: MakeJob, small_session: Path, reference: Reference
) -> None:
    job = make_job("hlo_stats", *sorted(small_session.iterdir()), as_csv=True)
    converted = engine.convert(job, LIMITS)
    assert converted.content_type == "text/csv"
    assert converted.output.read_bytes().decode() == reference.answers["csv"]["body"]


def test_graph_is_the_dot_of_xprof_as_json(
    engine: XprofEngine, make_job: MakeJob, small_session: Path, reference: Reference
) -> None:
    query = graph_query(reference.module, reference.node) | {"format": "html"}
    job = job_for(make_job, sorted(small_session.iterdir()), query)
    converted = engine.convert(replace(job, needs_modules=True), LIMITS)
    answer = json.loads(converted.output.read_bytes())
    assert converted.content_type == "application/json"
    assert answer["layout"] == "dot"
    assert without_addresses(answer["dot"]) == without_addresses(reference.answers["graph"]["body"])


def without_addresses(dot: str) -> list[str]:
    """The lines of a graph without XProf's node names, which are addresses in its memory."""
    lines = "".join(" " if char.isdigit() else char for char in dot).splitlines()
    return sorted(" ".join(line.split()) for line in lines)


def test_timeline_is_the_graph_in_the_page_of_xprof_as_json(
    engine: XprofEngine,
    make_job: MakeJob,
    small_session: Path,
    reference: Reference,
    tmp_path: Path,
) -> None:
    query = {
        "tag": "memory_viewer",
        "module_name": reference.module,
        "view_memory_allocation_timeline": "true",
    }
    profiles = sorted(small_session.iterdir())
    page = ask_xprof(profiles, tmp_path / "xprof", [("/data", query)])[0]
    assert page["type"].startswith("text/html")
    job = job_for(make_job, profiles, query)
    converted = engine.convert(replace(job, needs_modules=True), LIMITS)
    answer = json.loads(converted.output.read_bytes())
    assert converted.content_type == "application/json"
    assert answer["layout"] == "neato"
    assert answer["dot"].startswith("graph G {")
    assert f"const data = `{answer['dot']}`;" in page["body"]
