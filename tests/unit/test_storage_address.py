"""Addresses are taken apart literally."""

from __future__ import annotations

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.storage.address import GcsAddress, has_plain_segments, parse_gcs, shown


@pytest.mark.parametrize(
    ("location", "bucket", "name"),
    [
        ("gs://traces", "traces", ""),
        ("gs://traces/", "traces", ""),
        ("gs://traces/a b/c%2Fd#e?f+g,h", "traces", "a b/c%2Fd#e?f+g,h"),
        ("gs://my.company.com/u\u0308/ü", "my.company.com", "u\u0308/ü"),
    ],
)
def test_names_are_kept_as_written(location: str, bucket: str, name: str) -> None:
    assert parse_gcs(location) == GcsAddress(bucket, name)


@pytest.mark.parametrize(
    "location",
    ["gs://", "gs:///x", "gs://UPPER/x", "gs://a?b/x", "gs://../x", "s3://b/x", "/gs://b"],
)
def test_what_is_no_address_is_refused(location: str) -> None:
    with pytest.raises(LoaderError) as caught:
        parse_gcs(location)
    assert caught.value.code is ErrorCode.INVALID_REQUEST


def test_a_prefix_ends_in_exactly_one_slash() -> None:
    assert parse_gcs("gs://traces/a/b").prefix == "a/b/"
    assert parse_gcs("gs://traces/a/b/").prefix == "a/b/"
    assert parse_gcs("gs://traces/").prefix == ""


@pytest.mark.parametrize(
    "location", ["gs://b/a", "gs://b", "gs://b/a/", "/a/b", "/a/b/", "/a/.b/c.."]
)
def test_plain_segments(location: str) -> None:
    assert has_plain_segments(location)


@pytest.mark.parametrize(
    "location",
    ["gs://b/a/../c", "gs://b/./a", "gs://b//a", "gs://b/a//", "/a/../b", "/a//b", "/a/.", "/a\0b"],
)
def test_segments_that_are_not_plain(location: str) -> None:
    assert not has_plain_segments(location)


def test_shown_keeps_a_message_on_one_line_and_short() -> None:
    assert shown("a\nb\x1b[31m") == "'a\ufffdb\ufffd[31m'"
    assert len(shown("x" * 10_000)) < 320
