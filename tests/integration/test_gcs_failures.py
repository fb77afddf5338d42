"""Cloud Storage when it refuses, fails, stalls, pages or changes: each gets its own right answer."""

from __future__ import annotations

import base64
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import loader.storage.gcs as gcs_module
from loader.errors import ErrorCode, LoaderError
from loader.storage.base import StoredFile
from loader.storage.gcs import RANGE_BYTES, GcsStorage, connect_gcs
from tests.integration.fake_gcs import Answer, FakeGcs, Request, error, serving

FILE = StoredFile("gs://bucket/s/h.xplane.pb", "h.xplane.pb", 4, "7")


@pytest.fixture
def store() -> Iterator[FakeGcs]:
    with serving() as state:
        state.objects["s/h.xplane.pb"] = b"abcd"
        yield state


def storage_of(store: FakeGcs, seconds: float = 20) -> GcsStorage:
    return GcsStorage(store.client(), deadline_seconds=seconds)


def first_time(
    answer: Answer, when: Callable[[Request], bool]
) -> Callable[[Request], Answer | None]:
    """Trouble at the first fitting request only."""
    used: list[Request] = []

    def trouble(request: Request) -> Answer | None:
        if used or not when(request):
            return None
        used.append(request)
        return answer

    return trouble


def failure(action: Callable[[], object]) -> LoaderError:
    with pytest.raises(LoaderError) as caught:
        action()
    return caught.value


@pytest.mark.parametrize(
    ("status", "message", "listing", "download"),
    [
        (401, "Invalid Credentials", "permission_denied", "permission_denied"),
        (
            403,
            "does not have storage.objects.list access",
            "permission_denied",
            "permission_denied",
        ),
        (404, "The specified bucket does not exist.", "bucket_not_found", "bucket_not_found"),
        (404, "No such object: bucket/s/h.xplane.pb", "bucket_not_found", "source_changed"),
        (412, "conditionNotMet", "storage_unavailable", "source_changed"),
        (429, "rateLimitExceeded", "storage_unavailable", "storage_unavailable"),
        (500, "backendError", "storage_unavailable", "storage_unavailable"),
        (503, "backendError", "storage_unavailable", "storage_unavailable"),
    ],
)
def test_each_refusal_is_its_own_answer(
    store: FakeGcs, tmp_path: Path, status: int, message: str, listing: str, download: str
) -> None:
    store.trouble = lambda request: error(status, message)
    storage = storage_of(store, seconds=0.5)
    listed = failure(lambda: storage.list_files("gs://bucket/s"))
    loaded = failure(lambda: storage.download(FILE, tmp_path / "copy"))
    assert (listed.code, loaded.code) == (ErrorCode(listing), ErrorCode(download))
    assert loaded.file == "h.xplane.pb"


def test_permission_denied_says_which_role_on_which_bucket(store: FakeGcs) -> None:
    store.trouble = lambda request: error(403, "forbidden")
    message = failure(lambda: storage_of(store).list_folders("gs://bucket/s")).message
    assert "roles/storage.objectViewer" in message
    assert "bucket bucket" in message


def test_no_credentials_are_permission_denied(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("STORAGE_EMULATOR_HOST", raising=False)
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    caught = failure(connect_gcs)
    assert caught.code is ErrorCode.PERMISSION_DENIED
    assert "no Google Cloud credentials" in caught.message


def test_a_passing_error_is_tried_again(store: FakeGcs, tmp_path: Path) -> None:
    storage = storage_of(store)
    store.trouble = first_time(error(503, "backendError"), lambda request: True)
    (file,) = storage.list_files("gs://bucket/s")
    store.trouble = first_time(error(429, "slow down"), lambda request: True)
    storage.download(file, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"abcd"


def test_a_store_that_does_not_answer_is_given_up_in_time(store: FakeGcs, tmp_path: Path) -> None:
    end = threading.Event()
    store.trouble = lambda request: Answer(hang=end)
    storage = storage_of(store, seconds=1)
    started = time.monotonic()
    listed = failure(lambda: storage.list_files("gs://bucket/s"))
    loaded = failure(lambda: storage.download(FILE, tmp_path / "copy"))
    end.set()
    assert listed.code is loaded.code is ErrorCode.STORAGE_UNAVAILABLE
    assert time.monotonic() - started < 30


def test_a_listing_is_given_up_sooner_than_a_download(
    store: FakeGcs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gcs_module, "_LISTING_STALLED_SECONDS", 0.3)
    monkeypatch.setattr(gcs_module, "_LISTING_TRIES_SECONDS", 0.5)
    end = threading.Event()
    store.trouble = lambda request: Answer(hang=end)
    storage = storage_of(store, seconds=60)
    started = time.monotonic()
    listed = failure(lambda: storage.list_files("gs://bucket/s"))
    paged = failure(lambda: storage.list_folder_page("gs://bucket/s"))
    end.set()
    assert listed.code is paged.code is ErrorCode.STORAGE_UNAVAILABLE
    assert time.monotonic() - started < 20


def test_nobody_listening_is_unavailable() -> None:
    with serving() as state:
        storage = storage_of(state, seconds=0.5)
    assert (
        failure(lambda: storage.list_files("gs://bucket/s")).code is ErrorCode.STORAGE_UNAVAILABLE
    )


def test_all_pages_are_read(store: FakeGcs) -> None:
    store.objects = {f"s/{n:02}/x": b"" for n in range(7)} | {f"s/f{n}": b"" for n in range(8)}
    storage = storage_of(store)
    assert [f.name for f in storage.list_files("gs://bucket/s")] == [f"f{n}" for n in range(8)]
    assert storage.list_folders("gs://bucket/s") == [f"gs://bucket/s/{n:02}" for n in range(7)]
    assert len(store.requests) == 2 * 5  # 15 entries in pages of 3


def test_a_listing_asks_for_one_level_and_few_fields(store: FakeGcs) -> None:
    storage_of(store).list_files("gs://bucket/s")
    (request,) = store.requests
    assert (request.query["prefix"], request.query["delimiter"]) == ("s/", "/")
    assert (
        request.query["fields"] == "items(name,size,generation,timeCreated),prefixes,nextPageToken"
    )


def test_a_folder_of_too_many_entries_is_given_up(
    store: FakeGcs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loader.storage.gcs.LIST_LIMIT", 6)
    store.objects = {f"s/f{n:02}": b"" for n in range(30)}
    caught = failure(lambda: storage_of(store).list_files("gs://bucket/s"))
    assert caught.code is ErrorCode.TOO_LARGE
    assert len(store.requests) == 3  # stops at the page that goes over it


def test_a_download_asks_for_the_listed_generation(store: FakeGcs, tmp_path: Path) -> None:
    storage_of(store).download(FILE, tmp_path / "copy")
    assert {request.query["generation"] for request in store.requests} == {"7"}
    gone = StoredFile(FILE.location, FILE.name, FILE.size, "6")
    caught = failure(lambda: storage_of(store).download(gone, tmp_path / "copy"))
    assert caught.code is ErrorCode.SOURCE_CHANGED


def test_a_part_is_of_the_listed_generation_or_nothing(store: FakeGcs) -> None:
    gcs = storage_of(store)
    assert gcs.read_part(FILE, 1, 2) == b"bc"
    assert store.requests[-1].query["generation"] == "7"
    assert store.requests[-1].byte_range == (1, 2)
    store.trouble = first_time(error(503, "backendError"), lambda request: True)
    assert gcs.read_part(FILE, 0, 4) == b"abcd"
    replaced = replace(FILE, generation="6")
    assert failure(lambda: gcs.read_part(replaced, 0, 4)).code is ErrorCode.SOURCE_CHANGED
    # Shorter than was listed, whatever its generation says.
    assert failure(lambda: gcs.read_part(FILE, 2, 4)).code is ErrorCode.SOURCE_CHANGED


def test_damaged_content_is_not_accepted(store: FakeGcs, tmp_path: Path) -> None:
    other = base64.b64encode(b"\0\0\0\0").decode()
    store.trouble = lambda request: Answer(200, b"abcd", {"X-Goog-Hash": f"crc32c={other}"})
    caught = failure(lambda: storage_of(store).download(FILE, tmp_path / "copy"))
    assert caught.code is ErrorCode.STORAGE_UNAVAILABLE


def test_an_answer_of_another_size_has_changed(store: FakeGcs, tmp_path: Path) -> None:
    store.objects["s/h.xplane.pb"] = b"abcdef"
    caught = failure(lambda: storage_of(store).download(FILE, tmp_path / "copy"))
    assert caught.code is ErrorCode.SOURCE_CHANGED


@pytest.fixture
def big(store: FakeGcs) -> StoredFile:
    """An object of three ranges."""
    content = os.urandom(2 * RANGE_BYTES + 1000)
    store.objects["s/big.xplane.pb"] = content
    return StoredFile("gs://bucket/s/big.xplane.pb", "big.xplane.pb", len(content), "7")


def test_a_big_object_is_fetched_in_ranges(store: FakeGcs, big: StoredFile, tmp_path: Path) -> None:
    storage_of(store).download(big, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == store.objects["s/big.xplane.pb"]
    asked = sorted(r.byte_range for r in store.requests if r.byte_range is not None)
    assert asked == [
        (0, RANGE_BYTES - 1),
        (RANGE_BYTES, 2 * RANGE_BYTES - 1),
        (2 * RANGE_BYTES, 2 * RANGE_BYTES + 999),
    ]


def test_a_broken_connection_goes_on_where_it_broke(
    store: FakeGcs, big: StoredFile, tmp_path: Path
) -> None:
    part = store.objects["s/big.xplane.pb"][:RANGE_BYTES]
    store.trouble = first_time(
        Answer(206, part, {"Content-Range": f"bytes 0-{RANGE_BYTES - 1}/*"}, cut=RANGE_BYTES // 2),
        lambda request: request.byte_range == (0, RANGE_BYTES - 1),
    )
    storage_of(store).download(big, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == store.objects["s/big.xplane.pb"]


def test_a_flipped_bit_in_a_range_is_found(store: FakeGcs, big: StoredFile, tmp_path: Path) -> None:
    wrong = bytes([store.objects["s/big.xplane.pb"][0] ^ 1])
    part = wrong + store.objects["s/big.xplane.pb"][1:RANGE_BYTES]
    store.trouble = first_time(
        Answer(206, part, {"Content-Range": f"bytes 0-{RANGE_BYTES - 1}/*"}),
        lambda request: request.byte_range == (0, RANGE_BYTES - 1),
    )
    caught = failure(lambda: storage_of(store).download(big, tmp_path / "copy"))
    assert caught.code is ErrorCode.STORAGE_UNAVAILABLE


def test_an_object_replaced_between_two_ranges_has_changed(
    store: FakeGcs, big: StoredFile, tmp_path: Path
) -> None:
    store.trouble = lambda request: (
        error(404, "No such object: bucket/s/big.xplane.pb")
        if request.byte_range and request.byte_range[0]
        else None
    )
    caught = failure(lambda: storage_of(store).download(big, tmp_path / "copy"))
    assert caught.code is ErrorCode.SOURCE_CHANGED
