"""Commands in a root directory of their own, as a container engine would start them.

Each command gets a mount namespace, which ends with it: nothing stays mounted, whatever happens. It shares
the network and the processes of this machine, as a container with `--network host --pid host` does.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.services.processes import Process

_DEVICES = ("null", "zero", "full", "random", "urandom")
_RUN_SECONDS = 300
_OUTSIDE = ("LC_ALL=C", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
"""Variables of the programs that prepare the root, as an engine's."""


@dataclass(frozen=True)
class Confinement:
    """How a container is started.

    Attributes:
        user: `uid:gid`, numbers.
        read_only: whether the root can't be written; `/tmp` can, then in memory.
        writable: folders of this machine, by the folders of the root in whose places they come.
        readable: files and folders that this machine and the root have in the same place.
    """

    user: str = "0:0"
    read_only: bool = False
    writable: Mapping[str, Path] = field(default_factory=dict)
    readable: Sequence[Path] = ()


@dataclass(frozen=True)
class Root:
    """A root directory.

    Attributes:
        path: where it lies on this machine.
    """

    path: Path

    def run(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        confinement: Confinement,
        folder: str = "/",
    ) -> str:
        """What the command prints.

        Raises:
            AssertionError: it fails; with all that it printed.
        """
        done = subprocess.run(
            self._command(command, env, confinement, folder),
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_RUN_SECONDS,
        )
        assert done.returncode == 0, f"{shlex.join(command)}:\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def start(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        confinement: Confinement,
        log: Path,
        folder: str = "/",
    ) -> Process:
        """Starts the command; signals reach it directly."""
        return Process.start(
            command[-1], self._command(command, env, confinement, folder), log, env={}
        )

    def _command(
        self, command: Sequence[str], env: Mapping[str, str], confined: Confinement, folder: str
    ) -> list[str]:
        variables = [f"{name}={value}" for name, value in env.items()]
        inside = ["env", "-i", f"--chdir={folder}", *variables, *command]
        script = "\n".join(["set -e", *self._mounts(confined), self._entrance(confined) + ' "$@"'])
        outside = ["/usr/bin/env", *_OUTSIDE, "unshare", "--mount", "--propagation", "private"]
        return [*outside, "sh", "-c", script, "sh", *inside]

    def _entrance(self, confined: Confinement) -> str:
        """As with `cap_drop: ALL` and `no-new-privileges`, unless root builds."""
        enter = f"exec chroot {shlex.quote(str(self.path))}"
        user, group = confined.user.split(":")
        if user == "0":
            return enter
        return (
            f"{enter} setpriv --reuid {user} --regid {group} --clear-groups --no-new-privs "
            "--bounding-set -all --inh-caps -all"
        )

    def _mounts(self, confined: Confinement) -> list[str]:
        root = shlex.quote(str(self.path))
        lines = [
            f"mount --bind {root} {root}",
            f"mkdir -p {root}/proc {root}/dev {root}/tmp",
            f"mount --rbind /proc {root}/proc",
            f"mount -t tmpfs -o mode=755 none {root}/dev",
            f"mkdir -m 1777 {root}/dev/shm",
            f"ln -s /proc/self/fd {root}/dev/fd",
        ]
        for device in _DEVICES:
            lines += [f"touch {root}/dev/{device}"]
            lines += [f"mount --bind /dev/{device} {root}/dev/{device}"]
        for path in confined.readable:
            lines += _bind(path, f"{root}{shlex.quote(str(path))}")
        for inside, path in confined.writable.items():
            lines += _bind(path, f"{root}{shlex.quote(inside)}")
        if confined.read_only:
            lines += [f"mount -o remount,bind,ro {root}", f"mount -t tmpfs none {root}/tmp"]
        return lines


def _bind(path: Path, target: str) -> list[str]:
    make = (
        f"mkdir -p {target}" if path.is_dir() else f"mkdir -p $(dirname {target}); touch {target}"
    )
    return [make, f"mount --bind {shlex.quote(str(path))} {target}"]
