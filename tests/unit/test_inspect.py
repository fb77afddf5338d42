"""What the inspection says about profiles whose every byte the test has written itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.inspect import Inspection, InspectionLimits, inspect_profile
from loader.inspect_plane import PlaneLimits
from tests.wire_bytes import (
    block,
    event_metadata,
    good_profile,
    hlo_proto_stat,
    hlo_stat,
    line,
    metadata_plane,
    number,
    plane,
)


def inspect(tmp_path: Path, data: bytes, limits: InspectionLimits | None = None) -> Inspection:
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(data)
    return inspect_profile(path, limits=limits or InspectionLimits())


def refusal(tmp_path: Path, data: bytes, limits: InspectionLimits | None = None) -> LoaderError:
    with pytest.raises(LoaderError) as caught:
        inspect(tmp_path, data, limits)
    return caught.value


def test_a_good_profile_says_what_it_holds(tmp_path: Path) -> None:
    assert inspect(tmp_path, good_profile()) == Inspection(
        planes=4,
        device_planes=1,
        lines=2,
        longest_name=len("Task Environment"),
        modules=("jit_eval", "jit_step"),
        hostnames=("host-0",),
        start_ns=1000,
        stop_ns=2500,
        warnings=(),
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
        (b"\x1f\x8b\x08\x00abcdefgh", "gzip-compressed"),
        (b"PK\x03\x04abcdefghijk", "ZIP archive"),
        (b"\x28\xb5\x2f\xfdabcdefgh", "zstd-compressed"),
        (b"\x00" * 100, "it is not a protobuf"),
        (good_profile()[:-40], "it ends too early"),
        (plane("/host:CPU", b"\x1a\x7f"), "a plane in it is damaged"),
    ],
)
def test_what_else_a_file_may_be(tmp_path: Path, data: bytes, words: str) -> None:
    error = refusal(tmp_path, data)
    assert error.code is ErrorCode.MALFORMED
    assert words in error.message


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


def test_4096_planes_are_accepted_and_one_more_is_not(tmp_path: Path) -> None:
    assert inspect(tmp_path, b"\x0a\x00" * 4096).planes == 4096
    error = refusal(tmp_path, b"\x0a\x00" * 4097)
    assert error.code is ErrorCode.TOO_LARGE
    assert "too many planes (more than the limit of 4,096)" in error.message


def test_256_device_planes_are_accepted_and_one_more_is_not(tmp_path: Path) -> None:
    planes = [plane(f"/device:GPU:{index}", line()) for index in range(257)]
    assert inspect(tmp_path, b"".join(planes[:256])).device_planes == 256
    assert "(257; limit 256)" in refusal(tmp_path, b"".join(planes)).message


@pytest.mark.parametrize("field", [2, 4])
def test_names_of_16_kb_are_accepted_and_one_byte_more_is_not(tmp_path: Path, field: int) -> None:
    def profile(length: int) -> bytes:
        value = block(field, "N" * length)
        return plane("/host:CPU", line() + block(4, number(1, 1) + block(2, value)))

    assert inspect(tmp_path, profile(16384)).longest_name == 16384
    error = refusal(tmp_path, profile(16385))
    assert error.code is ErrorCode.TOO_LARGE
    assert "a name in it is longer than 16 KB" in error.message


def test_a_long_plane_name_is_refused(tmp_path: Path) -> None:
    assert "longer than 16 KB" in refusal(tmp_path, plane("/device:TPU:0" + "x" * 16384)).message


def ops(*children: tuple[int, ...]) -> bytes:
    """A device plane whose op 1 has the first children, op 2 the second, ..."""
    entries = (event_metadata(i, f"%op{i}", children=c) for i, c in enumerate(children, 1))
    return plane("/device:TPU:0", line() + b"".join(entries))


@pytest.mark.parametrize(
    "graph",
    [((1,),), ((2,), (1,)), ((2,), (3,), (4,), (2,)), ((2, 3), (), (4,), (1,))],
    ids=["self", "pair", "behind a tail", "second branch"],
)
def test_a_cycle_of_ops_is_refused(tmp_path: Path, graph: tuple[tuple[int, ...], ...]) -> None:
    error = refusal(tmp_path, ops(*graph))
    assert error.code is ErrorCode.MALFORMED
    assert "op metadata contains a cycle" in error.message


def test_a_cycle_with_unpacked_children_is_refused(tmp_path: Path) -> None:
    value = number(1, 1) + block(2, "%a") + number(6, 1)
    profile = plane("/device:TPU:0", block(4, number(1, 1) + block(2, value)))
    assert "contains a cycle" in refusal(tmp_path, profile).message


def test_a_shared_child_is_no_cycle(tmp_path: Path) -> None:
    assert inspect(tmp_path, ops((2, 3), (4,), (4,), ())).device_planes == 1


def test_the_later_of_two_entries_with_one_key_counts(tmp_path: Path) -> None:
    first = event_metadata(1, "%a", children=(1,))
    profile = plane("/device:TPU:0", first + event_metadata(1, "%a"))
    assert inspect(tmp_path, profile).device_planes == 1


def test_ops_that_unfold_exponentially_are_refused(tmp_path: Path) -> None:
    levels = tuple((level + 1, level + 1) for level in range(1, 61))
    error = refusal(tmp_path, ops(*levels))
    assert error.code is ErrorCode.TOO_LARGE
    assert "unfolds to more than" in error.message


def test_deep_nesting_is_bounded(tmp_path: Path) -> None:
    def chain(length: int) -> bytes:
        return ops(*((op + 1,) for op in range(1, length + 1)))

    assert inspect(tmp_path, chain(1000)).device_planes == 1
    assert "nested deeper than 1,000 levels" in refusal(tmp_path, chain(1001)).message


def test_child_references_are_bounded(tmp_path: Path) -> None:
    limits = InspectionLimits(plane=PlaneLimits(children=5))
    assert inspect(tmp_path, ops((2, 3, 4, 5, 6)), limits).planes == 1
    assert "more than 5 child references" in refusal(tmp_path, ops((2,) * 6), limits).message


def modules(*stats: bytes) -> bytes:
    """A profile whose metadata plane has one event per stat."""
    entries = (event_metadata(i, f"m({i})", stats=stat) for i, stat in enumerate(stats, 1))
    return plane("/device:TPU:0", line()) + metadata_plane(*entries)


@pytest.mark.parametrize(
    "name", [b"../B/vm.xplane.pb\0", b"a/b", b"a..b", b"a\0b", b"/etc/x", b"m" * 201]
)
def test_unsafe_module_names_are_refused(tmp_path: Path, name: bytes) -> None:
    error = refusal(tmp_path, modules(hlo_stat(b"jit_ok"), hlo_stat(name)))
    assert error.code is ErrorCode.MALFORMED
    assert "unsafe HLO module name" in error.message


def test_an_unsafe_name_behind_a_safe_one_is_refused(tmp_path: Path) -> None:
    twice = block(1, block(1, "safe")) + block(1, block(1, "../evil"))
    assert "unsafe HLO" in refusal(tmp_path, modules(hlo_proto_stat(twice))).message


def test_an_unsafe_name_before_damage_or_behind_a_group_is_refused(tmp_path: Path) -> None:
    damaged = block(1, block(1, "../evil")) + b"\xff"
    group = b"\x5b\x5c" + block(1, block(1, "../evil"))
    for proto in (damaged, group):
        assert "unsafe HLO" in refusal(tmp_path, modules(hlo_proto_stat(proto))).message


def test_an_unsafe_name_in_a_stat_of_another_name_is_refused(tmp_path: Path) -> None:
    assert "unsafe HLO" in refusal(tmp_path, modules(hlo_stat(b"a/b", stat=99))).message


def test_a_module_name_of_200_bytes_and_usual_signs_is_accepted(tmp_path: Path) -> None:
    names = [b"m" * 200, b"jit__lambda_.1", "jit_größe <x>".encode()]
    inspection = inspect(tmp_path, modules(*map(hlo_stat, names)))
    assert inspection.modules == ("jit__lambda_.1", "jit_größe <x>", "m" * 200)
    assert inspection.warnings == ()


def test_unreadable_hlo_is_counted(tmp_path: Path) -> None:
    garbage = hlo_proto_stat(b"\xff\xff\xff\x01garbage")
    inspection = inspect(tmp_path, modules(hlo_stat(b"ok"), garbage, garbage))
    assert inspection.modules == ("ok",)
    assert inspection.warnings == (
        "The HLO of 2 modules could not be read; graph and memory tools lack it.",
    )


def test_the_number_of_steps_is_bounded(tmp_path: Path) -> None:
    many = plane("/host:CPU", event_metadata(1, "a") * 50)
    error = refusal(tmp_path, many, InspectionLimits(fields=100))
    assert error.code is ErrorCode.TOO_LARGE
    assert "too many fields" in error.message


def test_a_file_above_the_size_limit_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "host.xplane.pb"
    with path.open("wb") as stream:
        stream.truncate(1 << 31)  # a hole: takes no space
    with pytest.raises(LoaderError) as caught:
        inspect_profile(path)
    assert caught.value.code is ErrorCode.TOO_LARGE
    assert "2.0 GiB" in caught.value.message
