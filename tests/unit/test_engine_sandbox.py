"""The system call table against the kernel's headers, and the sandbox's self-test."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from loader.engine import rs_program
from loader.engine.sandbox import (
    LAYERS,
    REQUIREMENTS,
    Layer,
    available_layers,
    clean_environment,
    mode_of,
    unmet,
    why_unmet,
)
from loader.engine.seccomp import Rule, build_filter
from loader.engine.syscalls import CONDITIONAL, DENIED, SERVER

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
    for name, numbers in {**DENIED, **CONDITIONAL, **SERVER}.items():
        number = numbers[column]
        # Calls newer than the header may be in the table; others must not be.
        newer = number if number is not None and number > max(kernel.values()) else None
        assert number == kernel.get(name, newer), name


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("rules", [[], rs_program.rules()], ids=["conversion", "xprof-rs"])
def test_jumps_stay_inside_the_filter(machine: str, rules: list[Rule]) -> None:
    program = build_filter(machine, os.getpid(), rules)
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


BASE = {"limits", "no_new_privileges", "system_calls"}


@pytest.mark.parametrize(
    ("held", "mode"),
    [
        (set(LAYERS), "strict"),
        (BASE | {"own_user"}, "standard"),
        (BASE | {"landlock"}, "standard"),
        (BASE, "reduced"),
        (set(LAYERS) - {"system_calls"}, "reduced"),
        (set(LAYERS) - {"limits"}, "reduced"),
        (set(LAYERS) - {"no_new_privileges"}, "reduced"),
        (set(), "reduced"),
    ],
)
def test_the_strictest_mode_that_the_layers_allow(held: set[str], mode: str) -> None:
    assert mode_of([Layer(name, name in held) for name in LAYERS]) == mode


def test_what_a_mode_lacks_is_named_with_its_reason() -> None:
    layers = [
        Layer("limits", True),
        Layer("own_user", False, "only root can"),
        Layer("landlock", False, "this kernel has none"),
    ]
    lacking = unmet(REQUIREMENTS["standard"], BASE)
    assert lacking == ["own_user|landlock"]
    assert why_unmet(lacking[0], layers) == (
        "own_user (only root can) and landlock (this kernel has none)"
    )


def test_environment_of_children_has_no_variable_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XPROF_HUB_SECRET_KEY", "x")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "x")
    monkeypatch.setenv("LD_PRELOAD", "")
    monkeypatch.delenv("TMPDIR", raising=False)
    assert set(clean_environment()) == {"PATH", "LANG", "PYTHONPATH"}
