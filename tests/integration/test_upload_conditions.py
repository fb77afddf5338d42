"""Two writers at one place in a bucket: the store's own conditions let one of them win."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.storage.base import StoredFile
from loader.storage.gcs_writer import GcsWriter
from loader.storage.writing import AlreadyThereError
from tests.integration.conditional_gcs import ConditionalGcs, serve_conditional_gcs

ROOT = "gs://bucket/uploads"
PLACE = f"{ROOT}/s/vm.xplane.pb"


@pytest.fixture
def gcs() -> Iterator[ConditionalGcs]:
    with serve_conditional_gcs() as server:
        yield server


@pytest.fixture
def writer(gcs: ConditionalGcs) -> GcsWriter:
    return GcsWriter(gcs.client(), ROOT)


def put(writer: GcsWriter, name: str, content: bytes) -> StoredFile:
    draft = writer.begin(f"{ROOT}/{name}")
    draft.write(content)
    return draft.finish()


def content_of(gcs: ConditionalGcs) -> bytes:
    return gcs.objects["uploads/s/vm.xplane.pb"][1]


def test_of_two_drafts_of_one_place_the_first_stays(gcs: ConditionalGcs, writer: GcsWriter) -> None:
    first, second = writer.begin(PLACE), writer.begin(PLACE)
    first.write(b"first")
    second.write(b"second")
    first.finish()
    with pytest.raises(AlreadyThereError):
        second.finish()
    assert content_of(gcs) == b"first"


def test_nothing_is_published_over_another_file(gcs: ConditionalGcs, writer: GcsWriter) -> None:
    writer.publish(put(writer, "d/1", b"first"), PLACE)
    with pytest.raises(AlreadyThereError):
        writer.publish(put(writer, "d/2", b"second"), PLACE)
    assert content_of(gcs) == b"first"


def test_exactly_the_named_generation_is_replaced(gcs: ConditionalGcs, writer: GcsWriter) -> None:
    first = writer.publish(put(writer, "d/1", b"first"), PLACE)
    second = writer.publish(put(writer, "d/2", b"second"), PLACE, replaces=first.generation)
    assert content_of(gcs) == b"second"
    with pytest.raises(AlreadyThereError):
        writer.publish(put(writer, "d/3", b"third"), PLACE, replaces=first.generation)
    assert not writer.remove(first)
    assert content_of(gcs) == b"second"
    assert writer.remove(second)
    with pytest.raises(AlreadyThereError):
        writer.publish(put(writer, "d/4", b"fourth"), PLACE, replaces=second.generation)
    assert gcs.objects.keys() == {f"uploads/d/{number}" for number in range(1, 5)}


def test_parts_are_joined_in_the_generations_that_were_listed(
    gcs: ConditionalGcs, writer: GcsWriter
) -> None:
    parts = [put(writer, f"p/{index:02}", b"%02d" % index) for index in range(40)]
    whole = writer.join(parts, f"{ROOT}/p/whole")
    expected = b"".join(b"%02d" % index for index in range(40))
    assert (whole.size, gcs.objects["uploads/p/whole"][1]) == (80, expected)
    with pytest.raises(AlreadyThereError):
        writer.join(parts[:2], f"{ROOT}/p/whole")
    writer.remove(parts[1])
    put(writer, "p/01", b"another")
    with pytest.raises(LoaderError) as caught:
        writer.join(parts, f"{ROOT}/p/again")
    assert caught.value.code is ErrorCode.SOURCE_CHANGED
    assert "uploads/p/again" not in gcs.objects


def test_a_missing_right_to_write_names_the_role(gcs: ConditionalGcs, writer: GcsWriter) -> None:
    file = put(writer, "d/1", b"x")
    gcs.refusal = 403
    draft = writer.begin(PLACE)
    draft.write(b"x")
    for call in (draft.finish, lambda: writer.publish(file, PLACE), lambda: writer.remove(file)):
        with pytest.raises(LoaderError) as caught:
            call()
        assert caught.value.code is ErrorCode.PERMISSION_DENIED
        assert "roles/storage.objectUser" in caught.value.message
    draft.discard()
