"""Damage that only XProf notices, in one host of four: the others answer, as XProf does without that host."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.demo.session import write_session
from tests.integration.test_engine_answers import ask_xprof, unordered
from tests.services.cluster import PROFILE_PATH, get
from tests.services.hub import HubFactory, HubProcess, copy_of, share
from tests.wire_bytes import block, event_metadata, line, number, plane

WITH_DAMAGE = plane(
    "/host:extra",
    # No event can hold a field of wire type 7; the inspection does not look inside events.
    line("thread", block(4, number(1, 1) + number(2, 5) + number(3, 9) + b"\x0f\x00"))
    + event_metadata(1, "step"),
)
TOOLS = {
    "overview_page": {"tag": "overview_page", "host": "ALL_HOSTS"},
    "kernel_stats": {"tag": "kernel_stats", "host": "ALL_HOSTS"},
    "hlo_stats": {"tag": "hlo_stats"},
    "trace_viewer@": {"tag": "trace_viewer@"},
    "run_tools": {},
}


def damaged(whole: bytes, place: str) -> bytes:
    """XProf names the file whose start is damaged, and none for one that is at its end."""
    return WITH_DAMAGE + whole if place == "start" else whole + WITH_DAMAGE


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    factory = HubFactory(tmp_path_factory.mktemp("culprits"))
    # The tests' sessions lie all over the base, and a hub's own data may not lie in a storage root.
    with tempfile.TemporaryDirectory() as data:
        yield factory.start(
            {
                "XPROF_HUB_STORAGE_ROOTS": str(tmp_path_factory.getbasetemp()),
                "XPROF_HUB_DATA_DIR": data,
            }
        )
        factory.stop_all()


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("four") / "plugins" / "profile" / "four"
    write_session(folder, hosts=4, events=1500)
    return folder


@pytest.fixture(scope="module")
def expected(four: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """XProf's answers about a folder that holds the three good hosts."""
    good = [path for number, path in enumerate(sorted(four.iterdir())) if number != 2]
    requests = [("/data" if query else "/run_tools", query) for query in TOOLS.values()]
    answers = ask_xprof(good, tmp_path_factory.mktemp("xprof"), requests)
    assert [answer["status"] for answer in answers] == [200] * len(TOOLS)
    return {tool: answer["body"] for tool, answer in zip(TOOLS, answers, strict=True)}


@pytest.mark.parametrize("place", ["start", "end"])
def test_the_good_hosts_answer_and_the_damaged_one_is_named(
    hub: HubProcess, four: Path, expected: dict[str, str], tmp_path: Path, place: str
) -> None:
    folder = copy_of(four, tmp_path / "session")
    bad = sorted(folder.iterdir())[2]
    bad.write_bytes(damaged(bad.read_bytes(), place))
    host = bad.name.removesuffix(".xplane.pb")
    base = share(hub.url, f"damaged {place}", "s", folder) + PROFILE_PATH
    for tool, query in TOOLS.items():
        words = "&".join(f"{name}={value}" for name, value in query.items())
        for _ in range(2):  # made, then kept
            answer = get(f"{base}/data?{words}" if query else f"{base}/run_tools")
            assert answer.status == 200, tool
            warning = f"3 of 4 hosts; {host}: XProf can't read it"
            assert warning in answer.headers["x-xprof-hub-warnings"]
            assert unordered(json.loads(answer.body)) == unordered(json.loads(expected[tool]))


@pytest.mark.parametrize("place", ["start", "end"])
def test_the_damaged_host_itself_is_an_error(
    hub: HubProcess, four: Path, tmp_path: Path, place: str
) -> None:
    folder = copy_of(four, tmp_path / "session")
    good, bad = sorted(folder.iterdir())[1:3]
    bad.write_bytes(damaged(bad.read_bytes(), place))
    names = [path.name.removesuffix(".xplane.pb") for path in (good, bad)]
    base = share(hub.url, f"chosen {place}", "s", folder) + PROFILE_PATH
    for query in (f"tag=hlo_stats&host={names[1]}", f"tag=trace_viewer@&hosts={','.join(names)}"):
        answer = get(f"{base}/data?{query}")
        assert answer.status == 422
        error = json.loads(answer.body)["error"]
        assert error["details"][0] == {"reason": "malformed", "file": bad.name}
        assert "not a readable XProf profile (a part of it is damaged)" in error["message"]
    assert get(f"{base}/data?tag=hlo_stats&host={names[0]}").status == 200


def test_when_all_are_damaged_there_is_an_error(
    hub: HubProcess, four: Path, tmp_path: Path
) -> None:
    folder = copy_of(four, tmp_path / "session")
    for path in folder.iterdir():
        path.write_bytes(damaged(path.read_bytes(), "start"))
    base = share(hub.url, "all damaged", "s", folder) + PROFILE_PATH
    answer = get(f"{base}/data?tag=overview_page&host=ALL_HOSTS")
    assert answer.status == 422
    assert json.loads(answer.body)["error"]["details"][0]["reason"] == "malformed"
