"""The system call table against the kernel's headers, and the sandbox's self-test."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from loader.engine.sandbox import LAYERS, Layer, available_layers, clean_environment, missing_layers
from loader.engine.seccomp import build_filter
from loader.engine.syscalls import CONDITIONAL, DENIED

HEADERS = [
    (0, Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")),
    (1, Path("/usr/include/asm-generic/unistd.h")),
]


@pytest.mark.parametrize(("column", "header"), HEADERS, ids=["x86_64", "aarch64"])
def test_numbers_are_those_of_the_kernel(column: int, header: Path) -> None:
    if not header.exists():
        pytest.skip(f"this machine has no {header.name}")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\b", header.read_text())
    kernel = {name: int(number) for name, number in found}
    for name, numbers in {**DENIED, **CONDITIONAL}.items():
        number = numbers[column]
        # Calls newer than the header may be in the table; others must not be.
        newer = number if number is not None and number > max(kernel.values()) else None
        assert number == kernel.get(name, newer), name


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_jumps_stay_inside_the_filter(machine: str) -> None:
    program = build_filter(machine, os.getpid())
    assert len(program) < 4096
    for index, (code, if_true, if_false, _) in enumerate(program):
        is_jump = code & 0x07 == 0x05
        assert not is_jump or index + 1 + max(if_true, if_false) < len(program)
    assert program[-1][0] == 0x06


def test_layers_of_this_machine_are_told_by_trial() -> None:
    layers = available_layers()
    assert [layer.name for layer in layers] == list(LAYERS)
    held = {layer.name for layer in layers if layer.holds}
    assert {"limits", "no_new_privileges"} <= held
    assert ("own_user" in held) == (os.geteuid() == 0)
    assert all(layer.detail for layer in layers if not layer.holds)


def test_missing_layers_are_named() -> None:
    layers = [Layer("limits", True), Layer("landlock", False, "this kernel has none")]
    assert missing_layers(layers) == ["Sandbox layer landlock does not hold: this kernel has none."]
    assert missing_layers(layers, ["limits"]) == []


def test_environment_of_children_has_no_variable_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XPROF_HUB_SECRET_KEY", "x")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "x")
    monkeypatch.setenv("LD_PRELOAD", "")
    assert set(clean_environment()) == {"PATH", "LANG", "PYTHONPATH"}
