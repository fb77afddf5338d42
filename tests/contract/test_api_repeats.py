"""Creations that are sent again under one requestId (AIP-155), on both databases."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from shutil import rmtree

import httpx2
import pytest

from auth.identity import Role
from tests.contract.api_calls import (
    attach,
    create_run,
    error_of,
    new_session,
    run_path,
    session_path,
    token_for,
    write_profile,
)
from tests.services.api import Api

RUNS = "/machineLearningRuns"


def post(api: Api, path: str, request_id: str, **body: object) -> httpx2.Response:
    return api.http.post(path, params={"requestId": request_id}, json=body)


def names_of(api: Api, path: str, field: str) -> list[str]:
    return [one["name"] for one in api.http.get(path).json()[field]]


def at_once(call: Callable[[], httpx2.Response]) -> list[httpx2.Response]:
    with ThreadPoolExecutor(6) as pool:
        return [future.result() for future in [pool.submit(call) for _ in range(6)]]


def test_a_run_that_is_asked_for_again_is_the_first_one(api: Api) -> None:
    first = post(api, RUNS, "id-1", displayName="a").json()
    assert post(api, RUNS, "id-1", displayName="a").json() == first
    assert names_of(api, RUNS, "machineLearningRuns") == [first["name"]]
    assert post(api, RUNS, "id-2", displayName="a").json()["name"] != first["name"]


def test_runs_that_are_asked_for_at_once_are_one(api: Api) -> None:
    answers = at_once(lambda: post(api, RUNS, "id-1", displayName="a"))
    assert [answer.status_code for answer in answers] == [200] * 6
    assert len({answer.json()["uid"] for answer in answers}) == 1
    assert len(names_of(api, RUNS, "machineLearningRuns")) == 1


def test_a_chosen_id_and_a_request_id_go_together(api: Api) -> None:
    def ask() -> httpx2.Response:
        parameters = {"machineLearningRunId": "r", "requestId": "id-1"}
        return api.http.post(RUNS, params=parameters, json={"displayName": "a"})

    first = ask().json()
    assert ask().json() == first
    # The id is taken; only the same request may find it.
    assert error_of(create_run(api, "r", displayName="a")) == (409, "ALREADY_EXISTS")


def test_another_request_under_the_same_name_changes_nothing(api: Api) -> None:
    first = post(api, RUNS, "id-1", displayName="a").json()
    create_run(api, "r")
    for path, body in (
        (RUNS, {"displayName": "b"}),
        ("/apiTokens", {"displayName": "a"}),
        (f"{run_path('r')}/shareLinks", {}),
        (
            f"{run_path('r')}/profilerSessions",
            {"storageFolderUri": str(write_profile(api, "s"))},
        ),
    ):
        answer = post(api, path, "id-1", **body)
        assert error_of(answer) == (409, "ALREADY_EXISTS")
        assert "requestId 'id-1'" in answer.json()["error"]["message"]
    assert api.http.get(f"/{first['name']}").json() == first
    assert len(names_of(api, RUNS, "machineLearningRuns")) == 2
    assert names_of(api, "/apiTokens", "apiTokens") == []
    assert names_of(api, "/shareLinks", "shareLinks") == []
    assert names_of(api, f"{run_path('r')}/profilerSessions", "profilerSessions") == []


def test_a_run_that_is_gone_is_not_made_again(api: Api) -> None:
    first = post(api, RUNS, "id-1").json()
    api.http.delete(f"/{first['name']}")
    assert error_of(post(api, RUNS, "id-1")) == (404, "NOT_FOUND")


def test_a_session_that_is_attached_again_is_the_first_one(api: Api) -> None:
    create_run(api, "r")
    location = str(write_profile(api, "s"))
    path = f"{run_path('r')}/profilerSessions"
    answers = at_once(lambda: post(api, path, "id-1", storageFolderUri=location))
    assert [answer.status_code for answer in answers] == [200] * 6
    first = answers[0].json()
    assert all(answer.json() == first for answer in answers)
    assert [host["host"] for host in first["hosts"]] == ["vm"]
    # Without a name it is another request, and the session's id is taken.
    assert error_of(attach(api, "r", location)) == (409, "ALREADY_EXISTS")


def test_a_session_whose_files_are_gone_by_now_is_told_all_the_same(api: Api) -> None:
    create_run(api, "r")
    folder = write_profile(api, "s")
    path = f"{run_path('r')}/profilerSessions"
    first = post(api, path, "id-1", storageFolderUri=str(folder)).json()
    rmtree(folder)
    again = post(api, path, "id-1", storageFolderUri=str(folder)).json()
    assert (again["uid"], again["hosts"], again["problemReason"]) == (first["uid"], [], "not_found")


def test_a_link_is_made_once_and_told_once(api: Api) -> None:
    path = f"{new_session(api)}/shareLinks"
    answers = at_once(lambda: post(api, path, "id-1", ttl="7d"))
    made = [answer.json() for answer in answers if answer.status_code == 200]
    assert len(made) == 1
    for answer in answers:
        if answer.status_code != 200:
            assert error_of(answer) == (409, "ALREADY_EXISTS")
            assert made[0]["token"] not in answer.text
            (detail,) = answer.json()["error"]["details"]
            assert detail == {"reason": "made_before", "resource": made[0]["name"]}
    assert names_of(api, path, "shareLinks") == [made[0]["name"]]


def test_a_token_is_made_once_and_told_once(api: Api) -> None:
    made = post(api, "/apiTokens", "id-1", displayName="job").json()
    again = post(api, "/apiTokens", "id-1", displayName="job")
    assert error_of(again) == (409, "ALREADY_EXISTS")
    assert again.json()["error"]["details"][0]["resource"] == made["name"]
    assert made["token"] not in again.text
    assert names_of(api, "/apiTokens", "apiTokens") == [made["name"]]


def test_two_callers_may_use_the_same_name(guarded_api: Api) -> None:
    for role in (Role.EDITOR, Role.ADMIN):
        _, secret = token_for(guarded_api, role)
        guarded_api.http.headers["Authorization"] = f"Bearer {secret}"
        assert post(guarded_api, RUNS, "id-1", displayName=role.value).status_code == 200
    assert len(names_of(guarded_api, RUNS, "machineLearningRuns")) == 2


@pytest.mark.parametrize("request_id", ["", "x" * 101, "a\nb"])
def test_a_name_that_can_not_be_kept_is_refused(api: Api, request_id: str) -> None:
    answer = post(api, RUNS, request_id)
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    assert answer.json()["error"]["details"][0]["field"] == "requestId"
    assert names_of(api, RUNS, "machineLearningRuns") == []


def test_a_failed_request_may_be_sent_again(api: Api) -> None:
    """What was refused made nothing, so its name is free."""
    create_run(api, "r")
    path = f"{run_path('r')}/profilerSessions"
    location = str(write_profile(api, "s")) + "x"
    assert error_of(post(api, path, "id-1", storageFolderUri=location)) == (404, "NOT_FOUND")
    location = location.removesuffix("x")
    assert post(api, path, "id-1", storageFolderUri=location).status_code == 200
    assert api.http.get(session_path("r", "s")).status_code == 200
