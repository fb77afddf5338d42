"""The audit log over HTTP: every change by one event, no failure by any, and no secret in one."""

from __future__ import annotations

import json

from auth.identity import Role
from tests.contract.api_calls import create_run, error_of, token_for, write_profile
from tests.contract.audited_changes import MADE, RUN, changes, send
from tests.contract.commands import Commands
from tests.contract.test_api_access import CALLS, call
from tests.services.api import Api

NEEDS_A_WORKER = {("POST", f"/{RUN}/profilerSessions:merge")}
"""Changes that these hubs can't make: `tests.integration.test_session_merges` does."""


def admin_of(api: Api) -> tuple[str, str]:
    """Id and secret of an admin's token; the client calls with it from now on."""
    token_id, secret = token_for(api, Role.ADMIN)
    api.http.headers["Authorization"] = f"Bearer {secret}"
    return token_id, secret


def events_of(api: Api, condition: str = "") -> list[dict[str, object]]:
    """All events that a filter leaves, oldest first."""
    answer = api.http.get("/auditEvents:export", params={"filter": condition})
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def test_every_change_is_written_down_once_without_its_secrets(guarded_api: Api) -> None:
    token_id, admin = admin_of(guarded_api)
    folders = [str(write_profile(guarded_api, name, log_directory=name)) for name in ("s", "t")]
    made: dict[str, str] = {}
    secrets, done = [admin], changes(folders)
    for change in done:
        answer = send(guarded_api, change, made)
        assert answer.status_code == 200, (change, answer.text)
        event = events_of(guarded_api)[-1]
        told = answer.json()
        secrets += [told["token"]] if "token" in told else []
        resource = told["name"] if change.resource == MADE else change.resource.format(**made)
        assert (event["action"], event["verb"], event["resource"]) == (
            *(change.action, change.verb),
            resource,
        ), change
        assert (event["actor"], event["actorName"]) == (f"token:{token_id}", "admin")
        assert event["address"] == "127.0.0.1"
    exported = events_of(guarded_api)
    assert len(exported) == len(done)
    assert len(secrets) == 4  # the admin's, two links', and a new token's
    for secret in secrets:
        assert secret[4:] not in json.dumps(exported)
    changing = {route for route in CALLS if route[0] != "GET"}
    assert changing - {change.route for change in done} == NEEDS_A_WORKER


def test_what_fails_or_only_reads_is_not_written_down(guarded_api: Api) -> None:
    """Nobody is let in, may not, names what is not there, or sends what can't be."""
    _, viewer = token_for(guarded_api, Role.VIEWER)
    admin_of(guarded_api)
    for method, path in CALLS:
        if method == "GET":
            call(guarded_api, method, path)
            continue
        call(guarded_api, method, path, Authorization="Bearer nobody")
        call(guarded_api, method, path, Authorization=f"Bearer {viewer}")
        if "/" in path[1:]:
            answer = call(guarded_api, method, path)
            assert answer.status_code in {400, 404}, (method, path, answer.text)
        guarded_api.http.request(method, path, content=b"{")
    # A job that sends nonsense goes on.
    assert events_of(guarded_api) == []


def test_events_are_listed_in_pages_and_read_one_by_one(guarded_api: Api) -> None:
    admin_of(guarded_api)
    for run in ("a", "b", "c"):
        create_run(guarded_api, run)
    get = guarded_api.http.get
    first = get("/auditEvents", params={"pageSize": 2}).json()
    rest = get("/auditEvents", params={"pageToken": first["nextPageToken"], "pageSize": 2}).json()
    listed = [*first["auditEvents"], *rest["auditEvents"]]
    assert [one["resource"][-1] for one in listed] == ["c", "b", "a"]
    assert rest["nextPageToken"] == ""
    assert events_of(guarded_api) == listed[::-1]
    oldest = get("/auditEvents", params={"orderBy": "createTime"}).json()["auditEvents"]
    assert oldest == listed[::-1]
    asked = {"filter": 'resource = "machineLearningRuns/b"'}
    assert get("/auditEvents", params=asked).json()["auditEvents"] == [listed[1]]
    assert get(f"/{listed[1]['name']}").json() == listed[1]
    assert error_of(get("/auditEvents/nothing")) == (404, "NOT_FOUND")
    for path in ("/auditEvents", "/auditEvents:export"):
        answer = get(path, params={"filter": "nobody = 1"})
        assert error_of(answer) == (400, "INVALID_ARGUMENT")
    assert error_of(get("/auditEvents", params={"orderBy": "actor"})) == (400, "INVALID_ARGUMENT")


def test_a_creation_that_is_sent_again_is_one_event(api: Api) -> None:
    query = {"machineLearningRunId": "r", "requestId": "one"}
    for _ in range(2):
        assert api.http.post("/machineLearningRuns", params=query, json={}).status_code == 200
    job = {"requestId": "two"}
    for _ in range(2):
        answer = api.http.patch("/machineLearningRuns", params=job, json={"logicalId": "r"})
        assert answer.status_code == 200
    assert [(one["verb"], one["details"]) for one in events_of(api)] == [
        *(("create", {}), ("register", {"attempt": 1})),
    ]
    assert {one["actor"] for one in events_of(api)} == {"user:local"}


def test_of_a_job_its_starts_are_written_down_and_not_its_signs_of_life(guarded_api: Api) -> None:
    token_id, job = token_for(guarded_api, Role.INGEST)
    headers = {"Authorization": f"Bearer {job}"}
    runs = "/machineLearningRuns"
    report = {"updateMask": "workload.state", "allowMissing": "true"}
    for path, query, body in (
        (runs, {}, {"logicalId": "r"}),
        (f"{runs}/r", report, {"workload": {"state": "STATE_RUNNING"}}),
        (runs, {}, ["no object"]),
    ):
        answer = guarded_api.http.patch(path, params=query, json=body, headers=headers)
        assert answer.status_code == 200, answer.text
    admin_of(guarded_api)
    (event,) = events_of(guarded_api)
    assert (event["actor"], event["action"], event["verb"], event["resource"]) == (
        *(f"token:{token_id}", "runs.register"),
        *("register", RUN),
    )


def test_commands_list_show_and_export(guarded_api: Api) -> None:
    token_id, admin = admin_of(guarded_api)
    for run in ("a", "b", "c"):
        create_run(guarded_api, run)
    commands = Commands(guarded_api.url, admin)
    exported = [json.loads(line) for line in commands.lines("audit", "export")]
    assert exported == events_of(guarded_api) == commands.json("audit", "export")
    condition = ("--filter", 'resource : "b"')
    assert [json.loads(one) for one in commands.lines("audit", "export", *condition)] == [
        exported[1]
    ]
    head, *rows = commands.lines("audit", "list", "--limit", "2")
    assert head.split() == ["EVENT", "TIME", "WHO", "DID", "TO", "FROM"]
    assert [row.split()[-4:] for row in rows] == [
        ["admin", "create", run, "127.0.0.1"] for run in ("c", "b")
    ]
    event = str(exported[0]["name"]).removeprefix("auditEvents/")
    told = dict(line.split(maxsplit=1) for line in commands.lines("audit", "show", event))
    assert (told["Event"], told["Actor"]) == (event, f"token:{token_id} admin")
    assert (told["Action"], told["Resource"]) == ("runs.register", "machineLearningRuns/a")
    _, viewer = token_for(guarded_api, Role.VIEWER)
    assert "audit.read" in Commands(guarded_api.url, viewer).complaint("audit", "list", status=4)
