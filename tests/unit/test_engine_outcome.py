"""How a child's end becomes a sentence; what a child may and may not make us say."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from loader.engine.base import Job, Limits
from loader.engine.messages import REPORT_BYTES, ChildEnd, EndedBy, Report
from loader.engine.outcome import clean, explain, read_report
from loader.errors import ErrorCode, LoaderError

JOB = Job(Path("/nowhere"), ("vm",), "op_profile")
LIMITS = Limits(seconds=7, memory_bytes=3 << 30, output_bytes=2 << 30)


def said(report: Report) -> ChildEnd:
    return ChildEnd(EndedBy.ITSELF, report=report.to_json().decode())


def code_of(end: ChildEnd) -> ErrorCode | None:
    error = explain(JOB, LIMITS, end)
    return error.code if error else None


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (ChildEnd(EndedBy.TIME, signal=signal.SIGKILL), ErrorCode.TIMED_OUT),
        (ChildEnd(EndedBy.ITSELF, signal=signal.SIGXCPU), ErrorCode.TIMED_OUT),
        (ChildEnd(EndedBy.MEMORY, signal=signal.SIGKILL), ErrorCode.OUT_OF_MEMORY),
        (ChildEnd(EndedBy.ITSELF, status=127), ErrorCode.OUT_OF_MEMORY),
        (
            ChildEnd(EndedBy.ITSELF, signal=signal.SIGABRT, log="what(): std::bad_alloc"),
            ErrorCode.OUT_OF_MEMORY,
        ),
        (ChildEnd(EndedBy.ITSELF, signal=signal.SIGABRT), ErrorCode.ENGINE_CRASHED),
        (ChildEnd(EndedBy.ITSELF, signal=signal.SIGSEGV), ErrorCode.ENGINE_CRASHED),
        (ChildEnd(EndedBy.ITSELF, signal=signal.SIGSYS), ErrorCode.ENGINE_CRASHED),
        (ChildEnd(EndedBy.ITSELF, status=1), ErrorCode.ENGINE_CRASHED),
        (ChildEnd(EndedBy.ITSELF), ErrorCode.ENGINE_CRASHED),
        (ChildEnd(EndedBy.ITSELF, signal=signal.SIGXFSZ), ErrorCode.TOO_LARGE),
        (ChildEnd(EndedBy.ITSELF, signal=signal.SIGKILL), ErrorCode.INTERNAL),
        (
            ChildEnd(EndedBy.ITSELF, signal=signal.SIGKILL, peak_memory_bytes=2 << 30),
            ErrorCode.OUT_OF_MEMORY,
        ),
        (ChildEnd(EndedBy.CANCELLED, signal=signal.SIGKILL), ErrorCode.CANCELLED),
        (ChildEnd(EndedBy.NOT_STARTED), ErrorCode.INTERNAL),
    ],
)
def test_ends(end: ChildEnd, code: ErrorCode) -> None:
    assert code_of(end) is code
    error = explain(JOB, LIMITS, end)
    assert error is not None
    assert "op_profile" in error.message
    assert error.file == "vm.xplane.pb"


CRASH = ChildEnd(EndedBy.ITSELF, signal=signal.SIGSEGV)
FOUR_ENDS = {
    ErrorCode.ENGINE_CRASHED: CRASH,
    ErrorCode.OUT_OF_MEMORY: ChildEnd(EndedBy.MEMORY, signal=signal.SIGKILL),
    ErrorCode.TIMED_OUT: ChildEnd(EndedBy.TIME, signal=signal.SIGKILL),
    ErrorCode.ENGINE_REFUSED: said(
        Report(
            False, code=ErrorCode.ENGINE_REFUSED, message="/srv/hub/jobs/x/vm.xplane.pb: no data"
        )
    ),
}


@pytest.mark.parametrize("code", FOUR_ENDS)
def test_file_and_tool_are_named_and_no_folder(code: ErrorCode) -> None:
    error = explain(JOB, LIMITS, FOUR_ENDS[code])
    assert error is not None
    assert error.code is code
    assert "op_profile from vm.xplane.pb" in error.message
    assert "/" not in error.message


def test_of_several_hosts_none_is_blamed() -> None:
    error = explain(Job(Path("/nowhere"), ("a", "b", "c"), "op_profile"), LIMITS, CRASH)
    assert error is not None
    assert "op_profile from the profiles of 3 hosts" in error.message
    assert error.file is None


def refused(message: str, *hosts: str) -> LoaderError:
    report = Report(False, code=ErrorCode.ENGINE_REFUSED, message=message)
    error = explain(Job(Path("/nowhere"), hosts, "op_profile"), LIMITS, said(report))
    assert error is not None
    return error


DAMAGED = (
    "This file is not a readable XProf profile (a part of it is damaged). Upload it again, or capture again "
    "if the original is damaged too."
)
PARSE, END = "Can't parse ./{}.xplane.pb as binary proto", "Read less bytes than requested"


@pytest.mark.parametrize("message", [PARSE.format("b"), END])
def test_damage_in_one_profile_is_told_like_the_inspection_does(message: str) -> None:
    error = refused(message, "b")
    assert (error.code, error.message) == (ErrorCode.MALFORMED, DAMAGED)
    assert error.file == "b.xplane.pb"


def test_damage_in_one_of_several_profiles_names_the_file_if_xprof_does() -> None:
    error = refused(PARSE.format("b"), "a", "b", "c")
    assert (error.code, error.message) == (ErrorCode.MALFORMED, DAMAGED)
    assert error.file == "b.xplane.pb"


@pytest.mark.parametrize(
    "message", [END, PARSE.format("d"), PARSE.format("b/c"), PARSE.format("caf\ufffd")]
)
def test_damage_in_a_profile_that_is_not_the_jobs_names_none(message: str) -> None:
    error = refused(message, "a", "b", "caf\udce9")
    assert (error.code, error.file) == (ErrorCode.MALFORMED, None)
    assert "One of the chosen hosts' files" in error.message
    assert "/" not in error.message


@pytest.mark.parametrize("file", ["ALL_HOSTS.op_stats_v2.pb", "jit_step(7).hlo_proto.pb"])
def test_damage_in_an_artifact_is_not_the_profiles(file: str) -> None:
    error = refused(f"Can't parse ./{file} as binary proto", "b")
    assert error.code is ErrorCode.ENGINE_REFUSED


def test_a_name_with_control_characters_is_not_repeated() -> None:
    error = explain(Job(Path("/nowhere"), ("a\x1b[31m",), "op_profile"), LIMITS, CRASH)
    assert error is not None
    assert "op_profile from this profile" in error.message


def test_a_report_counts_only_from_a_child_that_ended_well() -> None:
    fine = Report(True, content_type="application/json").to_json().decode()
    assert code_of(ChildEnd(EndedBy.ITSELF, report=fine)) is None
    segfault = ChildEnd(EndedBy.ITSELF, signal=signal.SIGSEGV, report=fine)
    assert code_of(segfault) is ErrorCode.ENGINE_CRASHED
    assert code_of(ChildEnd(EndedBy.TIME, report=fine)) is ErrorCode.TIMED_OUT


def test_an_answer_is_never_html() -> None:
    assert read_report(said(Report(True, content_type="text/html"))) is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "7", '{"ok": true}', '{"ok": 1, "content_type": 2, "code": "x"}'],
)
def test_nonsense_is_no_report(text: str) -> None:
    assert read_report(ChildEnd(EndedBy.ITSELF, report=text)) is None


def test_an_endless_report_is_none() -> None:
    row = json.loads(Report(True, content_type="application/json").to_json())
    row["message"] = "x" * REPORT_BYTES
    assert read_report(ChildEnd(EndedBy.ITSELF, report=json.dumps(row))) is None


@pytest.mark.parametrize("code", [ErrorCode.PERMISSION_DENIED, ErrorCode.BUSY, ErrorCode.INTERNAL])
def test_a_child_can_not_speak_for_the_server(code: ErrorCode) -> None:
    error = explain(JOB, LIMITS, said(Report(False, code=code, message="give me your password")))
    assert error is not None
    assert error.code is ErrorCode.INTERNAL
    assert "password" not in error.message


def test_messages_lose_folders_and_control_characters() -> None:
    assert clean("./vm(1).pb; No such file") == "vm(1).pb; No such file"
    assert clean("in /srv/data/job 7/vm.pb") == "in job 7/vm.pb"
    assert clean("failure (external/xla/hlo.cc:9)\n\x1b[31mred\0") == (
        "failure (external/xla/hlo.cc:9) [31mred"
    )
    assert clean(" ") == "it gave no reason"


def test_messages_are_short() -> None:
    assert len(clean("word " * 1000)) <= 300


def full_disk_ends() -> list[ChildEnd]:
    """Our own words, XProf's, and a crash after XProf's."""
    own = "OSError: [Errno 28] No space left on device: '.answer'"
    xprofs = "IO error: ./vm.SSTABLE: No space left on device"
    return [
        said(Report(False, code=ErrorCode.INTERNAL, message=own)),
        said(Report(False, code=ErrorCode.ENGINE_REFUSED, message=xprofs)),
        ChildEnd(EndedBy.ITSELF, signal=signal.SIGABRT, log=f"Check failed: {xprofs}"),
    ]


@pytest.mark.parametrize("end", full_disk_ends())
def test_a_full_disk_is_not_the_profiles_fault(
    end: ChildEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "loader.engine.outcome.is_full", lambda directory: directory == JOB.directory
    )
    error = explain(JOB, LIMITS, end)
    assert error is not None
    assert (error.code, error.retry_after) == (ErrorCode.WORKER_FULL, 30)
    assert error.message.startswith("The scratch disk is full; free space on it")


@pytest.mark.parametrize("end", full_disk_ends()[1:])
def test_words_alone_make_no_disk_full(end: ChildEnd, tmp_path: Path) -> None:
    """A profile whose names say so would else be converted again at every request."""
    error = explain(replace(JOB, directory=tmp_path), LIMITS, end)
    assert error is not None
    assert error.code in {ErrorCode.ENGINE_REFUSED, ErrorCode.ENGINE_CRASHED}
