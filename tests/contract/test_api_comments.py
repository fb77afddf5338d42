"""Comments by the API: who may say, change and delete what, and what they may hold."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import httpx2
import pytest
from sqlalchemy import insert, select

from auth.identity import Role
from server.registry.comments import MOST_COMMENTS
from server.registry.database import Database
from server.registry.models import SessionRow
from server.registry.people_models import CommentRow
from tests.contract.api_calls import authorize, error_of, fields_of, new_session, token_for
from tests.services.api import Api

VIEW = {"tool": "trace_viewer@", "hosts": ["vm"], "startMs": 12.5, "endMs": 14.0}


@pytest.fixture
def place(guarded_api: Api) -> str:
    """Path of a session's comments; the API's own client is an admin."""
    authorize(guarded_api)
    return f"{new_session(guarded_api)}/comments"


@pytest.fixture
def people(guarded_api: Api) -> Iterator[dict[str, httpx2.Client]]:
    """Two viewers and an editor."""
    clients = {}
    for name, role in (("ann", Role.VIEWER), ("ben", Role.VIEWER), ("eve", Role.EDITOR)):
        _, secret = token_for(guarded_api, role)
        clients[name] = httpx2.Client(
            base_url=f"{guarded_api.url}/v1",
            headers={"Authorization": f"Bearer {secret}"},
            trust_env=False,
        )
    yield clients
    for client in clients.values():
        client.close()


def test_what_is_said_is_read_back_and_opens_its_view(guarded_api: Api, place: str) -> None:
    said = {"text": "  one\r\ntwo <b>  ", "view": VIEW}
    made = guarded_api.http.post(place, json=said).json()
    assert made["text"] == "one\ntwo <b>"
    assert made["view"] == VIEW
    assert made["name"] == f"machineLearningRuns/r/profilerSessions/s/comments/{made['uid']}"
    assert made["creator"] == "admin"
    assert made["author"].startswith("token:")
    assert made["dashboardUri"] == (
        f"{guarded_api.url}/runs/r/sessions/s/data/plugin/profile/"
        "?tag=trace_viewer%40&hosts=vm&view_start=12.5&view_end=14"
    )
    read = guarded_api.http.get(f"/{made['name']}")
    assert read.json() == made
    assert read.headers["etag"] == f'"{made["etag"]}"'


def test_only_its_author_changes_a_comment_and_admins_delete_it_too(
    guarded_api: Api, place: str, people: dict[str, httpx2.Client]
) -> None:
    made = people["ann"].post(place, json={"text": "mine"}).json()
    path = f"/{made['name']}"
    for other in (people["ben"], people["eve"], guarded_api.http):
        refused = other.patch(path, json={"text": "theirs"})
        assert error_of(refused) == (403, "PERMISSION_DENIED")
    for other in (people["ben"], people["eve"]):
        assert error_of(other.delete(path)) == (403, "PERMISSION_DENIED")
    assert people["ben"].get(path).json() == made
    changed = people["ann"].patch(path, json={**made, "text": "mine, again"}).json()
    assert (changed["text"], changed["author"]) == ("mine, again", made["author"])
    assert changed["etag"] != made["etag"]
    assert changed["updateTime"] > changed["createTime"]
    stale = people["ann"].patch(path, json={"text": "x"}, headers={"If-Match": made["etag"]})
    assert error_of(stale) == (409, "ABORTED")
    assert error_of(people["ann"].delete(path, params={"etag": made["etag"]}))[0] == 409
    assert guarded_api.http.delete(path).json() == {}
    assert error_of(people["ann"].get(path)) == (404, "NOT_FOUND")
    own = people["ann"].post(place, json={"text": "gone soon"}).json()
    assert people["ann"].delete(f"/{own['name']}").status_code == 200


def test_texts_and_views_that_can_not_be_shown_are_refused(guarded_api: Api, place: str) -> None:
    for text in ("", " \n ", "x" * 4001, "a\0b", "a\x1bb", 7):
        assert fields_of(guarded_api.http.post(place, json={"text": text})) == ["text"]
    assert guarded_api.http.post(place, json={"text": "x" * 4000}).status_code == 200
    views = (
        {"tool": "no_such"},
        {"startMs": 1, "endMs": 2},
        {"tool": "trace_viewer@", "startMs": 2},
    )
    for view in views:
        answer = guarded_api.http.post(place, json={"text": "x", "view": view})
        assert fields_of(answer)[0].startswith("view"), answer.text
    other = guarded_api.http.post(place, json={"text": "x", "view": {"session": "t"}})
    assert fields_of(other) == ["view.session"]
    made = guarded_api.http.post(place, json={"text": "x"}).json()
    emptied = guarded_api.http.patch(f"/{made['name']}", params={"updateMask": "text"}, json={})
    assert fields_of(emptied) == ["text"]
    masked = guarded_api.http.patch(f"/{made['name']}", params={"updateMask": "view"}, json={})
    assert fields_of(masked) == ["updateMask"]


def test_a_repeated_request_says_it_once(guarded_api: Api, place: str) -> None:
    def say(text: str) -> httpx2.Response:
        return guarded_api.http.post(place, params={"requestId": "r1"}, json={"text": text})

    first, second = say("once"), say("once")
    assert first.json() == second.json()
    assert error_of(say("twice")) == (409, "ALREADY_EXISTS")
    assert guarded_api.http.get(place).json()["totalSize"] == 1


def test_pages_hold_each_comment_once_newest_first(guarded_api: Api, place: str) -> None:
    texts = [f"number {number}" for number in range(5)]
    for text in texts:
        guarded_api.http.post(place, json={"text": text})
    found, token = [], ""
    while True:
        page = guarded_api.http.get(place, params={"pageSize": 2, "pageToken": token}).json()
        assert page["totalSize"] == 5
        found += [comment["text"] for comment in page["comments"]]
        token = page["nextPageToken"]
        if not token:
            break
    assert found == texts[::-1]
    oldest = guarded_api.http.get(place, params={"orderBy": "createTime"}).json()["comments"]
    assert [comment["text"] for comment in oldest] == texts


def test_comments_stay_with_their_session(guarded_api: Api, place: str) -> None:
    made = guarded_api.http.post(place, json={"text": "of s"}).json()
    other = new_session(guarded_api, "other", "s")
    assert error_of(guarded_api.http.get(f"{other}/comments/{made['uid']}"))[0] == 404
    assert guarded_api.http.get(f"{other}/comments").json()["comments"] == []
    assert error_of(guarded_api.http.get(f"{other}x/comments")) == (404, "NOT_FOUND")
    assert error_of(guarded_api.http.post(f"{other}x/comments", json={"text": "x"}))[0] == 404
    guarded_api.http.delete(place.removesuffix("/comments"))
    assert error_of(guarded_api.http.get(f"/{made['name']}")) == (404, "NOT_FOUND")


def test_a_full_session_takes_no_more_also_when_two_say_the_last_at_once(
    guarded_api: Api, place: str
) -> None:
    database = Database(guarded_api.settings.resolved_database_url)
    now = datetime.now(UTC)
    with database.writing() as session:
        key = session.scalar(select(SessionRow.key).where(SessionRow.id == "s"))
        about: dict[str, object] = {
            "session_key": key,
            "author": "x",
            "author_name": "x",
            "text": "x",
            "view": {},
        }
        session.execute(
            insert(CommentRow),
            [
                {**about, "id": str(number), "created": now, "updated": now, "version": 1}
                for number in range(MOST_COMMENTS - 1)
            ],
        )
    database.close()

    def say(text: str) -> httpx2.Response:
        return guarded_api.http.post(place, json={"text": text})

    with ThreadPoolExecutor(2) as pool:
        answers = sorted(pool.map(say, ("a", "b")), key=lambda answer: answer.status_code)
    assert [answer.status_code for answer in answers] == [200, 400]
    assert error_of(answers[1]) == (400, "FAILED_PRECONDITION")
    assert guarded_api.http.get(place).json()["totalSize"] == MOST_COMMENTS
