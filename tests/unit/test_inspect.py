"""What the inspection says about profiles, and about files that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.inspection.contents import Contents
from loader.inspection.refusals import CutOffError
from loader.inspection.result import Inspection
from loader.intake.inspect import inspect_profile
from tests.inspecting import inspect, refusal
from tests.wire_bytes import block, good_profile, line, number, plane


def test_a_good_profile_says_what_it_holds(tmp_path: Path) -> None:
    profile = good_profile()
    assert inspect(tmp_path, profile) == Inspection(
        size=len(profile),
        planes=4,
        device_planes=1,
        lines=2,
        events=0,
        longest_name=len("Task Environment"),
        modules=("jit_eval", "jit_step"),
        hostnames=("host-0",),
        start_ns=1000,
        stop_ns=2500,
        warnings=(),
        repairs=(),
        contents=Contents(tpu_planes=1, hlo_modules=2),
    )


def test_the_message_names_the_file_as_the_caller_calls_it(tmp_path: Path) -> None:
    path = tmp_path / "0123abcd"
    path.write_bytes(b"")
    with pytest.raises(LoaderError) as caught:
        inspect_profile(path, "worker-0.xplane.pb")
    assert caught.value.file == "worker-0.xplane.pb"
    assert "it is empty" in caught.value.message
    assert "0123abcd" not in caught.value.message


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"<?xml version='1.0'?><Error><Code>NoSuchKey</Code></Error>", "XML or HTML page"),
        (b"<!DOCTYPE html>\n<html><body>Sign in</body></html>", "XML or HTML page"),
        (b"\n\n<html>an error page</html>", "XML or HTML page"),
        (b'{"traceEvents": []}', "text"),
        ("Grüße, ".encode() * 100, "text"),
        (b"PK\x03\x04abcdefghijk", "ZIP archive"),
        (b"\x28\xb5\x2f\xfdabcdefgh", "zstd-compressed"),
        (b"\xfd7zXZ\x00\x00abcdefgh", "xz-compressed"),
        (b"BZh91AY&SYabcdefgh", "bzip2-compressed"),
        (b"\x00" * 100, "it is not a protobuf"),
        (good_profile()[:-40], "it ends too early"),
        (plane("/host:CPU", b"\x1a\x7f"), "a plane in it is damaged"),
        (plane("/host:CPU", line("x", b"\x22\x05\x08\x01")), "a plane in it is damaged"),
    ],
)
def test_what_else_a_file_may_be(tmp_path: Path, data: bytes, words: str) -> None:
    error = refusal(tmp_path, data)
    assert error.code is ErrorCode.MALFORMED
    assert words in error.message


HLO_MODULE = (
    block(1, "jit_step")
    + block(2, "main.5")
    + block(3, block(1, "main.5") + block(2, block(1, "p0") + block(2, "parameter")))
    + number(5, 7)
)
GRAPH_NODE = block(1, "dense/MatMul") + block(2, "MatMul") + block(3, "x") + block(4, "/device:CPU")
TRACE_DEVICE = number(1, 1) + block(2, block(1, "/device:TPU:0") + number(2, 1))
OTHER_PROTOBUFS = {
    "HloProto": block(1, HLO_MODULE),
    "GraphDef": block(1, GRAPH_NODE) * 3 + block(4, number(1, 2056)),
    "SavedModel": number(1, 1) + block(2, block(1, block(4, "serve"))),
    "pprof heap profile": block(1, number(1, 1) + number(2, 2)) + block(2, b"\x0a\x01\x01"),
    "tf.train.Example": block(1, block(1, block(1, "label") + block(2, block(3, b"\x0a\x01\x01")))),
    "XProf's trace": block(1, TRACE_DEVICE) + block(4, number(1, 1) + number(2, 3)),
}


@pytest.mark.parametrize("kind", OTHER_PROTOBUFS)
def test_another_protobuf_is_called_so(tmp_path: Path, kind: str) -> None:
    error = refusal(tmp_path, OTHER_PROTOBUFS[kind])
    assert error.code is ErrorCode.MALFORMED
    assert "it is another kind of protobuf, or damaged" in error.message


def test_fields_of_a_later_profiler_are_no_other_protobuf(tmp_path: Path) -> None:
    later = block(9, "new") + number(12, 1)
    profile = plane("/host:CPU", line("x", b"\x22\x00" + later) + later) + later
    assert inspect(tmp_path, profile).events == 1


@pytest.mark.parametrize("length", [0, 1, 30, len(good_profile()) - 1])
def test_a_file_that_was_cut_off_is_told_from_other_damage(tmp_path: Path, length: int) -> None:
    assert isinstance(refusal(tmp_path, good_profile()[:length]), CutOffError)
    assert not isinstance(refusal(tmp_path, b"\x00" + good_profile()), CutOffError)


def test_a_capture_that_left_nothing_shows_what_the_profiler_said(tmp_path: Path) -> None:
    error = refusal(tmp_path, block(2, "Failed to start the TPU profiler."))
    assert "it has no planes" in error.message
    assert "The profiler reported: Failed to start the TPU profiler." in error.message


def test_warnings_say_why_nothing_shows(tmp_path: Path) -> None:
    no_lines = inspect(tmp_path, plane("/host:CPU"))
    assert no_lines.warnings[0].startswith("Nothing was recorded")
    host_only = inspect(tmp_path, plane("/host:CPU", line()) + block(3, "dropped 7 events"))
    assert host_only.warnings[0] == "The profiler reported: dropped 7 events"
    assert host_only.warnings[1].startswith("There is no device plane")
