"""Damage that only XProf notices, in one host of four: the others answer, as XProf does without that host."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loader.tools import RUN_TOOLS
from server.demo.session import write_session
from tests.integration.test_engine_answers import ask_xprof, unordered
from tests.services.cluster import PROFILE_PATH, get
from tests.services.shelf import Shelf
from tests.wire_bytes import block, event_metadata, line, number, plane

WITH_DAMAGE = plane(
    "/host:extra",
    # No event can hold a field of wire type 7; the inspection does not look inside events.
    line("thread", block(4, number(1, 1) + number(2, 5) + number(3, 9) + b"\x0f\x00"))
    + event_metadata(1, "step"),
)
IN_METADATA = plane(
    "/host:extra",
    # Nor does it look inside what can't be an unreadable text.
    line("thread") + event_metadata(1, "step", stats=block(5, number(1, 1) + b"\x0f\x00")),
)
TOOLS = {
    "overview_page": {"tag": "overview_page", "host": "ALL_HOSTS"},
    "kernel_stats": {"tag": "kernel_stats", "host": "ALL_HOSTS"},
    "hlo_stats": {"tag": "hlo_stats"},
    "trace_viewer@": {"tag": "trace_viewer@"},
}


def damaged(whole: bytes, place: str, damage: bytes = WITH_DAMAGE) -> bytes:
    """XProf names the file whose start is damaged, and none for one that is at its end."""
    return damage + whole if place == "start" else whole + damage


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("four") / "plugins" / "profile" / "four"
    write_session(folder, hosts=4, events=1500)
    return folder


@pytest.fixture(scope="module")
def expected(four: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """XProf's answers about a folder that holds the three good hosts."""
    good = [path for number, path in enumerate(sorted(four.iterdir())) if number != 2]
    requests = [*(("/data", query) for query in TOOLS.values()), ("/run_tools", {})]
    answers = ask_xprof(good, tmp_path_factory.mktemp("xprof"), requests)
    assert [answer["status"] for answer in answers] == [200] * len(requests)
    names = [*TOOLS, RUN_TOOLS]
    return {tool: answer["body"] for tool, answer in zip(names, answers, strict=True)}


@pytest.mark.parametrize("place", ["start", "end"])
def test_the_good_hosts_answer_and_the_damaged_one_is_named(
    shelf: Shelf, four: Path, expected: dict[str, str], place: str
) -> None:
    folder = shelf.place(four)
    bad = sorted(folder.iterdir())[2]
    bad.write_bytes(damaged(bad.read_bytes(), place))
    host = bad.name.removesuffix(".xplane.pb")
    base = shelf.share(folder) + PROFILE_PATH
    for tool, query in TOOLS.items():
        words = "&".join(f"{name}={value}" for name, value in query.items())
        for _ in range(2):  # made, then kept
            answer = get(f"{base}/data?{words}")
            assert answer.status == 200, tool
            warning = f"3 of 4 hosts; {host}: XProf can't read it"
            assert warning in answer.headers["x-xprof-hub-warnings"]
            assert unordered(json.loads(answer.body)) == unordered(json.loads(expected[tool]))


@pytest.mark.parametrize("place", ["start", "end"])
def test_the_list_of_tools_is_made_without_a_host_whose_metadata_is_damaged(
    shelf: Shelf, four: Path, expected: dict[str, str], place: str
) -> None:
    folder = shelf.place(four)
    bad = sorted(folder.iterdir())[2]
    bad.write_bytes(damaged(bad.read_bytes(), place, IN_METADATA))
    answer = get(shelf.share(folder) + PROFILE_PATH + "/run_tools")
    host = bad.name.removesuffix(".xplane.pb")
    assert f"3 of 4 hosts; {host}: XProf can't read it" in answer.headers["x-xprof-hub-warnings"]
    assert json.loads(answer.body) == json.loads(expected[RUN_TOOLS])


def test_the_list_of_tools_needs_no_events(
    shelf: Shelf, four: Path, expected: dict[str, str]
) -> None:
    folder = shelf.place(four)
    for path in folder.iterdir():
        path.write_bytes(damaged(path.read_bytes(), "start"))
    answer = get(shelf.share(folder) + PROFILE_PATH + "/run_tools")
    assert json.loads(answer.body) == json.loads(expected[RUN_TOOLS])


@pytest.mark.parametrize("place", ["start", "end"])
def test_the_damaged_host_itself_is_an_error(shelf: Shelf, four: Path, place: str) -> None:
    folder = shelf.place(four)
    good, bad = sorted(folder.iterdir())[1:3]
    bad.write_bytes(damaged(bad.read_bytes(), place))
    names = [path.name.removesuffix(".xplane.pb") for path in (good, bad)]
    base = shelf.share(folder) + PROFILE_PATH
    for query in (f"tag=hlo_stats&host={names[1]}", f"tag=trace_viewer@&hosts={','.join(names)}"):
        answer = get(f"{base}/data?{query}")
        assert answer.status == 422
        error = json.loads(answer.body)["error"]
        assert error["details"][0] == {"reason": "malformed", "file": bad.name}
        assert "not a readable XProf profile (a part of it is damaged)" in error["message"]
    assert get(f"{base}/data?tag=hlo_stats&host={names[0]}").status == 200


def test_when_all_are_damaged_there_is_an_error(shelf: Shelf, four: Path) -> None:
    folder = shelf.place(four)
    for path in folder.iterdir():
        path.write_bytes(damaged(path.read_bytes(), "start"))
    base = shelf.share(folder) + PROFILE_PATH
    answer = get(f"{base}/data?tag=overview_page&host=ALL_HOSTS")
    assert answer.status == 422
    assert json.loads(answer.body)["error"]["details"][0]["reason"] == "malformed"
