"""What CONTRIBUTING.md asks of code that no linter looks at: sizes, and settings that somebody reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from server.settings import Settings

ROOT = Path(__file__).parents[2]
FOLDERS = ("auth", "loader", "server", "bench", "tests", "deploy")
OF_OTHERS = frozenset({"vendor", "node_modules", "out"})
SETTINGS = ("settings.py", "people_settings.py", "fleet_settings.py")
DEFINITION = re.compile(r"( *)(?:async )?def (\w+)")
LONGEST_FILE, LONGEST_FUNCTION, USUAL_FUNCTION = 400, 60, 35


def sources(*ends: str) -> Iterator[Path]:
    """Our own files, by how their names end."""
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            inner = path.relative_to(ROOT).parts
            is_made = any(part.startswith(".") or part in OF_OTHERS for part in inner)
            if path.suffix in ends and not is_made:
                yield path


def lengths() -> Iterator[tuple[int, str]]:
    """Lines of each function, and where it is; by indentation, as parsing all of it takes many seconds."""
    for path in sources(".py"):
        lines = path.read_text("utf-8").splitlines()
        for number, line in enumerate(lines):
            if (found := DEFINITION.match(line)) is None:
                continue
            inner = f"{found[1]} "
            length = 1
            for after, text in enumerate(lines[number + 1 :], 2):
                if text.startswith((inner, f"{found[1]})")):
                    length = after
                elif text:
                    break
            yield length, f"{path.relative_to(ROOT)}: {found[2]}, {length} lines"


def test_files_are_short() -> None:
    too_long = {
        str(path.relative_to(ROOT)): lines
        for path in sources(".py", ".js", ".css", ".tf", ".hcl")
        if (lines := path.read_text("utf-8").count("\n")) > LONGEST_FILE
    }
    assert too_long == {}


def test_functions_are_short() -> None:
    found = list(lengths())
    assert [where for length, where in found if length >= LONGEST_FUNCTION] == []
    usual = [length for length, _ in found if length < USUAL_FUNCTION]
    assert len(usual) >= 0.9 * len(found)


def test_every_setting_is_read() -> None:
    """By the server, or by a property of the settings."""
    files = sorted((ROOT / "server").rglob("*.py"))
    code = "\n".join(path.read_text("utf-8") for path in files if path.name not in SETTINGS)
    own = "\n".join((ROOT / "server" / file).read_text("utf-8") for file in SETTINGS)
    read = {*re.findall(r"\.(\w+)", code), *re.findall(r"self\.(\w+)", own)}
    assert set(Settings.model_fields) - read == set()
