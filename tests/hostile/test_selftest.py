"""The sandbox's self-test proves what it says: each attempt works without the sandbox, and none with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from loader.engine.attempts import ATTEMPTS
from loader.engine.sandbox import LAYERS

PLAIN_USER = "10001"
ROOT = Path(__file__).parents[2]
NOT_EVERYWHERE = {
    "open a UDP socket",  # of IPv6
    "open a socket to the hypervisor",
    "use io_uring",
    "make a namespace",
    "trace the parent",
    "read the parent's memory",
    "open the parent's memory",
    "see the parent's files",
}
"""What kernels and containers may refuse without any sandbox of ours."""
ONLY_ROOT = {"become root", "stay who it is", "change the input", "have capabilities"}
"""What no plain user can do."""


def python(module: str, *arguments: str, prefix: tuple[str, ...] = ()) -> str:
    done = subprocess.run(
        [*prefix, sys.executable, "-m", module, *arguments],
        stdout=subprocess.PIPE,
        timeout=60,
        check=True,
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
    )
    return done.stdout.decode()


def on_poorer_machine(user: str, lacks: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "tests.hostile.poorer_machine", user, lacks)


def layers(user: str = "-", lacks: str = "-") -> dict[str, str]:
    """Layers that hold map to an empty text, others to their reason."""
    rows = json.loads(python("loader.engine.selftest", prefix=on_poorer_machine(user, lacks)))
    assert [name for name, _, _ in rows] == list(LAYERS)
    return {name: "" if holds else detail for name, holds, detail in rows}


@pytest.mark.parametrize("layer", LAYERS)
def test_every_attempt_gets_through_without_a_sandbox(layer: str) -> None:
    through = set(json.loads(python("tests.hostile.unconfined", layer)))
    missing = set(ATTEMPTS[layer]) - through - NOT_EVERYWHERE
    assert missing <= (set() if os.geteuid() == 0 else ONLY_ROOT)


def plain_user() -> str:
    return PLAIN_USER if os.geteuid() == 0 else "-"


def test_a_machine_with_everything_holds_everything_that_its_user_can_have() -> None:
    lost = {name for name, reason in layers().items() if reason}
    assert lost <= {"landlock", *(() if os.geteuid() == 0 else ("own_user",))}


def test_a_plain_user_without_privileges_has_all_but_a_user_of_its_own() -> None:
    lost = {name: reason for name, reason in layers(plain_user()).items() if reason}
    assert lost.pop("own_user") == "only root can give each conversion a user of its own"
    assert set(lost) <= {"landlock"}


def test_a_kernel_without_landlock() -> None:
    reason = layers(plain_user(), "landlock")["landlock"]
    assert reason == "this kernel has no Landlock, or it is switched off"


def test_a_kernel_without_a_filter_of_system_calls() -> None:
    assert "Invalid argument" in layers(plain_user(), "seccomp")["system_calls"]


def test_a_layer_that_is_accepted_without_effect_does_not_hold() -> None:
    # As an emulated kernel might: the calls of both say yes and do nothing.
    found = layers(plain_user(), "pretended")
    assert found["system_calls"].startswith("not stopped: open a TCP socket")
    assert "not stopped: read a file outside" in found["landlock"]
