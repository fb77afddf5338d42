"""Every damaged or hostile file of the corpus gets its right answer before the engine sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.inspection.result import Inspection
from loader.intake.door import take_in
from loader.storage.base import StoredFile
from tests.wire_bytes import block, event_metadata, line, number, plane

CORPUS = Path(__file__).parent / "corpus"

REFUSED = {
    "empty": (ErrorCode.MALFORMED, "it is empty"),
    "one_byte": (ErrorCode.MALFORMED, "it ends too early"),
    "truncated_half": (ErrorCode.MALFORMED, "it ends too early"),
    "text": (ErrorCode.MALFORMED, "it is not a protobuf"),
    "huge_length": (ErrorCode.MALFORMED, "a length is larger than the file"),
    "varint_11_bytes": (ErrorCode.MALFORMED, "a number is malformed"),
    "unknown_fields_only": (ErrorCode.MALFORMED, "it has no planes"),
    "gpu_planes_450": (ErrorCode.TOO_LARGE, "too many device planes (450; limit 256)"),
    "child_cycle": (ErrorCode.MALFORMED, "op metadata contains a cycle"),
    "hlo_traversal": (ErrorCode.MALFORMED, "unsafe HLO module name"),
}

ACCEPTED = {
    "gzip": "",
    "ts_int64_min": "1 line starts at an impossible time",
    "offset_overflow": "1 event has impossible times",
    "duration_negative": "1 event has impossible times",
    "dangling_event_metadata": "",
    "dangling_stat_ref": "",
    "duplicate_planes": "is there 3 times",
    "empty_names": "",
    "nul_in_names": "names in the file held NUL bytes",
    "html_in_names": "",
    "hlo_slash": "The HLO module 'sub/mod' is called 'sub_mod' here",
    "hlo_garbage": "The HLO of 1 module could not be read",
    "hlo_operand_cycle": "",
    "hlo_call_fan_2pow22": "",
    "ba_missing_instruction": "",
    "fuzz_104_memory_viewer_sigabrt": "",
    "fuzz_43_memory_viewer_sigabrt": "",
    "fuzz_5_memory_viewer_sigabrt": "",
}
SILENT = {"gzip", "hlo_operand_cycle"}
"""Accepted ones with nothing to be said of them."""


def answer(path: Path, tmp_path: Path) -> Inspection:
    """The inspection of a file on its way to the engine."""
    file = StoredFile(str(path), path.name, path.stat().st_size, "1")
    return take_in(path, file, tmp_path / "taken-in")


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_reason(tmp_path: Path, name: str) -> None:
    code, reason = REFUSED[name]
    with pytest.raises(LoaderError) as caught:
        answer(CORPUS / f"{name}.xplane.pb", tmp_path)
    assert caught.value.code is code
    assert reason in caught.value.message
    assert caught.value.file == f"{name}.xplane.pb"


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted_with_the_right_warning(tmp_path: Path, name: str) -> None:
    inspection = answer(CORPUS / f"{name}.xplane.pb", tmp_path)
    assert ACCEPTED[name] in " ".join(inspection.warnings)
    if name in SILENT:
        assert [text for text in inspection.warnings if "no device plane" not in text] == []


def test_every_file_of_the_corpus_has_an_expected_answer() -> None:
    names = {path.name.removesuffix(".xplane.pb") for path in CORPUS.glob("*.xplane.pb")}
    assert names == set(REFUSED) | set(ACCEPTED)


def test_forty_thousand_planes_are_too_many(tmp_path: Path) -> None:
    path = tmp_path / "planes.xplane.pb"
    path.write_bytes(b"\x0a\x00" * 40_000)
    with pytest.raises(LoaderError, match=r"too many planes \(40,000; limit 4,096\)"):
        answer(path, tmp_path)


def test_a_name_of_90_kb_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / "name.xplane.pb"
    path.write_bytes(plane("/host:CPU", line() + event_metadata(1, "N" * 90_000)))
    with pytest.raises(LoaderError, match=r"has 90,000 bytes, and the limit is 16,384"):
        answer(path, tmp_path)


@pytest.mark.parametrize("event", [b"", number(1, 1) + number(2, 5) + number(3, 9)])
def test_forty_thousand_events_are_counted(tmp_path: Path, event: bytes) -> None:
    path = tmp_path / "events.xplane.pb"
    path.write_bytes(plane("/host:CPU", line("t", block(4, event) * 40_000)))
    assert answer(path, tmp_path).events == 40_000
