"""Reads a Dockerfile into stages and instructions, for the tests: there is no Docker where they run."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from string import Template


@dataclass(frozen=True)
class Instruction:
    """One instruction.

    Attributes:
        name: upper case, e.g. `COPY`.
        text: what follows, continuation lines joined.
    """

    name: str
    text: str

    @property
    def words(self) -> list[str]:
        """The arguments: of the JSON form, or split at blanks."""
        if self.text.startswith("["):
            words: list[str] = json.loads(self.text)
            return words
        return self.text.split()

    @property
    def flags(self) -> dict[str, str]:
        """`--name=value` arguments."""
        pairs = (word[2:].partition("=") for word in self.text.split() if word.startswith("--"))
        return {name: value for name, _, value in pairs}

    @property
    def plain(self) -> list[str]:
        """Arguments that are no flags."""
        return [word for word in self.words if not word.startswith("--")]


@dataclass
class Stage:
    """One `FROM` and what follows it."""

    base: str
    name: str
    instructions: list[Instruction] = field(default_factory=list)

    def all(self, name: str) -> list[Instruction]:
        """Every instruction of this name, in order."""
        return [instruction for instruction in self.instructions if instruction.name == name]

    def last(self, name: str) -> Instruction:
        """The instruction of this name that counts."""
        return self.all(name)[-1]

    @property
    def environment(self) -> dict[str, str]:
        """Variables that the stage sets."""
        pairs = (word.partition("=") for env in self.all("ENV") for word in env.words)
        return {name: value for name, _, value in pairs}


def read_stages(path: Path) -> list[Stage]:
    """The stages of a Dockerfile, on the base that it has without build arguments."""
    stages: list[Stage] = []
    arguments: dict[str, str] = {}
    for instruction in _instructions(path.read_text()):
        if instruction.name == "FROM":
            base, *alias = Template(instruction.text).substitute(arguments).split()
            stages.append(Stage(base, alias[1] if alias else ""))
        elif stages:
            stages[-1].instructions.append(instruction)
        else:
            assert instruction.name == "ARG", instruction
            name, _, default = instruction.text.partition("=")
            arguments[name] = default
    return stages


def _instructions(text: str) -> list[Instruction]:
    joined: list[str] = []
    pending = ""
    for line in text.splitlines():
        if line.lstrip().startswith("#") or (not line.strip() and not pending):
            continue
        pending += line.strip()
        if pending.endswith("\\"):
            pending = pending[:-1].rstrip() + " "
            continue
        joined.append(pending)
        pending = ""
    return [
        Instruction(name.upper(), rest.strip())
        for name, _, rest in (line.partition(" ") for line in joined)
    ]
