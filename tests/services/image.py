"""Builds the image where no container engine runs: executes the Dockerfile's own instructions in fresh roots.

What differs from an engine: the base is `tests.services.fresh_root`, pip may read this machine's package
index and cache, nothing is layered or kept, and the last stage sees no package index, so that it can't
fetch anything.
"""

from __future__ import annotations

import ast
import fnmatch
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from string import Template

from tests.contract.dockerfile import Instruction, Stage, read_stages
from tests.services.fresh_root import make_base
from tests.services.root_commands import Confinement, Root

BASE_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LANG": "C.UTF-8",
}
"""What `python:*-slim` sets, as far as it matters."""
_SAYS_NOTHING_TO_A_BUILD = {
    "ARG",
    "LABEL",
    "EXPOSE",
    "HEALTHCHECK",
    "ENTRYPOINT",
    "CMD",
    "STOPSIGNAL",
}


@dataclass
class BuiltStage:
    """A stage, as far as it has been built.

    Attributes:
        root: its files.
        env: variables of what runs in it.
        folder: the working directory.
        user: `uid:gid` of what runs in it.
    """

    root: Root
    env: dict[str, str]
    folder: str = "/"
    user: str = "0:0"


@dataclass(frozen=True)
class Image:
    """What the last stage became.

    Attributes:
        stage: the files and settings of the image.
        definition: the stage as the Dockerfile has it.
        base: a root with the base alone, to compare with.
    """

    stage: BuiltStage
    definition: Stage
    base: Root


class Builder:
    """Executes a Dockerfile.

    Args:
        context: the folder with the Dockerfile and what it copies.
        work: an empty folder for roots.
    """

    def __init__(self, context: Path, work: Path) -> None:
        self._context = context
        self._work = work
        self._stages: dict[str, BuiltStage] = {}
        self._pip, self._readable = pip_settings()
        self._ignored = _ignored_names(context / ".dockerignore")

    def build(self) -> Image:
        """All stages, in order.

        Raises:
            AssertionError: a command failed.
        """
        base = self._work / "base"
        base.mkdir()
        make_base(base)
        stages = read_stages(self._context / "Dockerfile")
        for number, definition in enumerate(stages):
            is_last = number == len(stages) - 1
            root = self._work / f"stage-{number}"
            _copy_tree(base, root)
            stage = BuiltStage(Root(root), dict(BASE_ENVIRONMENT))
            for instruction in definition.instructions:
                self._execute(instruction, stage, is_last)
            self._stages[definition.name] = stage
        return Image(self._stages[""], stages[-1], Root(base))

    def _execute(self, instruction: Instruction, stage: BuiltStage, is_last: bool) -> None:
        steps: dict[str, Callable[[], None]] = {
            "RUN": lambda: self._run(instruction, stage, is_last),
            "COPY": lambda: self._copy(instruction, stage),
            "ENV": lambda: _set_variables(instruction, stage),
            "WORKDIR": lambda: _enter(instruction.text, stage),
            "USER": lambda: setattr(stage, "user", instruction.text),
        }
        if instruction.name in steps:
            steps[instruction.name]()
        else:
            assert instruction.name in _SAYS_NOTHING_TO_A_BUILD, instruction.name

    def _run(self, instruction: Instruction, stage: BuiltStage, is_last: bool) -> None:
        env = stage.env
        confinement = Confinement(user=stage.user)
        if not is_last:
            # An empty PIP_NO_CACHE_DIR would still mean no cache.
            env = {k: v for k, v in env.items() if k != "PIP_NO_CACHE_DIR"} | self._pip
            confinement = Confinement(user=stage.user, readable=self._readable)
        stage.root.run(["/bin/sh", "-c", instruction.text], env, confinement, stage.folder)

    def _copy(self, instruction: Instruction, stage: BuiltStage) -> None:
        *sources, goal = instruction.plain
        target = stage.root.path / str(PurePosixPath(stage.folder) / goal)[1:]
        origin = instruction.flags.get("from")
        for source in sources:
            if origin is not None:
                # Nothing looks at that stage again, so its files may be the same ones.
                _copy_tree(self._stages[origin].root.path / source[1:], target, "--link")
            elif (self._context / source).is_dir():
                shutil.copytree(
                    self._context / source, target, ignore=self._ignored, dirs_exist_ok=True
                )
            else:
                target.mkdir(parents=True, exist_ok=True)
                shutil.copy(self._context / source, target)


def _set_variables(instruction: Instruction, stage: BuiltStage) -> None:
    pairs = (word.partition("=") for word in instruction.words)
    stage.env |= {name: Template(value).substitute(stage.env) for name, _, value in pairs}


def _enter(folder: str, stage: BuiltStage) -> None:
    stage.folder = folder
    (stage.root.path / folder[1:]).mkdir(parents=True, exist_ok=True)


def _copy_tree(source: Path, target: Path, *options: str) -> None:
    """A copy with owners, rights and links."""
    target.parent.mkdir(parents=True, exist_ok=True)
    command = ["cp", "-a", "--reflink=auto", *options, str(source), str(target)]
    subprocess.run(command, check=True, timeout=120)


def _ignored_names(path: Path) -> Callable[[str, list[str]], set[str]]:
    """Of the names in a folder those that .dockerignore leaves out wherever they are (`**/NAME`)."""
    lines = path.read_text().splitlines()
    patterns = [line.removeprefix("**/") for line in lines if line.startswith("**/")]

    def ignored(_folder: str, names: list[str]) -> set[str]:
        return {name for name in names if any(fnmatch.fnmatch(name, p) for p in patterns)}

    return ignored


def pip_settings() -> tuple[dict[str, str], list[Path]]:
    """Variables that tell pip of this machine's package index, and the files and folders that they name."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    listing = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    env = {name: os.environ[name] for name in os.environ if name.lower().endswith("_proxy")}
    for line in listing.splitlines():
        name, _, value = line.partition("=")
        if name.startswith(("global.", "install.", ":env:.")):
            option = name.rpartition(".")[2].replace("-", "_").upper()
            env[f"PIP_{option}"] = str(ast.literal_eval(value))
    return env, sorted({*_named_paths(env.values()), *_of_the_network()})


def _named_paths(values: Iterable[str]) -> Iterator[Path]:
    for value in values:
        for word in value.split():
            # An index is called `simple`, and the packages lie beside it.
            is_index = word.startswith("file://")
            path = Path(word.removeprefix("file://"))
            if path.is_absolute() and path.exists():
                yield path.parent if is_index else path


def _of_the_network() -> Iterator[Path]:
    """Where names are looked up, and pip's cache."""
    command = [sys.executable, "-m", "pip", "cache", "dir"]
    cache = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    for name in ("/etc/resolv.conf", "/etc/hosts", cache.stdout.strip()):
        if name and Path(name).exists():
            yield Path(name)
