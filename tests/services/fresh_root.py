"""A root directory like that of the image's base, for machines without a container engine.

It is made of this machine's own Debian packages, those that every Debian has to have, and of the Python that
runs the tests, laid out as `python:*-slim` does. So it needs no network; its Python is not always the
Dockerfile's. What else this machine has installed is not in it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import distribution
from pathlib import Path

import psutil

LIKE_SLIM = ("apt", "ca-certificates", "netbase", "tzdata")
"""Packages that `python:*-slim` has besides the required ones."""
_LEFT_OUT = ("/usr/share/doc/", "/usr/share/man/", "/usr/share/info/", "/usr/share/locale/")
_NEEDLESS = shutil.ignore_patterns(
    "__pycache__",
    "test",
    "tests",
    "idlelib",
    "turtledemo",
    "site-packages",
    "dist-packages",
    "EXTERNALLY-MANAGED",
    "*.a",
)
_DEBIANS_PREFIX = Path("/usr")
_ROOTS_BYTES = 3 << 30
"""More than two stages and their base take."""


def why_impossible() -> str:
    """What keeps this machine from making such a root and starting something in it; empty if nothing does."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "a fresh root takes root on Linux"
    for program in ("dpkg-query", "unshare", "chroot", "setpriv", "ldd"):
        if shutil.which(program) is None:
            return f"a fresh root is made of Debian's packages with {program}, which is not here"
    probe = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /mnt"]
    if subprocess.run(probe, check=False, capture_output=True, timeout=20).returncode:
        return "this machine lets nobody mount anything, not even in a namespace of his own"
    return ""


def folder_in_memory() -> Path | None:
    """Where roots cost no disk, if this machine has memory to spare; they are many small files."""
    memory = Path("/dev/shm")
    if not memory.is_dir() or os.statvfs(memory).f_flag & os.ST_NOEXEC:
        return None
    free = min(shutil.disk_usage(memory).free, psutil.virtual_memory().available // 2)
    return memory if free > _ROOTS_BYTES else None


def make_base(root: Path) -> None:
    """Fills an empty folder with what the image's base has; root has to ask."""
    root.chmod(0o755)
    _copy_packages(root)
    _write_accounts(root)
    _copy_python(root)
    subprocess.run(["ldconfig", "-r", str(root)], check=True, timeout=60)


def _copy_packages(root: Path) -> None:
    listing = _output(["dpkg-query", "-L", *_packages()])
    for name in sorted({line for line in listing.splitlines() if line.startswith("/")}):
        if name != "/." and not name.startswith(_LEFT_OUT):
            _copy_entry(Path(name), root)
    certificates = Path("/etc/ssl/certs/ca-certificates.crt")  # Made when its package is installed.
    if certificates.exists():
        _copy_entry(certificates, root)


def _packages() -> list[str]:
    """Required packages and those of slim images, with everything that they depend on."""
    layout = "${binary:Package}\t${Package}\t${Priority}\t${Provides}\t${Pre-Depends}, ${Depends}\n"
    needs: dict[str, str] = {}
    giving: dict[str, list[str]] = {}
    todo: list[str] = []
    for line in _output(["dpkg-query", "-W", "-f", layout]).splitlines():
        full, name, priority, provides, depends = line.split("\t")
        needs[full] = depends
        for given in (name, *_names(provides)):
            giving.setdefault(given, []).append(full)
        if priority == "required" or name in LIKE_SLIM:
            todo.append(full)
    chosen: set[str] = set()
    while todo:
        full = todo.pop()
        if full not in chosen:
            chosen.add(full)
            todo += [giver for name in _names(needs[full]) for giver in giving.get(name, [])[:1]]
    return sorted(chosen)


def _names(relations: str) -> Iterator[str]:
    """Names of packages in a field such as `libc6 (>= 2.36), mawk | awk`."""
    for relation in re.split(r"[,|]", relations):
        if words := relation.split():
            yield words[0].partition(":")[0]


def _copy_entry(path: Path, root: Path) -> None:
    """Copies a file, a link, or a folder without what is in it, with owner and rights."""
    target = root / str(path)[1:]
    if os.path.lexists(target) or not os.path.lexists(path):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        target.symlink_to(path.readlink())
        if path.is_dir():  # /bin, which is /usr/bin
            (root / str(path.resolve())[1:]).mkdir(parents=True, exist_ok=True)
        return
    if path.is_dir():
        target.mkdir()
    else:
        shutil.copyfile(path, target)
    status = path.stat()
    os.chown(target, status.st_uid, status.st_gid)
    target.chmod(status.st_mode & 0o7777)


def _write_accounts(root: Path) -> None:
    """Debian's accounts without any of this machine's."""
    for kind in ("passwd", "group"):
        text = (Path("/usr/share/base-passwd") / f"{kind}.master").read_text()
        (root / "etc" / kind).write_text(text.replace(":*:", ":x:"))
    names = [line.partition(":")[0] for line in (root / "etc/passwd").read_text().splitlines()]
    shadow = root / "etc" / "shadow"
    shadow.write_text("".join(f"{name}:*:20000:0:99999:7:::\n" for name in names))
    shadow.chmod(0o640)


def _copy_python(root: Path) -> None:
    """The interpreter, its library and pip; below /usr/local, unless it is Debian's own."""
    prefix = Path(sys.base_prefix)
    is_debians = prefix == _DEBIANS_PREFIX
    home = root / ("usr" if is_debians else "usr/local")
    name = f"python{sysconfig.get_python_version()}"
    library = Path(sysconfig.get_path("stdlib"))
    shutil.copytree(library, home / "lib" / name, ignore=_NEEDLESS, dirs_exist_ok=True)
    (home / "bin").mkdir(parents=True, exist_ok=True)
    shutil.copy(prefix / "bin" / name, home / "bin" / name)
    commands = root / "usr/local/bin"
    commands.mkdir(parents=True, exist_ok=True)
    for link in ("python", "python3"):
        (commands / link).symlink_to(f"/{home.relative_to(root)}/bin/{name}")
    modules = [str(path) for path in (library / "lib-dynload").glob("*.so")]
    for path in sorted(_libraries([str(prefix / "bin" / name), *modules])):
        if path.is_relative_to(prefix) and not is_debians:
            shutil.copy(path, home / "lib" / path.name)
        else:
            _copy_entry(path, root)
            _copy_entry(path.resolve(), root)
    packages = root / "usr/local/lib" / name / ("dist" if is_debians else "site")
    _copy_pip(packages.with_name(f"{packages.name}-packages"))


def _libraries(programs: Sequence[str]) -> set[Path]:
    """Shared libraries that these programs and modules load."""
    found = re.findall(r"=> (/\S+) \(", _output(["ldd", *programs]))
    return {Path(name) for name in found}


def _copy_pip(packages: Path) -> None:
    """Pip as the tests' environment has it: with its record, so that it can be removed again."""
    pip = distribution("pip")
    for file in pip.files or []:
        if ".." not in file.parts and file.suffix != ".pyc":
            target = packages / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(Path(str(pip.locate_file(file))), target)


def tree(root: Path) -> Iterable[Path]:
    """Everything below a folder, links not followed."""
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            yield Path(folder, name)


def _output(command: Sequence[str]) -> str:
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout
