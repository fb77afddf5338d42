"""What uploads may not do: sizes, names, rights, a full disk, and hubs that take none."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from auth.identity import Role
from tests.contract.api_calls import (
    PROFILE,
    create_run,
    error_of,
    session_path,
    token_for,
)
from tests.contract.uploading import (
    ask,
    host_path,
    parts_of,
    put,
    put_part,
    stored,
)
from tests.services.api import Api, api_settings, serve_api

PART = 300_000
CONTENT = os.urandom(1_000_000)


@pytest.fixture(autouse=True)
def run(request: pytest.FixtureRequest) -> None:
    if "api" in request.fixturenames:
        create_run(request.getfixturevalue("api"), "r")


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


def test_a_hub_without_room_says_so_before_anything_is_sent(tmp_path: Path) -> None:
    with serve_api(api_settings(tmp_path, upload_free_bytes=1 << 60)) as api:
        create_run(api, "r")
        for answer in (put(api, "a", PROFILE), put_part(api, "a", CONTENT, 0, PART)):
            assert error_of(answer) == (507, "RESOURCE_EXHAUSTED")
            assert "XPROF_HUB_UPLOAD_FREE_BYTES" in answer.text
        assert parts_of(api) == []


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
    for etag in ("*", '"x"'):
        replaced = put(guarded_api, "a", b"x", Authorization=f"Bearer {job}", If_Match=etag)
        assert error_of(replaced) == (403, "PERMISSION_DENIED")
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
    assert answer.json()["error"]["details"] == [
        {"reason": "storage_full"},
        {"requestId": answer.headers["X-Request-Id"]},
    ]
    assert api.settings.upload_root not in answer.text
    assert ask(api, "a", CONTENT).headers["range"] == f"bytes=0-{PART - 1}"
    assert put_part(api, "a", CONTENT, PART, len(CONTENT)).status_code == 200
    assert stored(api, "a") == CONTENT
