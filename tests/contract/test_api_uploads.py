"""Uploads over HTTP: whole and in parts, checked before they are seen, and never over another file."""

from __future__ import annotations

import gzip
import hashlib
import os
import resource
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from auth.identity import Role
from tests.contract.api_calls import (
    PROFILE,
    attach,
    create_run,
    error_of,
    fields_of,
    run_path,
    session_path,
    token_for,
    write_profile,
)
from tests.contract.uploading import ask, digest_of, host_path, put, put_part
from tests.services.api import Api, api_settings, serve_api

PART = 300_000
CONTENT = os.urandom(1_000_000)


@pytest.fixture(autouse=True)
def run(request: pytest.FixtureRequest) -> None:
    if "api" in request.fixturenames:
        create_run(request.getfixturevalue("api"), "r")


def session_of(api: Api, session: str = "s") -> dict[str, object]:
    answer = api.http.get(session_path("r", session))
    assert answer.status_code == 200, answer.text
    found: dict[str, object] = answer.json()
    return found


def stored(api: Api, host: str, session: str = "s") -> bytes:
    """What is in a host's place."""
    folder = Path(str(session_of(api, session)["storageFolderUri"]))
    return (folder / f"{host}.xplane.pb").read_bytes()


def parts_of(api: Api) -> list[str]:
    """Names of all parts and drafts."""
    folder = Path(api.settings.upload_root) / ".uploads"
    names = [path.name for path in folder.rglob("*") if path.is_file()]
    return [name for name in names if not name.startswith("whole-")]


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
    assert [entry["host"] for entry in session_of(api)["hosts"]] == ["b"]  # type: ignore[attr-defined]


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


@pytest.mark.parametrize("name", ["..", ".", "a\n", "x" * 201, ".xplane.pb"])
def test_a_name_that_is_none_is_refused(api: Api, name: str) -> None:
    answer = api.http.put(
        f"{session_path('r', 's')}/hosts/{name.encode().hex(' ').replace(' ', '%')}".replace(
            "hosts/", "hosts/%", 1
        ),
        content=b"x",
    )
    assert answer.status_code in {400, 404, 405}
    session = put(api, "a", b"x", session="y" * 201)
    assert error_of(session) == (400, "INVALID_ARGUMENT")
    root = Path(api.settings.upload_root)
    assert [path for path in root.rglob("*") if path.is_file()] == []


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


@pytest.fixture
def small_api(tmp_path: Path) -> Iterator[Api]:
    """A hub that takes 100,000 bytes of a host."""
    with serve_api(api_settings(tmp_path, upload_bytes=100_000)) as api:
        create_run(api, "r")
        yield api


def test_what_is_too_large_is_refused(small_api: Api) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(40):
            yield b"x" * 10_000

    for answer in (
        put(small_api, "a", b"x" * 100_001),
        put_part(small_api, "a", CONTENT, 0, 10),
        ask(small_api, "a", CONTENT),
        small_api.http.put(host_path("a"), content=endless()),
    ):
        assert error_of(answer) == (413, "INVALID_ARGUMENT")
        assert "XPROF_HUB_UPLOAD_BYTES" in answer.text
    assert put(small_api, "a", b"x" * 100_000).status_code == 200
    assert parts_of(small_api) == []


def test_a_hub_without_a_place_for_uploads_says_so(tmp_path: Path) -> None:
    with serve_api(api_settings(tmp_path, upload_root="")) as api:
        create_run(api, "r")
        answer = put(api, "a", PROFILE)
        assert error_of(answer) == (400, "FAILED_PRECONDITION")
        assert "XPROF_HUB_UPLOAD_ROOT" in answer.text


def test_a_job_may_upload_and_not_remove(guarded_api: Api) -> None:
    _, editor = token_for(guarded_api, Role.EDITOR)
    _, job = token_for(guarded_api, Role.INGEST)
    _, viewer = token_for(guarded_api, Role.VIEWER)
    guarded_api.http.headers["Authorization"] = f"Bearer {editor}"
    create_run(guarded_api, "r")
    for token, expected in ((job, 200), (viewer, 403)):
        answer = put(guarded_api, "a", PROFILE, Authorization=f"Bearer {token}")
        assert answer.status_code == expected
    path = f"{guarded_api.url}/ingest/{job}/v1{host_path('by path')}"
    assert httpx2.put(path, content=PROFILE).status_code == 200
    removed = guarded_api.http.delete(host_path("a"), headers={"Authorization": f"Bearer {job}"})
    assert removed.status_code == 403
    assert stored(guarded_api, "a") == PROFILE


def test_a_stranger_is_refused_before_anything_is_read(guarded_api: Api) -> None:
    answer = put(guarded_api, "a", b"x" * 5_000_000)
    assert error_of(answer) == (401, "UNAUTHENTICATED")


def test_a_full_disk_is_said_and_the_upload_goes_on_later(api: Api) -> None:
    put_part(api, "a", CONTENT, 0, PART)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(
        resource.RLIMIT_FSIZE, (PART + 1000, hard)
    )  # the server runs in this process
    try:
        answer = put_part(api, "a", CONTENT, PART, len(CONTENT))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert error_of(answer) == (507, "RESOURCE_EXHAUSTED")
    assert answer.json()["error"]["details"] == [{"reason": "storage_full"}]
    assert api.settings.upload_root not in answer.text
    assert ask(api, "a", CONTENT).headers["range"] == f"bytes=0-{PART - 1}"
    assert put_part(api, "a", CONTENT, PART, len(CONTENT)).status_code == 200
    assert stored(api, "a") == CONTENT
