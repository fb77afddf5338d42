"""Runs and sessions that are deleted, come back, expire, are pinned or held, over HTTP on both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx2

from auth.identity import Role
from tests.contract.api_calls import create_run, error_of, new_session, token_for
from tests.services.api import Api

CONFLICT, EXISTS, MISSING = (409, "ABORTED"), (409, "ALREADY_EXISTS"), (404, "NOT_FOUND")
RUN = "/machineLearningRuns/r"


def names(api: Api, path: str, kind: str, **parameters: str) -> list[str]:
    return [one["name"] for one in api.http.get(path, params=parameters).json().get(kind, [])]


def test_a_session_comes_back_and_its_links_do_not(api: Api) -> None:
    path = new_session(api)
    link = api.http.post(f"{path}/shareLinks", json={}).json()
    assert api.http.delete(path).status_code == 200
    assert error_of(api.http.get(path)) == MISSING
    sessions = f"{RUN}/profilerSessions"
    assert names(api, sessions, "profilerSessions") == []
    assert api.http.get(RUN).json()["sessionCount"] == 0
    assert api.http.get(f"/{link['name']}").json()["state"] == "REVOKED"

    [deleted] = api.http.get(sessions, params={"showDeleted": "true"}).json()["profilerSessions"]
    assert deleted["name"] == "machineLearningRuns/r/profilerSessions/s"
    times = [datetime.fromisoformat(deleted[field]) for field in ("deleteTime", "purgeTime")]
    assert times[1] - times[0] == timedelta(days=7)

    back = api.http.post(f"{path}:undelete").json()
    assert (back["name"], "deleteTime" in back) == (deleted["name"], False)
    assert api.http.get(path).json()["uid"] == deleted["uid"]
    assert api.http.get(f"/{link['name']}").json()["state"] == "REVOKED"
    assert error_of(api.http.post(f"{path}:undelete")) == MISSING


def test_a_run_comes_back_with_the_sessions_that_it_had(api: Api) -> None:
    path = new_session(api)
    to_run = api.http.post(f"{RUN}/shareLinks", json={}).json()["name"]
    to_session = api.http.post(f"{path}/shareLinks", json={}).json()["name"]
    assert api.http.delete(RUN).status_code == 200
    assert error_of(api.http.get(RUN)) == error_of(api.http.get(path)) == MISSING
    assert names(api, "/machineLearningRuns", "machineLearningRuns") == []
    listed = names(api, "/machineLearningRuns", "machineLearningRuns", showDeleted="true")
    assert listed == ["machineLearningRuns/r"]
    assert api.http.post(f"{RUN}:undelete").json()["sessionCount"] == 1
    assert api.http.get(path).status_code == 200
    states = {api.http.get(f"/{name}").json()["state"] for name in (to_run, to_session)}
    assert states == {"REVOKED"}


def test_an_id_is_free_at_once_and_then_the_old_one_can_not_come_back(api: Api) -> None:
    path = new_session(api)
    first = api.http.get(RUN).json()["uid"]
    api.http.delete(path)
    assert new_session_again(api).status_code == 200
    assert error_of(api.http.post(f"{path}:undelete")) == EXISTS
    api.http.delete(RUN)
    assert create_run(api, "r").status_code == 200
    assert error_of(api.http.post(f"{RUN}:undelete")) == EXISTS
    assert api.http.get(RUN).json()["uid"] != first
    # The one that was deleted last is meant.
    api.http.delete(RUN)
    assert api.http.post(f"{RUN}:undelete").json()["uid"] != first


def new_session_again(api: Api) -> httpx2.Response:
    folder = f"{api.settings.storage_roots[0]}/logs of r/plugins/profile/s"
    return api.http.post(f"{RUN}/profilerSessions", json={"storageFolderUri": folder})


def test_what_is_held_is_not_deleted_by_anybody(guarded_api: Api) -> None:
    api = guarded_api
    editor, admin = (
        {"Authorization": f"Bearer {token_for(api, role)[1]}"} for role in (Role.EDITOR, Role.ADMIN)
    )
    api.http.headers.update(editor)
    path = new_session(api)
    api.http.patch(RUN, json={"runSet": "team/llama"})
    group = "/runGroups/team%2Fllama"
    for held in (path, RUN, group):
        assert error_of(api.http.patch(held, json={"held": True}))[0] == 403, held
        assert api.http.patch(held, json={"held": True}, headers=admin).json()["held"] is True
        kept = api.http.get(path).json()["keptBecause"]
        assert kept == [{path: "HELD", RUN: "RUN_HELD", group: "GROUP_HELD"}[held]]
        for target in (path, RUN):
            refused = api.http.delete(target, headers=admin)
            assert error_of(refused) == CONFLICT, (held, target)
            assert "hold" in refused.json()["error"]["message"]
        # Sent back as it was read, it changes nothing and is nobody's business.
        assert api.http.patch(held, json={"held": True}).status_code == 200
        assert error_of(api.http.patch(held, json={"held": False}))[0] == 403
        assert "held" not in api.http.patch(held, json={"held": False}, headers=admin).json()
    assert api.http.delete(RUN).status_code == 200


def test_expiry_pin_and_group_say_when_a_session_is_due(api: Api) -> None:
    path = new_session(api)
    made = datetime.fromisoformat(api.http.get(path).json()["createTime"])
    assert "dueTime" not in api.http.get(path).json()
    api.http.patch(RUN, json={"runSet": "g"})
    assert api.http.patch("/runGroups/g", json={"sessionDays": 30}).json()["sessionDays"] == 30
    assert due(api, path) == made + timedelta(days=30)
    own = datetime.now(UTC) + timedelta(days=2)
    sent = api.http.patch(path, json={"expireTime": own.isoformat()}).json()
    assert datetime.fromisoformat(sent["expireTime"]) == due(api, path) == own
    pinned = api.http.patch(path, json={"pinned": True}).json()
    assert (pinned["keptBecause"], "dueTime" in pinned) == (["PINNED"], False)
    api.http.patch(path, json={"pinned": False})
    soon = api.http.patch(path, json={"ttl": "1d"}).json()
    assert timedelta(hours=23) < due(api, path) - datetime.now(UTC) < timedelta(hours=25)
    assert "ttl" not in soon
    for body in (
        {"ttl": "1d", "expireTime": own.isoformat()},
        {"expireTime": "2020-01-01T00:00:00Z"},
    ):
        assert error_of(api.http.patch(path, json=body)) == (400, "INVALID_ARGUMENT")
    api.http.patch(path, params={"updateMask": "expireTime"}, json={})
    assert due(api, path) == made + timedelta(days=30)
    api.http.patch("/runGroups/g", params={"updateMask": "sessionDays"}, json={})
    assert "dueTime" not in api.http.get(path).json()


def due(api: Api, path: str) -> datetime:
    listed = api.http.get(path.rpartition("/")[0]).json()["profilerSessions"][0]["dueTime"]
    assert listed == api.http.get(path).json()["dueTime"]
    return datetime.fromisoformat(listed)


def test_groups_are_those_of_runs_and_those_that_were_spoken_of(api: Api) -> None:
    new_session(api)
    for run, group in (("r", "b/b"), ("r2", "a"), ("r3", "a")):
        create_run(api, run)
        api.http.patch(f"/machineLearningRuns/{run}", json={"runSet": group})
    assert error_of(api.http.get("/runGroups/c")) == MISSING
    assert error_of(api.http.patch("/runGroups/c", json={"note": "later"})) == MISSING
    made = api.http.patch("/runGroups/c", params={"allowMissing": "true"}, json={"note": "later"})
    first = api.http.get("/runGroups", params={"pageSize": 2}).json()
    rest = api.http.get("/runGroups", params={"pageToken": first["nextPageToken"]}).json()
    found = {one["name"]: one for one in first["runGroups"] + rest["runGroups"]}
    assert list(found) == ["runGroups/a", "runGroups/b/b", "runGroups/c"]
    counts = [(one["runCount"], one["sessionCount"]) for one in found.values()]
    assert counts == [(2, 0), (1, 1), (0, 0)]
    etag = made.json()["etag"]
    again = api.http.patch("/runGroups/c", json={"note": "now"}, headers={"If-Match": etag})
    assert again.json()["note"] == "now"
    late = api.http.patch("/runGroups/c", json={"note": "x"}, headers={"If-Match": etag})
    assert error_of(late) == CONFLICT
    for days in (0, -1, 36_501):
        refused = api.http.patch("/runGroups/c", json={"sessionDays": days})
        assert error_of(refused) == (400, "INVALID_ARGUMENT"), days
