"""Names as people give them: they work in the API and under links, come back unchanged, and stay apart."""

from __future__ import annotations

import shutil
import tempfile
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.cluster import PROFILE_PATH, get
from tests.services.hub import HubFactory, HubProcess, share

NAMES = [
    "with space",
    "a+b",
    "100%25",
    "a&b=c",
    "tag#1",
    "what?",
    "one,two",
    "10:30:00",
    "me@home",
    "ü composed",  # one code point
    "ü decomposed",  # u and a combining mark
    "ALL_HOSTS",
    "日本語 🚀",
    "quote\"'`${x}",
    "<b>bold<i>",
    "-rf",
    "...dots",
]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    factory = HubFactory(tmp_path_factory.mktemp("names"))
    # The tests' sessions lie all over the base, and a hub's own data may not lie in a storage root.
    with tempfile.TemporaryDirectory() as data:
        yield factory.start(
            {
                "XPROF_HUB_STORAGE_ROOTS": str(tmp_path_factory.getbasetemp()),
                "XPROF_HUB_DATA_DIR": data,
            }
        )
        factory.stop_all()


def session_with_hosts(folder: Path, source: Path, names: list[str]) -> Path:
    """A session folder whose hosts have these names; all have the same profile."""
    folder.mkdir(parents=True)
    profile = min(source.glob("*.xplane.pb"))
    for name in names:
        shutil.copyfile(profile, folder / f"{name}.xplane.pb")
    return folder


def ask(base: str, route: str, **query: str) -> object:
    answer = get(f"{base}/{route}?{urllib.parse.urlencode(query)}")
    assert answer.status == 200, answer.body
    return answer.json()


@pytest.mark.parametrize("name", NAMES)
def test_run_session_and_host_come_back_unchanged(
    hub: HubProcess, small_session: Path, tmp_path: Path, name: str
) -> None:
    folder = session_with_hosts(tmp_path / name, small_session, [name, "other"])
    base = share(hub.url, name, name, folder) + PROFILE_PATH
    quoted = urllib.parse.quote(name, safe="")
    session = get(f"{hub.url}/v1/machineLearningRuns/{quoted}/profilerSessions/{quoted}").json()
    assert isinstance(session, dict)
    assert session["name"] == f"machineLearningRuns/{name}/profilerSessions/{name}"
    assert {host["host"] for host in session["hosts"]} == {name, "other"}
    assert ask(base, "runs") == [name]
    menu = ask(base, "hosts", tag="hlo_stats")
    assert menu == [{"hostname": host} for host in sorted([name, "other"])]
    status = ask(base, "status")
    assert isinstance(status, dict)
    assert (status["state"], status["hosts"]) == ("ok", sorted([name, "other"]))
    assert ask(base, "data", tag="hlo_stats", host=name) == ask(
        base, "data", tag="hlo_stats", host="other"
    )
    trace = ask(base, "data", tag="trace_viewer@", hosts=name, resolution="100")
    assert isinstance(trace, dict)
    processes = {
        event["args"]["name"]
        for event in trace["traceEvents"]
        if event.get("name") == "process_name"
    }
    assert processes
    assert all(process.startswith(f"{name} /") for process in processes)


def test_hosts_with_commas_are_chosen_together(
    hub: HubProcess, small_session: Path, tmp_path: Path
) -> None:
    folder = session_with_hosts(tmp_path / "s", small_session, ["a", "b,c", "d"])
    base = share(hub.url, "commas", "s", folder) + PROFILE_PATH
    trace = ask(base, "data", tag="trace_viewer@", hosts="b,c,d", resolution="100")
    assert isinstance(trace, dict)
    hosts = {
        event["args"]["name"].split(" /")[0]
        for event in trace["traceEvents"]
        if event.get("name") == "process_name"
    }
    assert hosts == {"b,c", "d"}


def test_same_names_in_two_runs_stay_apart(
    hub: HubProcess, demo_session: Path, tmp_path: Path
) -> None:
    files = sorted(demo_session.glob("*.xplane.pb"))
    bases = []
    for run, profile in (("one", files[0]), ("two", files[3])):
        folder = tmp_path / run / "plugins" / "profile" / "same"
        folder.mkdir(parents=True)
        shutil.copyfile(profile, folder / "vm.xplane.pb")
        bases.append(share(hub.url, f"apart {run}", "same", folder) + PROFILE_PATH)
    first, second = (ask(base, "data", tag="hlo_stats", host="vm") for base in bases)
    assert first != second
    # Whatever the query says, the link alone names the session.
    elsewhere = {
        "run": "apart two/same",
        "session_path": str(tmp_path / "two" / "plugins" / "profile" / "same"),
        "run_path": str(tmp_path / "two"),
        "base_session_id": "same",
    }
    assert ask(bases[0], "data", tag="hlo_stats", host="vm", **elsewhere) == first
    assert ask(bases[0], "runs", **elsewhere) == ["same"]


def test_normal_forms_of_one_name_are_two_hosts(
    hub: HubProcess, demo_session: Path, tmp_path: Path
) -> None:
    files = sorted(demo_session.glob("*.xplane.pb"))
    folder = tmp_path / "forms"
    folder.mkdir()
    shutil.copyfile(files[0], folder / "\u00fc.xplane.pb")
    shutil.copyfile(files[3], folder / "u\u0308.xplane.pb")
    base = share(hub.url, "forms", "forms", folder) + PROFILE_PATH
    composed = ask(base, "data", tag="hlo_stats", host="\u00fc")
    assert composed != ask(base, "data", tag="hlo_stats", host="u\u0308")
