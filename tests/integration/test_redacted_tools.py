"""A redacted link shows every tool's figures and none of the profile's texts, in any format or error."""

from __future__ import annotations

import json
import re
import urllib.parse
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from loader.redaction.pseudonyms import Pseudonyms
from loader.tools import TOOLS
from tests.original_texts import names_in, repeated, words_in
from tests.services.cluster import PROFILE_PATH, Answer, get
from tests.services.hub import HubFactory, copy_of, post, share
from tests.wire_bytes import block, event_metadata, hlo_stat, line, metadata_plane, number, plane

SECRET = "a secret of these tests that nobody else has"
PSEUDONYMS = Pseudonyms(SECRET)
FIGURES: Mapping[str, tuple[str, ...]] = {
    "small": (
        *("overview_page", "input_pipeline_analyzer", "framework_op_stats", "pod_viewer"),
        *("op_profile", "hlo_stats", "roofline_model", "memory_viewer"),
    ),
    "gpu": ("kernel_stats", "hlo_stats"),
    "memory": ("memory_profile", "framework_op_stats"),
    "jax": ("overview_page",),
}
SHOWN: Mapping[str, Collection[str]] = {
    "small": TOOLS,
    "gpu": (*FIGURES["gpu"], "trace_viewer@", "op_profile", "graph_viewer", "memory_viewer"),
    "memory": (*FIGURES["memory"], "trace_viewer"),
    "jax": ("overview_page", "trace_viewer@", "trace_viewer", "graph_viewer", "memory_viewer"),
}
"""Tools that show what a session holds."""
FORMATS = (
    *({"tag": "trace_viewer@", "format": "pb"}, {"tag": "trace_viewer@", "search_prefix": "a"}),
    {"tag": "trace_viewer@", "search_prefix": "b", "search_metadata": "true"},
    *(
        {"tag": "graph_viewer", "type": kind}
        for kind in ("short_txt", "long_txt", "pbtxt", "pb", "json")
    ),
    {"tag": "graph_viewer", "type": "adj_nodes"},
    *({"tag": "op_profile", "group_by": by} for by in ("category", "provenance")),
    {"tag": "perf_counters", "names_only": "1", "device_type": "v6e"},
)
TABLES = ("hlo_stats", "framework_op_stats", "kernel_stats", "overview_page", "roofline_model")
_NOT_COMPARED = frozenset({"sourceInfo", "memoryProfileSnapshots", "activeAllocations"})
"""Source lines, which a redacted profile lacks; and of allocations that are alike XProf shows another one
each time that it is asked."""
_XPROFS_WORDS = frozenset({"kind", "stack"})
"""What XProf says of HLO and of memory only, which the blank profile has little of."""
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_EVENT = block(4, number(1, 1) + number(2, 10) + number(3, 5000))
BLANK = b"".join(
    (
        metadata_plane(event_metadata(1, "zq(1)", stats=hlo_stat(b"zq"))),
        plane("/device:TPU:0", line("XLA Ops", _EVENT) + event_metadata(1, "%zq.1 = f32[] add()")),
        plane("/host:CPU", line("zq", _EVENT) + event_metadata(1, "zq")),
    )
)
"""What tools answer to this are words of XProf's own."""


@dataclass(frozen=True)
class Shared:
    """A session with two links.

    Attributes:
        plain: address of XProf under a link that shows everything.
        redacted: the same under one that does not.
        names: of the profiles.
    """

    plain: str
    redacted: str
    names: frozenset[str]

    def leaks(self, path: str) -> tuple[Answer, set[str]]:
        """An answer under the redacted link, and the names in it."""
        answer = get(f"{self.redacted}{path}")
        return answer, repeated(self.names, answer.body, answer.headers)


@pytest.fixture(scope="module")
def links(
    tmp_path_factory: pytest.TempPathFactory,
    small_session: Path,
    other_sessions: Mapping[str, Path],
) -> Iterator[Mapping[str, Shared]]:
    """Links to sessions of all kinds."""
    root = tmp_path_factory.mktemp("redacted")
    factory = HubFactory(tmp_path_factory.mktemp("redacted-hub"))
    env = {"XPROF_HUB_STORAGE_ROOTS": str(root), "XPROF_HUB_SECRET_KEY": SECRET}
    try:
        hub = factory.start(env)
        found: dict[str, Shared] = {}
        own: set[str] = set()
        blank = tmp_path_factory.mktemp("blank")
        (blank / "zq.xplane.pb").write_bytes(BLANK)
        for name, session in {"blank": blank, "small": small_session, **other_sessions}.items():
            folder = copy_of(session, root / name)
            plain = share(hub.url, name, name, folder)
            made = f"{hub.url}/v1/machineLearningRuns/{name}/profilerSessions/{name}/shareLinks"
            hidden = str(post(made, {"redacted": True})["uri"])
            hosts = {path.name.removesuffix(".xplane.pb") for path in folder.iterdir()}
            names = set().union(*(names_in(path) for path in folder.glob("*.xplane.pb")))
            shared = Shared(
                plain + PROFILE_PATH,
                hidden + PROFILE_PATH,
                frozenset(names - own - hosts - _XPROFS_WORDS),
            )
            if not own:
                own = set().union(
                    *(words_in(get(shared.redacted + at).body) for at in asked(shared))
                )
            found[name] = shared
        yield found
    finally:
        factory.stop_all()


def data(query: Mapping[str, str], route: str = "data") -> str:
    return f"/{route}?{urllib.parse.urlencode(query)}"


def module_of(base: str) -> str:
    return get(f"{base}/module_list").body.decode().split(",")[0]


def asked(shared: Shared, tools: Iterable[str] = TOOLS) -> Iterator[str]:
    """The tools in every format, and whatever else is there."""
    module = module_of(shared.redacted)
    host = json.loads(get(f"{shared.redacted}/hosts?tag=memory_profile").body)[0]["hostname"]
    for tool in tools:
        yield data({"tag": tool, "host": host, "module_name": module})
    for query in FORMATS:
        if query["tag"] in tools:
            yield data({**query, "host": host, "module_name": module})
    for tool in TABLES:
        if tool in tools:
            yield data({"tag": tool, "host": host}, "data_csv")
    if "graph_viewer" in tools:
        yield data({"module_name": module, "type": "graph", "node_name": "x"}, "graph_data")
        yield data({"module_name": module, "tag": "memory_viewer"}, "timeline_data")
        yield data({"tag": "graph_viewer", "module_name": "nobody(1)"})
    yield from ("/run_tools", "/module_list", "/status", "/runs", "/", "/trace_viewer")
    yield data({"tag": "overview_page"}, "progress/data")


@pytest.mark.parametrize("name", SHOWN)
def test_no_answer_holds_a_text_of_the_profile(links: Mapping[str, Shared], name: str) -> None:
    shared = links[name]
    assert len(shared.names) > (20 if name == "jax" else 1)
    answered = 0
    leaked: dict[str, str] = {}
    for path in asked(shared, SHOWN[name]):
        answer, found = shared.leaks(path)
        leaked |= dict.fromkeys(found, path)
        answered += answer.status == 200
    assert not leaked
    assert answered > len(SHOWN[name])
    if name == "small":  # what is looked for can be found
        open_answer = get(f"{shared.plain}{data({'tag': 'hlo_stats'})}")
        assert len(repeated(shared.names, open_answer.body, {})) > 50


def test_details_of_one_event_are_redacted_too(links: Mapping[str, Shared]) -> None:
    shared = links["small"]
    listed = json.loads(get(f"{shared.redacted}/hosts?tag=trace_viewer@").body)
    query = {"tag": "trace_viewer@", "host": listed[0]["hostname"]}
    trace = json.loads(get(f"{shared.redacted}{data(query)}").body)
    event = next(
        found
        for found in trace["traceEvents"]
        if "uid" in found.get("args", {}) and found["name"].startswith("all-reduce.")
    )
    query |= {"event_name": event["name"], "unique_id": str(event["args"]["uid"])}
    query |= {"start_time_ms": repr(event["ts"] / 1e3), "duration_ms": repr(event["dur"] / 1e3)}
    answer, found = shared.leaks(data(query))
    assert answer.status == 200, answer.body
    assert not found
    shown = [found for found in json.loads(answer.body)["traceEvents"] if found.get("ph") == "X"]
    assert shown[0]["args"]["hlo_category"] == "all-reduce"


@pytest.mark.parametrize(
    ("name", "tool"), [(name, tool) for name, tools in FIGURES.items() for tool in tools]
)
def test_figures_are_those_of_the_open_link(
    links: Mapping[str, Shared], name: str, tool: str
) -> None:
    shared = links[name]
    found = []
    for base in (shared.plain, shared.redacted):
        query = {"tag": tool}
        if tool == "memory_viewer":
            listed = module_of(shared.plain)
            query["module_name"] = PSEUDONYMS.text(listed) if base == shared.redacted else listed
        answer = get(f"{base}{data(query)}")
        assert answer.status == 200, answer.body
        found.append(json.loads(answer.body))
    assert numbers(found[1]) == numbers(found[0])
    assert sum(numbers(found[0]).values()) > 10


def numbers(value: object) -> Counter[float]:
    """All numbers in an answer, but for what can't be compared."""
    return Counter(_numbers(value))


def _numbers(value: object) -> Iterator[float]:
    if isinstance(value, dict):
        for name, part in value.items():
            if name not in _NOT_COMPARED:
                yield from _numbers(part)
    elif isinstance(value, list):
        for part in value:
            yield from _numbers(part)
    elif isinstance(value, str) and _NUMBER.fullmatch(value):
        yield float(value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield float(f"{value:.9g}")


def test_rows_are_those_of_the_open_link_under_the_pseudonyms(
    links: Mapping[str, Shared],
) -> None:
    shared = links["small"]
    plain, hidden = (
        rows(json.loads(get(f"{base}{data({'tag': 'hlo_stats'})}").body))
        for base in (shared.plain, shared.redacted)
    )
    columns = ("hlo_op_name", "hlo_op_expression", "tf_op_name", "category", "total_time")
    expected = Counter(tuple(_hidden(row[name]) for name in columns) for row in plain)
    assert Counter(tuple(row[name] for name in columns) for row in hidden) == expected
    assert len(plain) > 100


def _hidden(cell: object) -> object:
    return PSEUDONYMS.text(cell) if isinstance(cell, str) else cell


def rows(table: object) -> list[dict[str, object]]:
    """The rows of a table, by the columns' ids."""
    assert isinstance(table, dict)
    columns = [column["id"] for column in table["cols"]]
    return [
        dict(zip(columns, (cell.get("v") for cell in row["c"]), strict=True))
        for row in table["rows"]
    ]


def test_answers_of_both_links_have_different_tags(links: Mapping[str, Shared]) -> None:
    shared = links["small"]
    path = data({"tag": "hlo_stats"})
    plain, hidden = get(f"{shared.plain}{path}"), get(f"{shared.redacted}{path}")
    tag = plain.headers["etag"]
    assert tag != hidden.headers["etag"]
    again = get(f"{shared.redacted}{path}", {"If-None-Match": tag})
    assert again.status == 200
    assert not repeated(shared.names, again.body, again.headers)


def test_an_original_name_is_as_unknown_as_any_other(links: Mapping[str, Shared]) -> None:
    shared = links["small"]
    real = module_of(shared.plain)
    assert real.startswith("jit_eval_step(")
    trace = {"tag": "trace_viewer@", "search_metadata": "true"}
    answers = {
        name: [
            get(f"{shared.redacted}{path}")
            for path in (
                data({**trace, "search_prefix": name}),
                data({"tag": "graph_viewer", "type": "long_txt", "module_name": name}),
                data({"tag": "memory_viewer", "module_name": name}),
                data({"module_name": module_of(shared.redacted), "node_name": name}, "graph_data"),
                data({"tag": "op_profile", "op_name": name}),
            )
        ]
        for name in (real, real.replace("eval", "evil"))
    }
    told = [
        [(found.status, sorted(found.body.replace(name.encode(), b""))) for found in each]
        for name, each in answers.items()
    ]  # sorted: XProf writes stack frames in any order
    assert told[0] == told[1]
    # The search does find what there is, and under the open link the name is known.
    everything = get(f"{shared.redacted}{data({**trace, 'search_prefix': 'jit'})}").body
    assert len(everything) > len(answers[real][0].body)
    known = data({"tag": "graph_viewer", "type": "long_txt", "module_name": real})
    assert get(f"{shared.plain}{known}").status == 200


def test_the_page_says_that_names_are_pseudonyms(links: Mapping[str, Shared]) -> None:
    shared = links["small"]
    told = [
        re.search(rb'"redacted": ?(\w+)', get(f"{base}/").body)
        for base in (shared.plain, shared.redacted)
    ]
    assert [found and found[1] for found in told] == [b"false", b"true"]


def test_a_name_is_the_same_on_all_hosts_and_in_all_tools(links: Mapping[str, Shared]) -> None:
    shared = links["small"]
    modules = get(f"{shared.redacted}/module_list").body.decode().split(",")
    assert {re.sub(r"\(\d+\)", "", name) for name in modules} == {
        PSEUDONYMS.text("jit_train_step"),
        PSEUDONYMS.text("jit_eval_step"),
    }
    listed = json.loads(get(f"{shared.redacted}/hosts?tag=trace_viewer@").body)
    for host in listed:
        query = {"tag": "trace_viewer@", "host": host["hostname"]}
        body = get(f"{shared.redacted}{data(query)}").body.decode()
        assert PSEUDONYMS.text("jit_train_step") in body
