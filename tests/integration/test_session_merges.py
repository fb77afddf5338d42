"""Hosts of one capture in folders of their own: found, merged, shown as one session, and taken apart."""

from __future__ import annotations

import json
import shutil
import urllib.parse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from server.demo.session import write_session
from tests.contract.commands import Commands
from tests.integration.test_engine_answers import ask_xprof, unordered
from tests.services.cluster import PROFILE_PATH, get
from tests.services.hub import HubFactory
from tests.wire_bytes import block, line, number, plane, stat_metadata

RUN = "/v1/machineLearningRuns/r/profilerSessions"
NAMES = tuple(f"2026_01_31_12_00_0{second}" for second in range(4))
SECOND = 1_000_000_000


@dataclass(frozen=True)
class Merging:
    """A hub for one test, and a folder that it may read."""

    http: httpx2.Client
    root: Path

    def attach(self, name: str, **body: object) -> None:
        answer = self.http.post(RUN, json={"storageFolderUri": str(self.root / name), **body})
        assert answer.status_code == 200, answer.text

    def write(self, name: str, host: str, profile: bytes) -> None:
        """A session of one host."""
        (self.root / name).mkdir()
        (self.root / name / f"{host}.xplane.pb").write_bytes(profile)
        self.attach(name)

    def offers(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.http.get(f"{RUN}:mergeable").json()["mergeOffers"]
        return found

    def merge(self, *names: str, **body: object) -> httpx2.Response:
        return self.http.post(f"{RUN}:merge", json={"sessions": list(names), **body})


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("merges")
    (folder / "root").mkdir()
    factory = HubFactory(folder)
    try:
        yield factory.start({"XPROF_HUB_STORAGE_ROOTS": str(folder / "root")}).url, folder / "root"
    finally:
        factory.stop_all()


@pytest.fixture
def merging(hub: tuple[str, Path], tmp_path: Path) -> Iterator[Merging]:
    """An empty run `r`."""
    url, root = hub
    own = root / tmp_path.name
    own.mkdir()
    with httpx2.Client(base_url=url, trust_env=False, timeout=120) as http:
        made = http.post("/v1/machineLearningRuns", params={"machineLearningRunId": "r"}, json={})
        assert made.status_code == 200
        yield Merging(http, own)
        http.delete("/v1/machineLearningRuns/r")


@pytest.fixture(scope="module")
def four_hosts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's session with fewer events: what is compared are hosts, not amounts."""
    folder = tmp_path_factory.mktemp("four") / "plugins" / "profile" / "four"
    write_session(folder, hosts=4, events=3000)
    return folder


@pytest.fixture
def apart(merging: Merging, four_hosts: Path) -> Merging:
    """Four hosts, each in a folder of its own and attached as a session."""
    for name, file in zip(NAMES, sorted(four_hosts.glob("*.xplane.pb")), strict=True):
        (merging.root / name).mkdir()
        shutil.copyfile(file, merging.root / name / file.name)
        merging.attach(name)
    return merging


def profile(times: tuple[int, int] | None, *hostnames: str) -> bytes:
    """A profile of one plane that was captured then, in nanoseconds, or doesn't say when."""
    parts = [plane("/host:CPU", line("python"))]
    if times is not None:
        names = stat_metadata(1, "profile_start_time") + stat_metadata(2, "profile_stop_time")
        values = b"".join(
            block(6, number(1, key) + number(3, value)) for key, value in enumerate(times, 1)
        )
        parts.append(plane("Task Environment", names + values))
    return b"".join(parts) + b"".join(block(4, name) for name in hostnames)


def resource(*names: str) -> list[str]:
    return [f"machineLearningRuns/r/profilerSessions/{name}" for name in names]


def test_four_folders_become_one_session_and_come_apart_again(apart: Merging) -> None:
    (offer,) = apart.offers()
    hosts = sorted(path.name.removesuffix(".xplane.pb") for path in apart.root.glob("*/*"))
    assert offer["sessions"] == resource(*NAMES)
    assert offer["hosts"] == hosts
    assert (offer["basis"], offer["overlapSeconds"] > 0) == ("profile", True)
    merged = apart.merge(*offer["sessions"]).json()
    assert merged["name"] == resource(f"{NAMES[0]}-merged")[0]
    assert merged["mergedFrom"] == resource(*NAMES)
    assert merged["storageFolderUris"] == [str(apart.root / name) for name in NAMES]
    assert [host["host"] for host in merged["hosts"]] == hosts
    assert (merged["foundHosts"], merged["expectedHosts"]) == (4, 4)
    assert apart.offers() == []
    listed = apart.http.get(RUN).json()["profilerSessions"]
    assert [entry.get("mergedFrom") for entry in listed].count(resource(*NAMES)) == 1
    assert len(listed) == 5
    again = apart.merge(NAMES[0], NAMES[1], profilerSessionId="other")
    assert (again.status_code, again.json()["error"]["status"]) == (409, "ALREADY_EXISTS")
    nested = apart.merge(f"{NAMES[0]}-merged", NAMES[1])
    assert (nested.status_code, nested.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert apart.http.delete(f"{RUN}/{NAMES[0]}-merged").status_code == 200
    assert apart.offers() == [offer]
    assert all(apart.http.get(f"{RUN}/{name}").json()["foundHosts"] == 1 for name in NAMES)


@pytest.fixture
def link(apart: Merging) -> str:
    """A link to the four folders as one session."""
    assert apart.merge(*NAMES, profilerSessionId="all").status_code == 200
    return str(apart.http.post(f"{RUN}/all/shareLinks", json={}).json()["uri"])


def test_a_link_answers_what_xprof_answers_for_all_hosts_in_one_folder(
    link: str, four_hosts: Path, tmp_path: Path
) -> None:
    files = sorted(four_hosts.glob("*.xplane.pb"))
    host = files[2].name.removesuffix(".xplane.pb")
    queries = [
        {"tag": "overview_page", "host": "ALL_HOSTS"},
        {"tag": "hlo_stats", "host": "ALL_HOSTS"},
        {"tag": "trace_viewer@", "resolution": "8000", "host": "ALL_HOSTS"},
    ]
    theirs = ask_xprof(files, tmp_path / "all", [("/data", query) for query in queries])
    queries.append({"tag": "op_profile", "host": host})
    theirs += ask_xprof([files[2]], tmp_path / "one", [("/data", queries[-1])])
    for query, expected in zip(queries, theirs, strict=True):
        parameters = urllib.parse.urlencode({"run": "all", **query})
        answer = get(f"{link}{PROFILE_PATH}/data?{parameters}")
        assert (answer.status, expected["status"]) == (200, 200), query
        assert unordered(json.loads(answer.body)) == unordered(json.loads(expected["body"])), query
    status = json.loads(get(f"{link}{PROFILE_PATH}/status").body)
    assert (status["state"], len(status["hosts"])) == ("ok", 4)


def test_a_merged_session_outlives_one_that_it_was_made_of(apart: Merging, link: str) -> None:
    assert apart.http.delete(f"{RUN}/{NAMES[1]}").status_code == 200
    merged = apart.http.get(f"{RUN}/all").json()
    assert (merged["foundHosts"], "problem" in merged) == (4, False)
    assert merged["mergedFrom"] == resource(*NAMES)
    assert get(f"{link}{PROFILE_PATH}/hosts?tag=overview_page").status == 200


def test_a_folder_that_is_lost_later_is_missed(apart: Merging, link: str) -> None:
    shutil.rmtree(apart.root / NAMES[1])
    merged = apart.http.get(f"{RUN}/all").json()
    assert (merged["foundHosts"], merged["problemReason"]) == (3, "missing_hosts")
    assert "3 of 4 hosts" in merged["problem"]
    assert len(json.loads(get(f"{link}{PROFILE_PATH}/status").body)["hosts"]) == 3


def test_a_host_that_appears_twice_later_hides_the_merged_session_only(
    apart: Merging, link: str
) -> None:
    (host_file,) = (apart.root / NAMES[0]).iterdir()
    host = host_file.name.removesuffix(".xplane.pb")
    shutil.copyfile(host_file, apart.root / NAMES[1] / host_file.name)
    merged = apart.http.get(f"{RUN}/all").json()
    assert (merged["hosts"], merged["problemReason"]) == ([], "malformed")
    assert f"“{host}” is in more than one" in merged["problem"]
    answer = get(f"{link}{PROFILE_PATH}/data?tag=overview_page&host=ALL_HOSTS")
    assert answer.status == 422
    assert apart.http.get(f"{RUN}/{NAMES[1]}").json()["foundHosts"] == 2
    assert apart.http.get(f"{RUN}/{NAMES[1]}/health").json()["usableHosts"] == 2


def test_commands_find_and_merge_sessions(apart: Merging) -> None:
    commands = Commands(str(apart.http.base_url))
    commands.environment["COLUMNS"] = "400"

    def run(*arguments: str) -> str:
        result = commands.run("sessions", *arguments)
        assert (result.exit_code, result.stderr) == (0, ""), result.output
        return result.stdout

    assert json.loads(run("mergeable", "r", "--json")) == apart.offers()
    row = run("mergeable", "r").splitlines()[1]
    assert row.startswith(" ".join(NAMES))
    assert row.rstrip().endswith("times in the profiles")
    assert run("merge", "r", *NAMES[:2], "--id", "first", "--name", "both") == "r/first\n"
    merged = json.loads(run("merge", "r", *NAMES[2:], "--json"))
    assert merged == apart.http.get(f"{RUN}/{NAMES[2]}-merged").json()
    shown = run("show", "r/first")
    for text in ("both", f"Merged from  {NAMES[0]}, {NAMES[1]}", "2 of 2"):
        assert text in shown


def test_captures_at_different_times_are_neither_offered_nor_merged(merging: Merging) -> None:
    start = 1_769_860_800 * SECOND
    merging.write("a", "vm0", profile((start, start + 9 * SECOND)))
    merging.write("b", "vm1", profile((start + 9 * SECOND, start + 20 * SECOND)))
    merging.write("c", "vm2", profile((start + 8 * SECOND, start + 20 * SECOND)))
    (offer,) = merging.offers()
    assert offer["sessions"] == resource("a", "c")
    assert (offer["startTime"], offer["endTime"]) == (
        "2026-01-31T12:00:00Z",
        "2026-01-31T12:00:20Z",
    )
    assert offer["overlapSeconds"] == 1.0
    answer = merging.merge("a", "b", "c")
    assert (answer.status_code, answer.json()["error"]["status"]) == (400, "FAILED_PRECONDITION")
    assert "'a' and 'b' were not captured at the same time" in answer.json()["error"]["message"]
    assert answer.json()["error"]["details"][0]["reason"] == "no_overlap"


def test_profiles_without_times_are_merged_by_their_folders_names(merging: Merging) -> None:
    merging.write("2026_01_31_12_00_00", "vm0", profile(None))
    merging.write("20260131_120059_141226", "vm1", profile(None))
    merging.write("2026_01_31_12_02_00", "vm2", profile(None))
    (offer,) = merging.offers()
    assert offer == {
        "sessions": resource("2026_01_31_12_00_00", "20260131_120059_141226"),
        "hosts": ["vm0", "vm1"],
        "basis": "folderName",
    }
    assert merging.merge(*offer["sessions"]).status_code == 200


def test_a_profile_that_names_its_hosts_tells_which_is_missing(merging: Merging) -> None:
    merging.write("s", "vm0", profile(None, "vm0", "vm1", "vm2"))
    (merging.root / "s" / "vm1.xplane.pb").write_bytes(profile(None, "vm1"))
    assert "problem" not in merging.http.get(f"{RUN}/s").json()  # nobody has looked yet
    health = merging.http.get(f"{RUN}/s/health").json()
    assert (health["foundHosts"], health["expectedHosts"], health["usableHosts"]) == (2, 3, 2)
    assert health["problemReason"] == "missing_hosts"
    assert "Only 2 of 3 hosts are here so far. Missing: vm2." in health["problem"]
    session = merging.http.get(f"{RUN}/s").json()
    assert (session["foundHosts"], session["expectedHosts"]) == (2, 3)
    assert session["problem"] == health["problem"]


def test_health_says_when_each_host_was_captured(merging: Merging) -> None:
    start = 1_769_860_800 * SECOND
    merging.write("s", "vm0", profile((start, start + 5), "vm0"))
    merging.write("t", "vm0", profile(None)[:-3])
    (row,) = merging.http.get(f"{RUN}/s/health").json()["hosts"]
    assert (row["startNs"], row["stopNs"], row["hostnames"]) == (start, start + 5, ["vm0"])
    damaged = merging.http.get(f"{RUN}/t/health").json()
    assert (damaged["usableHosts"], damaged["hosts"][0]["usable"]) == (0, False)
    assert damaged["problemReason"] == damaged["hosts"][0]["reason"]
    assert damaged["hosts"][0]["message"] in damaged["problem"]


def test_a_merge_that_is_asked_for_again_is_the_first_one(merging: Merging) -> None:
    for name, host in zip(NAMES[:2], ("vm0", "vm1"), strict=True):
        merging.write(name, host, profile((SECOND, 5 * SECOND)))

    def merge() -> httpx2.Response:
        body = {"sessions": list(NAMES[:2])}
        return merging.http.post(f"{RUN}:merge", params={"requestId": "id-1"}, json=body)

    with ThreadPoolExecutor(3) as pool:
        at_once = [future.result() for future in [pool.submit(merge) for _ in range(3)]]
    answers = [*at_once, merge()]
    assert [answer.status_code for answer in answers] == [200] * 4
    assert len({answer.json()["uid"] for answer in answers}) == 1
    assert [host["host"] for host in answers[-1].json()["hosts"]] == ["vm0", "vm1"]
    assert len(merging.http.get(RUN).json()["profilerSessions"]) == 3
    made = answers[0].json()
    since = f'verb = "merge" AND createTime >= "{made["createTime"]}"'
    told = merging.http.get("/v1/auditEvents", params={"filter": since}).json()["auditEvents"]
    assert [event["resource"] for event in told] == [made["name"]]
    # Without a name it is another request, and these are part of a merged session.
    assert merging.merge(*NAMES[:2]).status_code == 409


def test_people_merge_on_the_runs_page(merging: Merging) -> None:
    for name, host in zip(NAMES, ("h0", "h1"), strict=False):
        merging.write(name, host, profile((SECOND, 3 * SECOND)))
    offers = merging.http.get("/runs/r/mergeable", headers={"Accept": "text/html"}).text
    assert "2 sessions are hosts of one capture" in offers
    assert f'name="sessions" value="{NAMES[0]}/{NAMES[1]}"' in offers
    sent = {"sessions": f"{NAMES[0]}/{NAMES[1]}"}
    answer = merging.http.post("/runs/r/merge", data=sent, headers={"Accept": "text/html"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs/r")
    page = merging.http.get("/runs/r", headers={"Accept": "text/html"}).text
    assert f'href="/runs/r/sessions/{NAMES[0]}-merged"' in page
    assert "Merged of 2" in page
    left = merging.http.get("/runs/r/mergeable", headers={"Accept": "text/html"}).text
    assert "No sessions of this run are hosts of one capture" in left
