"""`/v1/comparisons` and `xprof-hub compare`: numbers, what is still to come, and which side is at fault."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from auth.identity import Role
from tests.contract.api_calls import (
    attach,
    create_run,
    error_of,
    fields_of,
    token_for,
    write_profile,
)
from tests.contract.commands import Commands
from tests.known_figures import figures, keep_figures
from tests.services.api import Api, ApiServers

LEFT = "machineLearningRuns/before/profilerSessions/s"
RIGHT = "machineLearningRuns/after/profilerSessions/s"
HOSTILE = "<img src=x onerror=alert(1)>"


def compare(api: Api, left: str = LEFT, right: str = RIGHT, **more: str) -> httpx2.Response:
    return api.http.get("/comparisons", params={"left": left, "right": right, **more})


def make_pair(api: Api) -> None:
    """Two runs of one session each; the right one's steps take half as long again."""
    for run, batch in (("before", 256), ("after", 512)):
        create_run(api, run, configs={"userConfigs": {"batch": batch, "seed": 1}})
        assert attach(api, run, write_profile(api, "s", log_directory=run)).status_code == 200
    keep_figures(api, "before", "s", figures(1.0, 3.0, ops={"add": 80.0, HOSTILE: 40.0}))
    keep_figures(api, "after", "s", figures(3.0, 3.0, ops={"add": 160.0, "new": 8.0}))


@pytest.fixture
def one_api(api_servers: ApiServers) -> Api:
    """A development server; one database is enough for what doesn't ask it."""
    return api_servers.get("sqlite", "dev")


def test_two_sessions_are_compared(api: Api) -> None:
    make_pair(api)
    answer = compare(api)
    assert answer.status_code == 200, answer.text
    found: Any = answer.json()
    assert found["state"] == "READY"
    assert found["left"]["name"] == LEFT
    assert found["right"]["dashboardUri"].endswith("/runs/after/sessions/s/data/plugin/profile/")
    assert found["left"]["stepTimesMs"] == [1.0, 3.0]
    assert found["stepTime"]["averageMs"] == {
        "left": 2.0,
        "right": 3.0,
        "difference": 1.0,
        "percent": 50.0,
    }
    assert found["stepTime"]["medianMs"]["left"] == 2.0
    assert found["utilisation"]["dutyCyclePercent"]["difference"] == 0.0
    assert found["memory"]["peakBytes"]["right"] == 3_000_000_000
    assert found["opBasis"] == "STEP"
    # Two steps on four cores: an eighth of each time.
    assert [(op["name"], op["standing"], op["timeUs"]["difference"]) for op in found["ops"]] == [
        ("add", "BOTH", 10.0),
        (HOSTILE, "REMOVED", -5.0),
        ("new", "ADDED", 1.0),
    ]
    assert found["opCount"] == 3
    assert found["configs"] == [{"name": "userConfigs.batch", "left": "256", "right": "512"}]
    assert found["sameConfigCount"] == 1
    assert found["warnings"] == []
    assert len(compare(api, opLimit="1").json()["ops"]) == 1
    assert compare(api, "before/s", "after/s").json() == found


def test_the_same_session_on_both_sides_differs_in_nothing(one_api: Api) -> None:
    make_pair(one_api)
    found = compare(one_api, LEFT, LEFT).json()
    assert found["stepTime"]["averageMs"]["percent"] == 0.0
    assert {op["timeUs"]["difference"] for op in found["ops"]} == {0.0}
    assert found["configs"] == []


def test_figures_that_are_being_made_are_awaited(one_api: Api) -> None:
    make_pair(one_api)
    write_profile(one_api, "later", log_directory="later")
    folder = write_profile(one_api, "t", log_directory="later")
    assert attach(one_api, "after", folder).status_code == 200
    answer = compare(one_api, right="after/t")
    assert (answer.status_code, answer.headers["retry-after"]) == (202, "1")
    found = answer.json()
    assert (found["state"], found["left"]["state"], found["right"]["state"]) == (
        "PENDING",
        "READY",
        "PENDING",
    )
    assert "stepTime" not in found
    # Figures of other files than those that lie there now are none.
    keep_figures(one_api, "after", "t", figures(1.0))
    assert compare(one_api, right="after/t").json()["state"] == "READY"
    (folder / "another.xplane.pb").write_bytes(b"\x0a\x01x")
    assert compare(one_api, right="after/t").json()["state"] == "PENDING"


def test_a_side_without_figures_says_why(one_api: Api) -> None:
    make_pair(one_api)
    keep_figures(one_api, "after", "s", None, "The profile is damaged.")
    answer = compare(one_api)
    assert answer.status_code == 200
    found = answer.json()
    assert (found["state"], found["right"]["state"]) == ("FAILED", "FAILED")
    assert found["right"]["problem"] == "The profile is damaged."
    assert "problem" not in found["left"]


def test_a_side_whose_files_are_gone_says_so(one_api: Api) -> None:
    make_pair(one_api)
    folder = write_profile(one_api, "gone", log_directory="gone")
    attach(one_api, "after", folder)
    for path in folder.iterdir():
        path.unlink()
    found = compare(one_api, right="after/gone").json()
    assert found["right"]["state"] == "FAILED"
    assert "holds no profile" in found["right"]["problem"]


def test_missing_hosts_are_a_warning(one_api: Api) -> None:
    make_pair(one_api)
    one_api.http.patch(f"/{RIGHT}", json={"expectedHosts": 4})
    assert compare(one_api).json()["warnings"] == ["The right session has 1 of 4 hosts."]


def test_errors_name_the_side(one_api: Api) -> None:
    make_pair(one_api)
    missing, wrong = (404, "NOT_FOUND"), (400, "INVALID_ARGUMENT")
    for left, right, expected, field in (
        ("before/s", "after/nothing", missing, "right"),
        ("nothing/s", "after/s", missing, "left"),
        ("before", "after/s", wrong, "left"),
        ("before/s", "", wrong, "right"),
        ("before/s", "shareLinks/a/b/c", wrong, "right"),
        ("before/s", "after/s\0", wrong, "right"),
        ("before/s", f"after/{HOSTILE}/", wrong, "right"),
    ):
        answer = compare(one_api, left, right)
        assert error_of(answer) == expected
        assert fields_of(answer) == [field]
        assert answer.json()["error"]["message"].startswith(field)


def test_a_deleted_session_is_compared_no_more(one_api: Api) -> None:
    make_pair(one_api)
    one_api.http.delete(f"/{RIGHT}")
    assert error_of(compare(one_api)) == (404, "NOT_FOUND")


def test_jobs_compare_nothing_and_viewers_do(guarded_api: Api) -> None:
    _, admin = token_for(guarded_api, Role.ADMIN)
    guarded_api.http.headers["Authorization"] = f"Bearer {admin}"
    make_pair(guarded_api)
    for role, status in ((Role.INGEST, 403), (Role.VIEWER, 200)):
        _, secret = token_for(guarded_api, role)
        guarded_api.http.headers["Authorization"] = f"Bearer {secret}"
        assert compare(guarded_api).status_code == status


def test_the_command_prints_what_the_api_answers(one_api: Api) -> None:
    make_pair(one_api)
    hub = Commands(one_api.url)
    result = hub.run("compare", "before/s", "after/s")
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    rows = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "Step, average 2.000 ms 3.000 ms +1.000 ms +50.0 %" in rows
    assert "10.00 µs 20.00 µs +10.00 µs +100.0 % add" in rows
    assert f"5.000 µs 0.000 µs \N{MINUS SIGN}5.000 µs gone {HOSTILE}" in rows
    assert "userConfigs.batch 256 512" in rows
    assert hub.json("compare", "before/s", "after/s", "--ops", "50") == compare(one_api).json()


def test_slower_steps_have_an_exit_status(one_api: Api) -> None:
    make_pair(one_api)
    hub = Commands(one_api.url)
    said = {7: "longer on the right", 0: "may be", 1: "can't be judged"}
    for times, limit, status in (
        ((3.0, 3.0), "5%", 7),
        ((3.0, 3.0), "49.99", 7),
        ((3.0, 3.0), "50%", 0),
        ((1.0, 1.0), "0", 0),
        ((), "5%", 1),
    ):
        keep_figures(one_api, "after", "s", figures(*times))
        result = hub.run("compare", "before/s", "after/s", "--fail-above", limit, "--json")
        assert result.exit_code == status, result.output
        assert json.loads(result.stdout)["state"] == "READY"
        assert said[status] in result.stderr


def test_the_command_says_which_side_is_at_fault(one_api: Api) -> None:
    make_pair(one_api)
    hub = Commands(one_api.url)
    assert "right: There is no session" in hub.complaint("compare", "before/s", "after/x", status=3)
    hub.complaint("compare", "before", "after/x", status=2)
    for wrong in ("much", "-1", "nan", "inf"):
        hub.complaint("compare", "before/s", "after/s", f"--fail-above={wrong}", status=2)
    keep_figures(one_api, "after", "s", None, "The profile is damaged.")
    assert "right: The profile is damaged." in hub.complaint("compare", "before/s", "after/s")
    attach(one_api, "after", write_profile(one_api, "t", log_directory="t"))
    complaint = hub.complaint("compare", "before/s", "after/t", "--wait", "0")
    assert "not made in time" in complaint
