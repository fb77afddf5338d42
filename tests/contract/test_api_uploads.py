"""Uploads over HTTP: whole and in parts, checked before they are seen, and never over another file."""

from __future__ import annotations

import gzip
import os

import pytest

from tests.contract.api_calls import (
    PROFILE,
    create_run,
    error_of,
    fields_of,
    run_path,
    session_path,
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


def test_a_whole_file_makes_the_session(api: Api) -> None:
    answer = put(api, "vm 0,ü", PROFILE, Repr_Digest=digest_of(PROFILE))
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert answer.headers["etag"] == f'"{body.pop("etag")}"'
    parent = "machineLearningRuns/r/profilerSessions/s"
    assert body == {
        "name": f"{parent}/hosts/vm 0,ü",
        "host": "vm 0,ü",
        "sizeBytes": len(PROFILE),
        "session": parent,
        "sessionState": "OPEN",
    }
    session = session_of(api)
    assert (session["kind"], session["state"]) == ("UPLOADED", "OPEN")
    assert session["hosts"] == [
        {"host": "vm 0,ü", "file": "vm 0,ü.xplane.pb", "sizeBytes": len(PROFILE)}
    ]
    assert stored(api, "vm 0,ü") == PROFILE
    assert parts_of(api) == []


def test_curl_without_any_header_works_and_names_the_file(api: Api) -> None:
    answer = put(api, "vm0.xplane.pb", PROFILE)
    assert answer.json()["host"] == "vm0"
    packed = gzip.compress(PROFILE)
    assert put(api, "vm1.xplane.pb.gz", packed).json()["host"] == "vm1"
    assert stored(api, "vm1") == packed


def test_hosts_of_one_session_share_its_folder(api: Api) -> None:
    for host in ("a", "b", "c"):
        assert put(api, host, PROFILE + host.encode()).status_code == 200
    session = session_of(api)
    assert session["foundHosts"] == 3
    assert str(session["storageFolderUri"]).endswith("/s")


def test_the_expected_number_of_hosts_completes_the_session(api: Api) -> None:
    first = api.http.put(host_path("a"), content=b"1", params={"expectedHosts": 2})
    assert first.json()["sessionState"] == "OPEN"
    assert session_of(api)["expectedHosts"] == 2
    second = api.http.put(host_path("b"), content=b"2", params={"expectedHosts": 2})
    assert second.json()["sessionState"] == "COMPLETE"
    assert session_of(api)["state"] == "COMPLETE"


def test_a_session_is_completed_by_its_client(api: Api) -> None:
    put(api, "a", PROFILE)
    done = api.http.post(f"{session_path('r', 's')}:completeUpload")
    assert (done.status_code, done.json()["state"]) == (200, "COMPLETE")
    assert api.http.post(f"{session_path('r', 's')}:completeUpload").json()["state"] == "COMPLETE"


def test_parts_become_the_file_when_the_last_one_has_come(api: Api) -> None:
    for first in range(0, 900_000, PART):
        answer = put_part(api, "a", CONTENT, first, PART)
        assert answer.status_code == 308
        assert answer.headers["range"] == f"bytes=0-{first + PART - 1}"
        assert answer.content == b""
        assert api.http.get(session_path("r", "s")).status_code == 404
    last = put_part(api, "a", CONTENT, 900_000, PART)
    assert last.status_code == 200, last.text
    assert stored(api, "a") == CONTENT
    assert parts_of(api) == []


def test_how_far_an_upload_is_can_be_asked(api: Api) -> None:
    before = ask(api, "a", CONTENT)
    assert (before.status_code, "range" in before.headers) == (308, False)
    put_part(api, "a", CONTENT, 0, PART)
    assert ask(api, "a", CONTENT).headers["range"] == f"bytes=0-{PART - 1}"
    put_part(api, "a", CONTENT, PART, len(CONTENT))
    after = ask(api, "a", CONTENT)
    assert (after.status_code, after.json()["sizeBytes"]) == (200, len(CONTENT))


def test_the_size_may_be_unknown_until_the_last_part(api: Api) -> None:
    named = {"Repr_Digest": digest_of(CONTENT)}
    first = put(api, "a", CONTENT[:PART], Content_Range=f"bytes 0-{PART - 1}/*", **named)
    assert first.status_code == 308
    rest = f"bytes {PART}-{len(CONTENT) - 1}/*"
    assert put(api, "a", CONTENT[PART:], Content_Range=rest, **named).status_code == 308
    assert ask(api, "a", CONTENT).status_code == 200
    assert stored(api, "a") == CONTENT


def test_a_part_that_has_come_already_is_not_taken_twice(api: Api) -> None:
    put_part(api, "a", CONTENT, 0, PART)
    again = put_part(api, "a", CONTENT, 0, PART)
    assert (again.status_code, again.headers["range"]) == (308, f"bytes=0-{PART - 1}")


@pytest.mark.parametrize("first", [PART + 1, PART - 1, 2 * PART])
def test_a_part_has_to_follow_what_has_come(api: Api, first: int) -> None:
    put_part(api, "a", CONTENT, 0, PART)
    answer = put_part(api, "a", CONTENT, first, PART)
    assert error_of(answer) == (409, "ABORTED")
    assert answer.headers["range"] == f"bytes=0-{PART - 1}"


@pytest.mark.parametrize("header", ["Repr-Digest", "Content-Digest"])
def test_a_file_with_another_digest_is_not_kept(api: Api, header: str) -> None:
    answer = api.http.put(
        host_path("a"), content=PROFILE, headers={header: digest_of(PROFILE + b"x")}
    )
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    assert fields_of(answer) == [header]
    assert api.http.get(session_path("r", "s")).status_code == 404
    assert parts_of(api) == []


def test_parts_that_are_not_the_announced_file_are_not_kept(api: Api) -> None:
    named = {"Repr_Digest": digest_of(CONTENT)}
    put(api, "a", CONTENT[:PART], Content_Range=f"bytes 0-{PART - 1}/{2 * PART}", **named)
    answer = put(
        api, "a", CONTENT[:PART], Content_Range=f"bytes {PART}-{2 * PART - 1}/{2 * PART}", **named
    )
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    assert fields_of(answer) == ["Repr-Digest"]
    assert "range" not in ask(api, "a", CONTENT).headers
    assert parts_of(api) == []


def test_a_part_with_another_digest_is_not_kept(api: Api) -> None:
    answer = put_part(api, "a", CONTENT, 0, PART, Content_Digest=digest_of(b"x"))
    assert fields_of(answer) == ["Content-Digest"]
    assert "range" not in ask(api, "a", CONTENT).headers
    assert (
        put_part(api, "a", CONTENT, 0, PART, Content_Digest=digest_of(CONTENT[:PART])).status_code
        == 308
    )


def test_an_unknown_run_is_said(api: Api) -> None:
    answer = api.http.put(f"{run_path('no')}/profilerSessions/s/hosts/a", content=b"x")
    assert error_of(answer) == (404, "NOT_FOUND")
    assert error_of(api.http.delete(host_path("a"))) == (404, "NOT_FOUND")
    assert error_of(api.http.post(f"{session_path('r', 's')}:completeUpload")) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("headers", "field"),
    [
        ({"Content-Range": "bytes 0-1"}, "Content-Range"),
        ({"Content-Range": "bytes 5-1/10"}, "Content-Range"),
        ({"Content-Range": "bytes 0-10/10"}, "Content-Range"),
        ({"Content-Range": "items 0-1/2"}, "Content-Range"),
        ({"Content-Range": "bytes 0-7/8"}, "Content-Range"),
        ({"Repr-Digest": "sha-256=:AAAA:"}, "Repr-Digest"),
        ({"Repr-Digest": "md5=:AAAA:"}, "Repr-Digest"),
        ({"Content-Digest": "sha-256=AAAA"}, "Content-Digest"),
        ({"If-Match": "no quotes"}, "If-Match"),
        ({"If-None-Match": '"x"'}, "If-None-Match"),
    ],
)
def test_a_header_that_can_not_be_used_is_named(
    api: Api, headers: dict[str, str], field: str
) -> None:
    if "bytes 0-7/8" in headers.values():
        headers = {**headers, "Repr-Digest": digest_of(b"xx")}
    elif field == "Content-Range":
        pass
    answer = api.http.put(host_path("a"), content=b"xx", headers=headers)
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    assert fields_of(answer) == [field]


def test_parts_need_the_digest_of_the_whole(api: Api) -> None:
    answer = put(api, "a", b"xx", Content_Range="bytes 0-1/4")
    assert fields_of(answer) == ["Repr-Digest"]


def test_an_empty_file_is_refused(api: Api) -> None:
    assert error_of(put(api, "a", b"")) == (400, "INVALID_ARGUMENT")
