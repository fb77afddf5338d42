"""A bucket's folders in pages: one request each, each folder once, nothing below a folder is walked."""

from __future__ import annotations

import pytest

from loader.storage.gcs import GcsStorage
from tests.integration.fake_gcs import serving
from tests.services.gcs import GcsEmulator


def all_pages(storage: GcsStorage, location: str, most: int) -> tuple[list[str], int]:
    found: list[str] = []
    after, pages = "", 0
    while pages == 0 or after:
        page = storage.list_folder_page(location, after, most)
        found += page.folders
        after, pages = page.next, pages + 1
    return found, pages


@pytest.mark.parametrize("most", [2, 3, 1000])
def test_every_folder_comes_once_with_one_request_a_page(most: int) -> None:
    with serving() as store:
        store.page = 1000
        for run in ("a", "a-b", "a0", "b"):
            for step in range(50):
                store.objects[f"team/{run}/checkpoints/{step}/weights"] = b"w"
        for number in range(3):
            store.objects[f"team/ab{number}.txt"] = b"x"
        storage = GcsStorage(store.client())
        found, pages = all_pages(storage, "gs://bucket/team", most)
        assert found == [f"gs://bucket/team/{run}" for run in ("a-b", "a", "a0", "b")]
        assert len(store.requests) == pages
        assert pages <= 7  # seven entries: four folders and three files


def test_an_answer_that_ignores_the_page_size_is_cut(gcs_emulator: GcsEmulator) -> None:
    gcs_emulator.create_bucket("folder-pages")
    for run in ("r1", "r2", "r3"):
        gcs_emulator.upload("folder-pages", f"{run}/plugins/profile/s/h.xplane.pb", b"p")
    storage = GcsStorage(gcs_emulator.client())
    found, pages = all_pages(storage, "gs://folder-pages", 2)
    assert found == [f"gs://folder-pages/{run}" for run in ("r1", "r2", "r3")]
    assert pages == 2
