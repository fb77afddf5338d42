"""HLO modules: which names are refused, which are repaired, which pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from loader.engine.produced import MODULE_SUFFIX, module_names
from loader.errors import ErrorCode
from tests.inspecting import inspect, refusal, repaired
from tests.wire_bytes import (
    block,
    event_metadata,
    hlo_proto_stat,
    hlo_stat,
    line,
    metadata_plane,
    plane,
)


def modules(*stats: bytes) -> bytes:
    """A profile whose metadata plane has one event per stat."""
    entries = (event_metadata(i, f"m({i})", stats=stat) for i, stat in enumerate(stats, 1))
    return plane("/device:TPU:0", line()) + metadata_plane(*entries)


@pytest.mark.parametrize(
    "name", [b"../B/vm.xplane.pb\0", b"a/../b", b"a..b", b"a\0b", b"/etc/x", b".."]
)
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, name: bytes) -> None:
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
    assert "unsafe HLO" in refusal(tmp_path, modules(hlo_stat(b"../a", stat=99))).message


def test_a_name_of_200_bytes_and_usual_signs_is_accepted(tmp_path: Path) -> None:
    names = [b"m" * 200, b"jit__lambda_.1", "jit_größe <x>".encode()]
    inspection = inspect(tmp_path, modules(*map(hlo_stat, names)))
    assert inspection.modules == ("jit__lambda_.1", "jit_größe <x>", "m" * 200)
    assert inspection.warnings == ()
    assert inspection.repairs == ()


def test_a_longer_name_is_refused_with_its_length(tmp_path: Path) -> None:
    error = refusal(tmp_path, modules(hlo_stat(b"m" * 201)))
    assert error.code is ErrorCode.TOO_LARGE
    assert "the name of an HLO module in it has 201 bytes, and the limit is 200" in error.message


def test_a_slash_becomes_an_underscore_in_the_module_only(tmp_path: Path) -> None:
    profile = modules(hlo_stat(b"jit_ok"), hlo_stat(b"sub/dir/mod"), hlo_stat(b"x/y", stat=99))
    inspection = inspect(tmp_path, profile)
    assert "sub_dir_mod" in inspection.modules
    assert inspection.warnings == (
        "The HLO module 'sub/dir/mod' is called 'sub_dir_mod' here: XProf can't handle all its characters.",
    )
    assert repaired(profile, inspection) == profile.replace(b"sub/dir/mod", b"sub_dir_mod")


@pytest.mark.parametrize(
    ("name", "fixed", "shown"),
    [
        ("a\nb", "a?b", r"a\nb"),
        ("jit_\x1b[31m", "jit_?[31m", r"jit_\x1b[31m"),
        ("safe\u202ecod.exe", "safe???cod.exe", r"safe\u202ecod.exe"),
        ("f(a, b)", "f(a_ b)", "f(a, b)"),
    ],
)
def test_what_a_name_in_a_list_cannot_have_is_replaced_and_named(
    tmp_path: Path, name: str, fixed: str, shown: str
) -> None:
    """Else the module's file would not be taken for one, or one module would read as two."""
    profile = modules(hlo_stat(name.encode()))
    inspection = inspect(tmp_path, profile)
    assert inspection.modules == (fixed,)
    assert inspection.warnings == (
        f"The HLO module '{shown}' is called '{fixed}' here: XProf can't handle all its characters.",
    )
    assert repaired(profile, inspection) == profile.replace(name.encode(), fixed.encode())
    (tmp_path / f"{fixed}(1){MODULE_SUFFIX}").touch()
    assert module_names(tmp_path) == [f"{fixed}(1)"]


def test_a_group_in_a_stat_that_is_no_module_is_harmless(tmp_path: Path) -> None:
    """Bytes that are no message, a fingerprint say, often look like one."""
    fingerprint = hlo_proto_stat(b"\x0b\x9f\x12\x33\x01", stat=99)
    inspection = inspect(tmp_path, modules(hlo_stat(b"jit_ok"), fingerprint))
    assert inspection.modules == ("jit_ok",)
    assert inspection.warnings == ()


def test_unreadable_bytes_in_a_module_name_become_question_marks(tmp_path: Path) -> None:
    profile = modules(hlo_stat(b"jit_\xff\xfe/x"))
    inspection = inspect(tmp_path, profile)
    assert inspection.modules == ("jit_??_x",)
    assert repaired(profile, inspection) == profile.replace(b"jit_\xff\xfe/x", b"jit_??_x")


def test_unreadable_hlo_is_counted(tmp_path: Path) -> None:
    garbage = hlo_proto_stat(b"\xff\xff\xff\x01garbage")
    inspection = inspect(tmp_path, modules(hlo_stat(b"ok"), garbage, garbage))
    assert inspection.modules == ("ok",)
    assert inspection.warnings == (
        "The HLO of 2 modules could not be read; graph and memory tools lack it.",
    )
