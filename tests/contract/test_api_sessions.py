"""Attaching sessions through the API: what a location may be, and what is said when it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from auth.identity import Role
from tests.contract.api_calls import (
    PROFILE,
    attach,
    authorize,
    create_run,
    error_of,
    fields_of,
    new_session,
    run_path,
    session_path,
    token_for,
    write_profile,
)
from tests.services.api import Api


def test_a_session_folder_is_attached_under_its_own_name(api: Api) -> None:
    create_run(api, "r")
    folder = write_profile(api, "2026_01_31", "vm1", "vm0")
    answer = attach(api, "r", folder, displayName="step 10", expectedHosts=2)
    assert answer.status_code == 200
    session = answer.json()
    assert session["name"] == "machineLearningRuns/r/profilerSessions/2026_01_31"
    assert session["storageFolderUri"] == str(folder)
    assert (session["displayName"], session["expectedHosts"]) == ("step 10", 2)
    assert session["hosts"] == [
        {"host": name, "file": f"{name}.xplane.pb", "sizeBytes": len(PROFILE)}
        for name in ("vm0", "vm1")
    ]
    assert "problem" not in session
    read = api.http.get(session_path("r", "2026_01_31"))
    assert read.json() == session
    assert read.headers["etag"] == f'"{session["etag"]}"'


def test_a_log_directory_with_one_session_attaches_that_one(api: Api) -> None:
    create_run(api, "r")
    folder = write_profile(api, "only")
    for location in (folder.parents[2], f"{folder.parents[2]}/", folder.parent):
        answer = attach(api, "r", location)
        assert answer.json()["storageFolderUri"] == str(folder)
        assert api.http.delete(session_path("r", "only")).status_code == 200


def test_a_log_directory_with_several_sessions_names_them(api: Api) -> None:
    create_run(api, "r")
    folders = [write_profile(api, name) for name in ("one", "two")]
    answer = attach(api, "r", folders[0].parents[2])
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    details = answer.json()["error"]["details"]
    assert [detail["description"] for detail in details] == [str(folder) for folder in folders]


def test_a_single_file_is_a_session(api: Api) -> None:
    create_run(api, "r")
    file = write_profile(api, "s", "vm") / "vm.xplane.pb"
    session = attach(api, "r", file).json()
    assert session["name"] == "machineLearningRuns/r/profilerSessions/vm"
    assert [host["host"] for host in session["hosts"]] == ["vm"]


def test_the_id_may_be_chosen(api: Api) -> None:
    create_run(api, "r")
    folder = write_profile(api, "s")
    answer = api.http.post(
        f"{run_path('r')}/profilerSessions",
        params={"profilerSessionId": "mine"},
        json={"storage_folder_uri": str(folder)},
    )
    assert answer.json()["name"] == "machineLearningRuns/r/profilerSessions/mine"
    again = api.http.post(
        f"{run_path('r')}/profilerSessions",
        params={"profilerSessionId": "mine"},
        json={"storageFolderUri": str(folder)},
    )
    assert error_of(again) == (409, "ALREADY_EXISTS")


def test_places_without_a_profile_are_not_found(api: Api) -> None:
    create_run(api, "r")
    root = Path(api.settings.storage_roots[0])
    (root / "empty").mkdir()
    (root / "text.txt").write_text("no profile")
    for location in ("empty", "missing", "text.txt", "missing/vm.xplane.pb"):
        answer = attach(api, "r", root / location)
        assert error_of(answer) == (404, "NOT_FOUND")
        assert answer.json()["error"]["details"][0]["reason"] == "not_found"


def test_places_outside_the_roots_are_forbidden_whether_they_exist_or_not(api: Api) -> None:
    create_run(api, "r")
    root = Path(api.settings.storage_roots[0])
    outside = root.parent / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "vm.xplane.pb").write_bytes(PROFILE)
    (root / "way out").symlink_to(outside)
    places: list[Path | str] = [
        outside,
        root.parent / "missing",
        root / "way out",
        "/etc",
        "gs://someones-bucket/x",
    ]
    for place in [*places, f"{root}/../outside", "relative"]:
        answer = attach(api, "r", place)
        assert error_of(answer) == (403, "PERMISSION_DENIED"), place
        assert answer.json()["error"]["details"][0]["reason"] == "permission_denied"


def test_the_run_must_exist(api: Api) -> None:
    folder = write_profile(api, "s")
    assert error_of(attach(api, "r", folder)) == (404, "NOT_FOUND")
    assert error_of(api.http.get(f"{run_path('r')}/profilerSessions")) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "storageFolderUri"),
        ({"storageFolderUri": ""}, "storageFolderUri"),
        ({"storageFolderUri": "/x\0y"}, "storageFolderUri"),
        ({"storageFolderUri": "/x", "expectedHosts": 0}, "expectedHosts"),
        ({"storageFolderUri": "/x", "hostCount": 1}, "hostCount"),
    ],
)
def test_a_wrong_field_is_refused_by_name(api: Api, body: object, field: str) -> None:
    create_run(api, "r")
    answer = api.http.post(f"{run_path('r')}/profilerSessions", json=body)
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    assert fields_of(answer) == [field]


def test_late_and_lost_hosts_are_seen_at_the_next_look(api: Api) -> None:
    create_run(api, "r")
    folder = write_profile(api, "s", "vm0")
    assert "Only 1 of 2 hosts" in attach(api, "r", folder, expectedHosts=2).json()["problem"]
    (folder / "vm1.xplane.pb").write_bytes(PROFILE)
    session = api.http.get(session_path("r", "s")).json()
    assert [host["host"] for host in session["hosts"]] == ["vm0", "vm1"]
    assert "problem" not in session
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    answer = api.http.get(session_path("r", "s"))
    assert answer.status_code == 200
    assert answer.json()["hosts"] == []
    assert answer.json()["problemReason"] == "not_found"
    assert answer.json()["problem"]


def test_sessions_are_listed_newest_first(api: Api) -> None:
    create_run(api, "r")
    for number in range(5):
        attach(api, "r", write_profile(api, f"s{number}"))
    seen: list[str] = []
    token = ""
    for expected in (2, 2, 1):
        page = api.http.get(
            f"{run_path('r')}/profilerSessions", params={"pageSize": 2, "pageToken": token}
        ).json()
        assert len(page["profilerSessions"]) == expected
        seen += [session["displayName"] for session in page["profilerSessions"]]
        token = page["nextPageToken"]
    assert token == ""
    assert seen == ["s4", "s3", "s2", "s1", "s0"]


def test_taking_a_session_off_leaves_the_files(api: Api) -> None:
    path = new_session(api)
    location = Path(api.http.get(path).json()["storageFolderUri"])
    assert api.http.delete(path).json() == {}
    assert error_of(api.http.get(path)) == (404, "NOT_FOUND")
    assert [file.name for file in location.iterdir()] == ["vm.xplane.pb"]


def test_a_job_attaches_only_what_lies_where_its_run_writes(guarded_api: Api) -> None:
    """adr/027, adr/036: one token serves all jobs of a team."""
    authorize(guarded_api)
    inside = write_profile(guarded_api, "one", log_directory="mine/r")
    outside = write_profile(guarded_api, "two", log_directory="mine of others/r")
    create_run(guarded_api, "r", storageRoot=str(inside.parents[3]))
    create_run(guarded_api, "free")
    _, job = token_for(guarded_api, Role.INGEST)
    as_admin = guarded_api.http.headers["Authorization"]
    guarded_api.http.headers["Authorization"] = f"Bearer {job}"
    assert attach(guarded_api, "r", inside).status_code == 200
    upwards = f"{inside.parents[3]}/../mine of others/r/plugins/profile/two"
    for place in (outside, upwards):
        assert error_of(attach(guarded_api, "r", place)) == (403, "PERMISSION_DENIED"), place
    # A run that says nothing of where it writes is not bound, and people are not.
    assert attach(guarded_api, "free", outside).status_code == 200
    guarded_api.http.headers["Authorization"] = as_admin
    assert attach(guarded_api, "r", outside).status_code == 200
