"""Runs through the API, over HTTP, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.contract.api_calls import create_run, error_of, fields_of, new_session, run_path
from tests.services.api import Api

BODY = {
    "displayName": "Llama 8B",
    "labels": {"team": "perf"},
    "runSet": "llama",
    "configs": {"userConfigs": {"batch": "64", "mixed_Case": [1, None, {"x": 2.5}]}},
    "artifacts": {"gcsPath": "gs://bucket/runs"},
}


def test_a_run_is_created_and_read_back(api: Api) -> None:
    before = datetime.now(UTC)
    created = create_run(api, "my-run", **BODY)
    assert created.status_code == 200
    run = created.json()
    assert {name: run[name] for name in BODY} == BODY
    assert run["name"] == "machineLearningRuns/my-run"
    assert run["uid"]
    assert run["creator"] == "local"
    assert before <= datetime.fromisoformat(run["createTime"]) <= datetime.now(UTC)
    read = api.http.get(run_path("my-run"))
    assert read.json() == run
    assert read.headers["etag"] == f'"{run["etag"]}"'
    assert read.headers["cache-control"] == "no-store"


def test_an_id_is_made_up_when_none_is_given(api: Api) -> None:
    first = api.http.post("/machineLearningRuns", json={"displayName": "a"}).json()["name"]
    second = api.http.post("/machineLearningRuns", json={"displayName": "a"}).json()["name"]
    assert first != second
    assert api.http.get(f"/{first}").status_code == 200


def test_snake_case_is_understood_everywhere(api: Api) -> None:
    created = api.http.post(
        "/machineLearningRuns",
        params={"machine_learning_run_id": "r"},
        json={"display_name": "a", "run_set": "b"},
    ).json()
    assert (created["name"], created["displayName"], created["runSet"]) == (
        "machineLearningRuns/r",
        "a",
        "b",
    )
    changed = api.http.patch(
        run_path("r"), params={"update_mask": "display_name"}, json={"display_name": "c"}
    ).json()
    assert (changed["displayName"], changed["runSet"]) == ("c", "b")
    listed = api.http.get("/machineLearningRuns", params={"page_size": 1, "order_by": "name"})
    assert len(listed.json()["machineLearningRuns"]) == 1


def test_a_second_run_of_the_same_id_is_refused(api: Api) -> None:
    first = create_run(api, "r", displayName="first").json()
    assert error_of(create_run(api, "r", displayName="second")) == (409, "ALREADY_EXISTS")
    assert api.http.get(run_path("r")).json() == first


def test_a_change_touches_only_what_the_mask_names(api: Api) -> None:
    created = create_run(api, "r", **BODY).json()
    changed = api.http.patch(
        run_path("r"),
        params={"updateMask": "displayName,labels"},
        json={"displayName": "new", "runSet": "ignored"},
    ).json()
    assert (changed["displayName"], changed["labels"]) == ("new", {})
    assert (changed["runSet"], changed["configs"]) == (created["runSet"], created["configs"])
    assert changed["etag"] != created["etag"]
    assert changed["uid"] == created["uid"]
    assert changed["updateTime"] >= created["updateTime"]


def test_without_a_mask_a_change_touches_what_the_body_holds(api: Api) -> None:
    create_run(api, "r", **BODY)
    changed = api.http.patch(run_path("r"), json={"runSet": "new"}).json()
    assert (changed["runSet"], changed["displayName"]) == ("new", "Llama 8B")


def test_a_star_replaces_everything(api: Api) -> None:
    run = create_run(api, "r", **BODY).json()
    run["displayName"] = "new"
    del run["runSet"]
    changed = api.http.patch(run_path("r"), params={"updateMask": "*"}, json=run).json()
    assert (changed["displayName"], changed["runSet"]) == ("new", "")
    assert changed["configs"] == BODY["configs"]


@pytest.mark.parametrize("how", ["body", "header"])
def test_a_change_of_an_older_state_is_refused(api: Api, how: str) -> None:
    old = create_run(api, "r", displayName="one").json()["etag"]
    current = api.http.patch(run_path("r"), json={"displayName": "two", "etag": old}).json()
    assert current["displayName"] == "two"
    body = {"displayName": "three"} | ({"etag": old} if how == "body" else {})
    headers = {"If-Match": f'"{old}"'} if how == "header" else {}
    refused = api.http.patch(run_path("r"), json=body, headers=headers)
    assert error_of(refused) == (409, "ABORTED")
    assert api.http.get(run_path("r")).json() == current
    gone = api.http.request("DELETE", run_path("r"), headers={"If-Match": f'"{old}"'})
    assert error_of(gone) == (409, "ABORTED")
    assert api.http.delete(run_path("r"), params={"etag": current["etag"]}).status_code == 200


def test_a_deleted_run_takes_its_sessions_and_links_along(api: Api) -> None:
    session = new_session(api)
    link = api.http.post(f"{session}/shareLinks", json={}).json()
    assert api.http.delete(run_path("r")).json() == {}
    for path in (run_path("r"), session, f"{session}/shareLinks"):
        assert error_of(api.http.get(path)) == (404, "NOT_FOUND")
    assert api.http.get(f"/{link['name']}").json()["state"] == "REVOKED"
    assert error_of(api.http.delete(run_path("r"))) == (404, "NOT_FOUND")


def test_pages_hold_every_run_once_while_others_are_added(api: Api) -> None:
    names = [f"run {number:02}" for number in range(12)]
    for name in names:
        create_run(api, name)
    seen: list[str] = []
    token = ""
    while True:
        page = api.http.get(
            "/machineLearningRuns", params={"pageSize": 5, "pageToken": token}
        ).json()
        seen += [
            run["name"].removeprefix("machineLearningRuns/") for run in page["machineLearningRuns"]
        ]
        create_run(api, f"late {len(seen)}")
        token = page["nextPageToken"]
        if not token:
            break
    assert seen == names[::-1]


def test_lists_are_sorted_and_filtered(api: Api) -> None:
    for name, run_set in (("b", "x"), ("a", "y"), ("c", "x")):
        create_run(api, name, displayName=name, runSet=run_set, labels={"first": name})

    def listed(**parameters: str) -> list[str]:
        answer = api.http.get("/machineLearningRuns", params=parameters).json()
        return [run["displayName"] for run in answer["machineLearningRuns"]]

    assert listed() == ["c", "a", "b"]
    assert listed(orderBy="createTime") == ["b", "a", "c"]
    assert listed(orderBy="displayName desc") == ["c", "b", "a"]
    assert listed(orderBy="name", filter='runSet = "x"') == ["b", "c"]
    assert listed(filter='labels.first = "a" AND runSet = "y"') == ["a"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"displayNam": "typo"}, "displayNam"),
        ({"displayName": 5}, "displayName"),
        ({"displayName": "a\nb"}, "displayName"),
        ({"displayName": "\0"}, "displayName"),
        ({"displayName": "x" * 501}, "displayName"),
        ({"labels": {"a": 1}}, "labels.a"),
        ({"labels": ["a"]}, "labels"),
        ({"configs": "x"}, "configs"),
        ([], "body"),
        ("text", "body"),
    ],
)
def test_a_wrong_field_is_refused_by_name(api: Api, body: object, field: str) -> None:
    answer = api.http.post("/machineLearningRuns", json=body)
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    assert fields_of(answer)[0].startswith(field)
    assert field in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"{", "application/json"),
        (b"", "application/json"),
        (b"{}", "text/plain"),
        (b"\xff\xfe", "application/json"),
        (b'{"displayName": "\\ud800"}', "application/json"),
        (b'{"configs": {"a": NaN}}', "application/json"),
        (b'{"configs": {"a": ' + b"[" * 3000 + b"]" * 3000 + b"}}", "application/json"),
        (b'{"configs": {"a": ' + b"[" * 30 + b"]" * 30 + b"}}", "application/json"),
        (b"[" * 100_000, "application/json"),
    ],
)
def test_a_body_that_can_not_be_read_is_refused(api: Api, content: bytes, kind: str) -> None:
    answer = api.http.post("/machineLearningRuns", content=content, headers={"Content-Type": kind})
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    assert api.http.get("/machineLearningRuns").json()["machineLearningRuns"] == []


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"pageSize": "x"}, "pageSize"),
        ({"pageSize": "-1"}, "pageSize"),
        ({"pageToken": "x"}, "pageToken"),
        ({"orderBy": "size"}, "orderBy"),
        ({"filter": "size > 1"}, "filter"),
        ({"pagesize": "1"}, "pagesize"),
    ],
)
def test_a_wrong_parameter_is_refused_by_name(
    api: Api, parameters: dict[str, str], field: str
) -> None:
    answer = api.http.get("/machineLearningRuns", params=parameters)
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    assert fields_of(answer) == [field]


def test_a_thousand_at_most_on_a_page(api: Api) -> None:
    assert api.http.get("/machineLearningRuns", params={"pageSize": 5000}).status_code == 200


def test_a_name_in_the_body_must_be_the_one_of_the_path(api: Api) -> None:
    create_run(api, "r")
    answer = api.http.patch(run_path("r"), json={"name": "machineLearningRuns/other"})
    assert fields_of(answer) == ["name"]


def test_strange_but_lawful_text_in_configs_comes_back_unchanged(api: Api) -> None:
    configs = {"a\tb\n": ["line\r\nline", "\ufffe", "\U0010ffff", "\u202e", ""], "": {"": None}}
    assert create_run(api, "r", configs=configs).json()["configs"] == configs
    assert api.http.get(run_path("r")).json()["configs"] == configs


BAD_TEXTS = ("\\u0000", "\\u001b", "\\u007f", "\\u0085", "\\ud800", "\\udfff", "\\ude00\\ud83d")
PLACES_FOR_TEXT = (
    '{"configs": {"a": "%s"}}',
    '{"configs": {"%s": 1}}',
    '{"configs": {"a": [{"b": {"x%sy": {}}}]}}',
    '{"configs": {"a": [1, [["%s"]]]}}',
    '{"artifacts": {"gcsPath": "gs://%s"}}',
    '{"artifacts": {"%s": 1}}',
    '{"labels": {"%s": "x"}}',
    '{"labels": {"x": "%s"}}',
    '{"displayName": "%s"}',
    '{"runSet": "%s"}',
    '{"%s": 1}',
    '"%s"',
    '["%s"]',
)


@pytest.mark.parametrize("place", PLACES_FOR_TEXT)
def test_text_that_can_not_be_stored_and_sent_is_refused_wherever_it_stands(
    api: Api, place: str
) -> None:
    run = create_run(api, "r", configs={"a": "b"}).json()
    headers = {"Content-Type": "application/json"}
    for text in BAD_TEXTS:
        content = place.replace("%s", text)
        for method, path in (("POST", "/machineLearningRuns"), ("PATCH", run_path("r"))):
            answer = api.http.request(method, path, content=content, headers=headers)
            assert error_of(answer) == (400, "INVALID_ARGUMENT"), (method, content)
    assert api.http.get("/machineLearningRuns").json()["machineLearningRuns"] == [run]


@pytest.mark.parametrize("field", ["name", "uid", "etag", "creator"])
def test_halves_of_characters_in_what_the_server_sets_do_no_harm(api: Api, field: str) -> None:
    create_run(api, "r")
    content = f'{{"{field}": "\\ud800", "displayName": "new"}}'
    headers = {"Content-Type": "application/json"}
    for method, path in (("POST", "/machineLearningRuns"), ("PATCH", run_path("r"))):
        answer = api.http.request(method, path, content=content, headers=headers)
        assert answer.status_code in {200, 400, 409}
        assert "\\ud800" not in answer.text
    assert api.http.get("/machineLearningRuns").status_code == 200
