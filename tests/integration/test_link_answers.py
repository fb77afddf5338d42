"""What a link answers is what the installed XProf answers for the same files.

XProf's own plugin is asked about a private copy of the session for each choice of hosts, because in one
folder it would answer one host's question from all hosts' cache. Answers are parsed and compared; where XProf
is not deterministic, the comparison says what it leaves out.
"""

from __future__ import annotations

import json
import urllib.parse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.integration.test_engine_answers import ask_xprof, unordered
from tests.services.cluster import PROFILE_PATH, get
from tests.services.hub import DemoHub

TRACE = {"tag": "trace_viewer@", "resolution": "8000"}
ZOOM = {**TRACE, "start_time_ms": "10", "end_time_ms": "14"}
"""On the grid of loader.trace_window, where XProf is asked the same; test_zoom_answers.py has others."""
FULL = {**TRACE, "full_dma": "true"}
ANY_HOSTS: list[dict[str, str]] = [
    {"tag": "overview_page"},
    {"tag": "op_profile"},
    {"tag": "op_profile", "group_by": "category"},
    {"tag": "hlo_stats"},
    {"tag": "input_pipeline_analyzer"},
    {"tag": "roofline_model"},
    {"tag": "kernel_stats"},
    {"tag": "pod_viewer"},
    TRACE,
    ZOOM,
    FULL,
]
ONE_HOST: list[dict[str, str]] = [{"tag": "memory_profile"}]
CHOICES = ("all", "one", "several")


def host_parameters(choice: str, tool: str, hosts: list[str]) -> dict[str, str]:
    """XProf's parameters for the choice; only the trace viewer can choose several."""
    if choice == "several":
        return {"hosts": ",".join(hosts[1:3])}
    return {"host": "ALL_HOSTS" if choice == "all" else hosts[0]}


def cases() -> Iterator[tuple[str, dict[str, str]]]:
    for query in ANY_HOSTS:
        yield "all", query
        yield "one", query
        if query["tag"] == "trace_viewer@":
            yield "several", query
    for query in ONE_HOST:
        yield "one", query


def key(choice: str, query: dict[str, str]) -> str:
    return json.dumps([choice, query])


@pytest.fixture(scope="module")
def hosts(demo_session: Path) -> list[str]:
    return [
        path.name.removesuffix(".xplane.pb") for path in sorted(demo_session.glob("*.xplane.pb"))
    ]


@pytest.fixture(scope="module")
def expected(
    demo_session: Path, hosts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """XProf's answer to each case."""
    answers: dict[str, dict[str, Any]] = {}
    files = sorted(demo_session.glob("*.xplane.pb"))
    for choice in CHOICES:
        asked = [
            {**query, **host_parameters(choice, query["tag"], hosts)}
            for chosen, query in cases()
            if chosen == choice
        ]
        asked += [{**query, "format": "pb"} for query in asked if query["tag"] == "trace_viewer@"]
        asked.append({"tag": "framework_op_stats", **host_parameters("all", "", hosts)})
        got = ask_xprof(
            files, tmp_path_factory.mktemp(choice), [("/data", query) for query in asked]
        )
        answers |= {key(choice, query): answer for query, answer in zip(asked, got, strict=True)}
    return answers


def ask(hub: DemoHub, query: dict[str, str]) -> tuple[int, str, bytes]:
    parameters = urllib.parse.urlencode({"run": "another run", **query})
    answer = get(f"{hub.link}{PROFILE_PATH}/data?{parameters}")
    return answer.status, answer.headers.get("content-type", ""), answer.body


@pytest.mark.parametrize(("choice", "query"), list(cases()), ids=json.dumps)
def test_answer_equals_that_of_xprof(
    demo_hub: DemoHub,
    hosts: list[str],
    expected: dict[str, dict[str, Any]],
    choice: str,
    query: dict[str, str],
) -> None:
    asked = {**query, **host_parameters(choice, query["tag"], hosts)}
    theirs = expected[key(choice, asked)]
    status, content_type, body = ask(demo_hub, asked)
    assert (status, theirs["status"]) == (200, 200)
    assert content_type == theirs["type"]
    assert unordered(json.loads(body)) == unordered(json.loads(theirs["body"]))


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("query", [TRACE, ZOOM], ids=["full", "zoomed"])
def test_compressed_trace_holds_the_same_tracks_and_texts(
    demo_hub: DemoHub,
    hosts: list[str],
    expected: dict[str, dict[str, Any]],
    choice: str,
    query: dict[str, str],
) -> None:
    """XProf numbers the texts in a random order; numbers that refer to them are left out."""
    asked = {**query, **host_parameters(choice, "trace_viewer@", hosts), "format": "pb"}
    status, content_type, body = ask(demo_hub, asked)
    theirs = expected[key(choice, asked)]
    assert (status, content_type) == (200, theirs["type"])
    assert tracks_and_texts(body) == tracks_and_texts(
        theirs["body"].encode("utf-8", "surrogateescape")
    )


def test_framework_ops_but_for_the_type_that_xprof_picks_at_random(
    demo_hub: DemoHub, expected: dict[str, dict[str, Any]]
) -> None:
    query = {"tag": "framework_op_stats", "host": "ALL_HOSTS"}
    status, _, body = ask(demo_hub, query)
    assert status == 200

    def rows(text: str | bytes) -> list[list[object]]:
        return [
            [
                cell
                for cell, column in zip(row["c"], table["cols"], strict=True)
                if column["id"] != "type"
            ]
            for table in json.loads(text)
            for row in table["rows"]
        ]

    assert unordered(rows(body)) == unordered(rows(expected[key("all", query)]["body"]))


@pytest.mark.parametrize("kind", ["short_txt", "long_txt", "pbtxt", "pb"])
def test_modules_in_the_graph_viewers_formats(
    demo_hub: DemoHub, demo_session: Path, hosts: list[str], tmp_path: Path, kind: str
) -> None:
    module = get(f"{demo_hub.link}{PROFILE_PATH}/module_list").body.decode().split(",")[0]
    query = {"tag": "graph_viewer", "host": hosts[0], "module_name": module, "type": kind}
    status, content_type, body = ask(demo_hub, query)
    (theirs,) = ask_xprof([demo_session / f"{hosts[0]}.xplane.pb"], tmp_path, [("/data", query)])
    assert (status, content_type) == (theirs["status"], theirs["type"]) == (200, content_type)
    expected = theirs["body"].encode("utf-8", "surrogateescape")
    # The entries of a protobuf map have no order.
    assert body == expected if kind != "pb" else sorted(body) == sorted(expected)


def test_memory_viewer(
    demo_hub: DemoHub, demo_session: Path, hosts: list[str], tmp_path: Path
) -> None:
    for number, module in enumerate(
        get(f"{demo_hub.link}{PROFILE_PATH}/module_list").body.decode().split(",")
    ):
        query = {"tag": "memory_viewer", "host": hosts[0], "module_name": module}
        status, _, body = ask(demo_hub, query)
        profile = demo_session / f"{hosts[0]}.xplane.pb"
        (theirs,) = ask_xprof([profile], tmp_path / str(number), [("/data", query)])
        assert (status, theirs["status"]) == (200, 200)
        assert unordered(json.loads(body)) == unordered(json.loads(theirs["body"]))


@pytest.mark.parametrize("module", ["../x", "no_such_module(1)", "jit_train_step"])
def test_only_the_sessions_own_modules_are_read(demo_hub: DemoHub, module: str) -> None:
    status, _, body = ask(demo_hub, {"tag": "memory_viewer", "module_name": module})
    assert status == 404
    assert "no HLO module called" in json.loads(body)["error"]["message"]


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of each field of a protobuf message (protobuf.dev/programming-guides/encoding)."""
    position = 0

    def varint() -> int:
        nonlocal position
        value = shift = 0
        while True:
            byte = message[position]
            position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while position < len(message):
        tag = varint()
        size = {1: 8, 5: 4}.get(tag & 7)
        if tag & 7 == 0:
            yield tag >> 3, varint()
            continue
        if size is None:
            assert tag & 7 == 2
            size = varint()
        yield tag >> 3, message[position : position + size]
        position += size


def tracks_and_texts(body: bytes) -> list[Counter[object]]:
    """Of each track its events' times, and apart from them every text."""
    message = zstandard.ZstdDecompressor().decompressobj().decompress(body)
    tracks: Counter[object] = Counter()
    texts: Counter[object] = Counter()
    for number, value in fields(message):
        if number == 1:
            assert isinstance(value, bytes)
            times = tuple((part, data) for part, data in fields(value) if part in {2, 3})
            tracks[times] += 1
        else:
            # A map's entries have no order either: the same bytes, however they are arranged.
            texts[number, tuple(sorted(value)) if isinstance(value, bytes) else None] += 1
    assert tracks
    return [tracks, texts]
