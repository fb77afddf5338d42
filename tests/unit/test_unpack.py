"""gzip-compressed profiles become what they were, within a bound."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.inspection.refusals import CutOffError
from loader.inspection.unpack import is_gzip, unpack_gzip

CONTENT = os.urandom(300_000) + b"profile" * 50_000


def unpack(
    tmp_path: Path, packed: bytes, most_bytes: int = 1 << 30
) -> tuple[bytes, tuple[str, ...]]:
    source, target = tmp_path / "packed", tmp_path / "plain"
    source.write_bytes(packed)
    target.unlink(missing_ok=True)
    warnings = unpack_gzip(source, target, most_bytes)
    return target.read_bytes(), warnings


@pytest.mark.parametrize("level", [0, 1, 9])
def test_one_member(tmp_path: Path, level: int) -> None:
    assert unpack(tmp_path, gzip.compress(CONTENT, level)) == (CONTENT, ())


def test_several_members_with_padding(tmp_path: Path) -> None:
    parts = [CONTENT[:7], b"", CONTENT[7:200_000], CONTENT[200_000:]]
    packed = b"".join(gzip.compress(part) for part in parts) + bytes(100_000)
    assert unpack(tmp_path, packed) == (CONTENT, ())


def test_what_stands_behind_the_data_is_left_out_and_said(tmp_path: Path) -> None:
    plain, warnings = unpack(tmp_path, gzip.compress(CONTENT) + b"\0\0garbage")
    assert plain == CONTENT
    assert warnings == ("Bytes behind the end of the gzip data were ignored.",)


def test_the_bound_is_exact(tmp_path: Path) -> None:
    packed = gzip.compress(CONTENT)
    assert unpack(tmp_path, packed, len(CONTENT))[0] == CONTENT
    with pytest.raises(LoaderError) as caught:
        unpack(tmp_path, packed, len(CONTENT) - 1)
    assert caught.value.code is ErrorCode.TOO_LARGE
    assert "unpacked, it has more than 649,999 bytes" in caught.value.message
    assert "XPROF_HUB_UNPACKED_BYTES" in caught.value.message


def test_a_bomb_is_stopped_at_the_bound(tmp_path: Path) -> None:
    with pytest.raises(LoaderError) as caught:
        unpack(tmp_path, gzip.compress(bytes(64 << 20)), 1 << 20)
    assert caught.value.code is ErrorCode.TOO_LARGE
    assert (tmp_path / "plain").stat().st_size <= 1 << 20


def test_every_truncation_ends_too_early(tmp_path: Path) -> None:
    packed = gzip.compress(b"a small profile " * 20)
    for length in range(2, len(packed)):
        with pytest.raises(CutOffError) as caught:
            unpack(tmp_path, packed[:length])
        assert "its gzip data ends too early" in caught.value.message


def test_damage_is_told_by_the_checksum(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(CONTENT))
    packed[-5] ^= 1
    with pytest.raises(LoaderError) as caught:
        unpack(tmp_path, bytes(packed))
    assert caught.value.code is ErrorCode.MALFORMED
    assert not isinstance(caught.value, CutOffError)
    assert "its gzip data is damaged" in caught.value.message


def test_members_that_hold_nothing_are_bounded(tmp_path: Path) -> None:
    with pytest.raises(LoaderError) as caught:
        unpack(tmp_path, gzip.compress(b"") * 100_001)
    assert caught.value.code is ErrorCode.TOO_LARGE


def test_gzip_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content, expected in [(gzip.compress(b""), True), (b"\x0a\x00", False), (b"", False)]:
        path.write_bytes(content)
        assert is_gzip(path) is expected
