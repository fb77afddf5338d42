"""Terraform for tests, without a registry or credentials; and what its files declare.

Real `terraform` runs with `tf-offline`, which knows the providers' resources but creates nothing. Its path is
in the variable `TF_OFFLINE`; else it is looked for in the shared folder beside the checkout. Where one of the
two is missing these tests are skipped, in CI too: no package of the system brings them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULE = ROOT / "deploy" / "terraform"
_BESIDE = ROOT.parent / "shared" / "tools" / "offline-terraform" / "tf-offline"
_SECONDS = 240
_BLOCK = re.compile(r'^(variable|output) "(\w+)" \{\n(.*?)^\}', re.MULTILINE | re.DOTALL)
_NODE = re.compile(r'^ +"([^"]+)" \[', re.MULTILINE)
_EDGE = re.compile(r'^ +"([^"]+)" -> "([^"]+)"', re.MULTILINE)
_FIELD = re.compile(r"^  (description|type|default) += (.*)$", re.MULTILINE)

Plan = dict[str, dict[str, object]]
"""A plan as terraform shows it in JSON."""


@dataclass(frozen=True)
class Declared:
    """A variable or output as its file declares it.

    Attributes:
        kind: `variable` or `output`.
        name: as callers write it.
        description: the text between the quotes, escapes resolved.
        type: the first word of the type, such as `string` or `object`; empty for outputs.
        is_required: whether callers have to give a value.
    """

    kind: str
    name: str
    description: str
    type: str
    is_required: bool


def declarations(folder: Path = MODULE) -> list[Declared]:
    """All variables and outputs of a module, by name; the files are as `terraform fmt` writes them."""
    found = []
    for file in sorted(folder.glob("*.tf")):
        for kind, name, body in _BLOCK.findall(file.read_text()):
            fields = dict(_FIELD.findall(body))
            text = fields.get("description", "").strip('"').replace('\\"', '"')
            type_name = re.split(r"\W", fields.get("type", ""))[0]
            is_required = kind == "variable" and "default" not in fields
            found.append(Declared(kind, name, text, type_name, is_required))
    return sorted(found, key=lambda declared: declared.name)


def table(kind: str) -> str:
    """What the module's README says about all variables or all outputs."""
    if kind == "output":
        head = ["| output | description |", "| --- | --- |"]
    else:
        head = ["| variable | type | required | description |", "| --- | --- | --- | --- |"]
    lines = [_line(declared) for declared in declarations() if declared.kind == kind]
    return "\n".join(head + lines)


def _line(declared: Declared) -> str:
    if declared.kind == "output":
        return f"| `{declared.name}` | {declared.description} |"
    required = "yes" if declared.is_required else "no"
    return f"| `{declared.name}` | {declared.type} | {required} | {declared.description} |"


@dataclass(frozen=True)
class OfflineTerraform:
    """`terraform` and `tf-offline` on this machine."""

    terraform: Path
    offline: Path

    def check_format(self) -> subprocess.CompletedProcess[str]:
        """`terraform fmt -check` of the module and all below it."""
        return _run(
            [str(self.terraform), f"-chdir={MODULE}", "fmt", "-check", "-diff", "-recursive"]
        )

    def graph(self) -> dict[str, set[str]]:
        """What each of the module's resources and data sources needs first, looking through locals.

        Raises:
            AssertionError: terraform can't read the module.
        """
        shown = self.run("graph", MODULE)
        assert shown.returncode == 0, shown.stderr
        needs: dict[str, set[str]] = {name: set() for name in _NODE.findall(shown.stdout)}
        for name, needed in _EDGE.findall(shown.stdout):
            needs[name].add(needed)
        return needs

    def plan(self, folder: Path, scratch: Path, options: Sequence[str] = ()) -> Plan:
        """What terraform would make of a configuration.

        Raises:
            AssertionError: it can't be planned.
        """
        kept = scratch / "made.tfplan"
        planned = self.run("plan", folder, options=[f"-out={kept}", *options])
        assert planned.returncode == 0, planned.stdout + planned.stderr
        shown = self.run("show", folder, options=["-json", str(kept)])
        assert shown.returncode == 0, shown.stderr
        document: Plan = json.loads(shown.stdout)
        return document

    def run(
        self, command: str, *folders: Path, options: Sequence[str] = ()
    ) -> subprocess.CompletedProcess[str]:
        """One of terraform's commands in some folders."""
        program = [sys.executable, str(self.offline), "--terraform", str(self.terraform)]
        return _run([*program, command, *map(str, folders), "-no-color", *options])


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TF_CLI")}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=_SECONDS, check=False, env=kept
    )


@pytest.fixture(scope="session")
def offline_terraform() -> OfflineTerraform:
    """Skips the test where there is no terraform, or nothing that stands for its providers."""
    program = shutil.which("terraform")
    if program is None:
        pytest.skip("terraform is not installed (1.11 or newer, on PATH)")
    offline = Path(os.environ.get("TF_OFFLINE", _BESIDE))
    if not offline.is_file():
        pytest.skip("tf-offline was not found: set TF_OFFLINE to its path")
    return OfflineTerraform(Path(program), offline)
