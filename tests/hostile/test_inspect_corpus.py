"""Every damaged or hostile file of the corpus gets its right answer before the engine sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.inspect import inspect_profile

CORPUS = Path(__file__).parent / "corpus"

REFUSED = {
    "one_byte": (ErrorCode.MALFORMED, "it ends too early"),
    "truncated_half": (ErrorCode.MALFORMED, "it ends too early"),
    "gzip": (ErrorCode.MALFORMED, "gzip-compressed; unpack it and upload the .xplane.pb itself"),
    "text": (ErrorCode.MALFORMED, "it is not a protobuf"),
    "huge_length": (ErrorCode.MALFORMED, "a length is larger than the file"),
    "varint_11_bytes": (ErrorCode.MALFORMED, "a number is malformed"),
    "unknown_fields_only": (ErrorCode.MALFORMED, "it has no planes"),
    "gpu_planes_450": (ErrorCode.TOO_LARGE, "too many device planes (450; limit 256)"),
    "child_cycle": (ErrorCode.MALFORMED, "op metadata contains a cycle"),
    "hlo_traversal": (ErrorCode.MALFORMED, "unsafe HLO module name"),
    "hlo_slash": (ErrorCode.MALFORMED, "unsafe HLO module name"),
}

ACCEPTED = {
    "ts_int64_min": "",
    "offset_overflow": "",
    "duration_negative": "",
    "dangling_event_metadata": "",
    "dangling_stat_ref": "",
    "duplicate_planes": "is there 3 times",
    "empty_names": "",
    "nul_in_names": "",
    "html_in_names": "",
    "hlo_garbage": "The HLO of 1 module could not be read",
    "hlo_operand_cycle": "",
    "hlo_call_fan_2pow22": "",
    "ba_missing_instruction": "",
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_reason(name: str) -> None:
    code, reason = REFUSED[name]
    with pytest.raises(LoaderError) as caught:
        inspect_profile(CORPUS / f"{name}.xplane.pb")
    assert caught.value.code is code
    assert reason in caught.value.message
    assert caught.value.file == f"{name}.xplane.pb"


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted_with_the_right_warning(name: str) -> None:
    inspection = inspect_profile(CORPUS / f"{name}.xplane.pb")
    assert ACCEPTED[name] in " ".join(inspection.warnings)


def test_every_file_of_the_corpus_has_an_expected_answer() -> None:
    names = {path.name.removesuffix(".xplane.pb") for path in CORPUS.glob("*.xplane.pb")}
    assert names == set(REFUSED) | set(ACCEPTED)
