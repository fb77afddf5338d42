"""A folder's folders in pages on disk: in a bucket's order, each once, whatever page size."""

from __future__ import annotations

from pathlib import Path

import pytest

from loader.storage.local import LocalStorage


def all_pages(storage: LocalStorage, location: str, most: int) -> list[str]:
    found: list[str] = []
    page = storage.list_folder_page(location, "", most)
    found += page.folders
    while page.next:
        page = storage.list_folder_page(location, page.next, most)
        found += page.folders
    return found


@pytest.mark.parametrize("most", [2, 3, 1000])
def test_every_folder_comes_once_in_a_buckets_order(tmp_path: Path, most: int) -> None:
    for name in ("b", "a", "a-b", "ä", "c d"):
        (tmp_path / name / "below").mkdir(parents=True)
    (tmp_path / "file").write_bytes(b"")
    # Sorted with the slash that a bucket's folder names end in: "a-b/" is before "a/".
    expected = [str(tmp_path / name) for name in ("a-b", "a", "b", "c d", "ä")]
    assert all_pages(LocalStorage(), str(tmp_path), most) == expected


def test_a_page_begins_after_a_folder_that_is_gone(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    page = LocalStorage().list_folder_page(str(tmp_path), "", 2)
    (tmp_path / "b").rmdir()
    rest = LocalStorage().list_folder_page(str(tmp_path), page.next, 2)
    assert rest.folders == (str(tmp_path / "c"),)
    assert rest.next == ""
