"""Uploads that meet: two of one host, the same again, many at once, and what lies there already."""

from __future__ import annotations

import hashlib
import os
import threading

import httpx2
import pytest

from tests.contract.api_calls import (
    PROFILE,
    attach,
    create_run,
    error_of,
    session_path,
    write_profile,
)
from tests.contract.uploading import (
    ask,
    digest_of,
    host_path,
    parts_of,
    put,
    put_part,
    session_of,
    stored,
)
from tests.services.api import Api

PART = 300_000
CONTENT = os.urandom(1_000_000)


@pytest.fixture(autouse=True)
def run(request: pytest.FixtureRequest) -> None:
    if "api" in request.fixturenames:
        create_run(request.getfixturevalue("api"), "r")


def test_another_file_of_the_same_host_is_never_replaced_silently(api: Api) -> None:
    etag = put(api, "a", PROFILE).headers["etag"]
    for refused in (
        put(api, "a", b"another"),
        put(api, "a", b"another", If_None_Match="*"),
        put(api, "a", b"another", Repr_Digest=digest_of(b"another")),
        put_part(api, "a", CONTENT, 0, PART),
        ask(api, "a", CONTENT),
    ):
        assert error_of(refused) == (409, "ALREADY_EXISTS")
        assert refused.headers["etag"] == etag
    assert error_of(put(api, "a", b"x", If_Match='"other"')) == (409, "ABORTED")
    assert stored(api, "a") == PROFILE
    replaced = put(api, "a", b"another", If_Match=etag)
    assert replaced.status_code == 200
    assert replaced.headers["etag"] != etag
    assert stored(api, "a") == b"another"
    assert put(api, "a", b"a third", If_Match="*").status_code == 200
    assert error_of(put(api, "b", b"x", If_Match="*")) == (409, "ABORTED")


def test_sending_the_same_again_answers_as_the_first_time(api: Api) -> None:
    first = put(api, "a", CONTENT, Repr_Digest=digest_of(CONTENT))
    for again in (
        put(api, "a", CONTENT, Repr_Digest=digest_of(CONTENT)),
        put(api, "a", CONTENT, Content_Digest=digest_of(CONTENT)),
        put_part(api, "a", CONTENT, 0, PART),
        ask(api, "a", CONTENT),
    ):
        assert (again.status_code, again.json()) == (200, first.json())
    strict = put(api, "a", CONTENT, Repr_Digest=digest_of(CONTENT), If_None_Match="*")
    assert error_of(strict) == (409, "ALREADY_EXISTS")


def test_of_two_at_once_one_wins_and_the_other_is_told(api: Api) -> None:
    contents = [bytes([index]) * 2_000_000 for index in range(6)]
    answers: dict[int, httpx2.Response] = {}

    def send(index: int) -> None:
        answers[index] = put(api, "a", contents[index])

    threads = [threading.Thread(target=send, args=(index,)) for index in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    won = [index for index, answer in answers.items() if answer.status_code == 200]
    assert len(won) == 1
    assert stored(api, "a") == contents[won[0]]
    lost = [answer for answer in answers.values() if answer.status_code != 200]
    assert {error_of(answer) for answer in lost} == {(409, "ALREADY_EXISTS")}
    assert parts_of(api) == []


def test_many_hosts_at_once_make_one_session(api: Api) -> None:
    answers: list[httpx2.Response] = []

    def send(index: int) -> None:
        path = host_path(f"vm-{index}")
        answers.append(api.http.put(path, content=b"%d" % index, params={"expectedHosts": 12}))

    threads = [threading.Thread(target=send, args=(index,)) for index in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status_code for answer in answers] == [200] * 12
    session = session_of(api)
    assert (session["foundHosts"], session["state"]) == (12, "COMPLETE")


def test_two_uploads_of_one_host_in_parts_do_not_mix(api: Api) -> None:
    other = os.urandom(len(CONTENT))
    for content in (CONTENT, other):
        assert put_part(api, "a", content, 0, PART).status_code == 308
    assert put_part(api, "a", other, PART, len(other)).status_code == 200
    assert error_of(put_part(api, "a", CONTENT, PART, len(CONTENT))) == (409, "ALREADY_EXISTS")
    assert stored(api, "a") == other


def test_a_removed_host_may_be_sent_again(api: Api) -> None:
    etag = put(api, "a", PROFILE).headers["etag"]
    put(api, "b", PROFILE)
    assert error_of(api.http.delete(host_path("a"), headers={"If-Match": '"x"'})) == (
        409,
        "ABORTED",
    )
    assert api.http.delete(host_path("a"), headers={"If-Match": etag}).status_code == 200
    assert error_of(api.http.delete(host_path("a"))) == (404, "NOT_FOUND")
    assert session_of(api)["foundHosts"] == 1
    assert put(api, "a", b"another").status_code == 200


def test_a_session_of_the_same_name_starts_empty(api: Api) -> None:
    put(api, "a", PROFILE)
    api.http.delete(session_path("r", "s"))
    assert put(api, "b", PROFILE).status_code == 200
    assert [entry["host"] for entry in session_of(api)["hosts"]] == ["b"]


def test_nothing_is_written_where_jobs_keep_their_profiles(api: Api) -> None:
    folder = write_profile(api, "s")
    attach(api, "r", folder)
    before = hashlib.sha256((folder / "vm.xplane.pb").read_bytes()).digest()
    for answer in (
        put(api, "vm", b"x", If_Match="*"),
        put(api, "other", b"x"),
        api.http.delete(host_path("vm")),
        api.http.post(f"{session_path('r', 's')}:completeUpload"),
    ):
        assert error_of(answer) == (400, "FAILED_PRECONDITION")
    assert [path.name for path in folder.iterdir()] == ["vm.xplane.pb"]
    assert hashlib.sha256((folder / "vm.xplane.pb").read_bytes()).digest() == before
