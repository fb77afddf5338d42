"""docs/cli.md, made from the commands themselves: `python -m server.commands.reference > docs/cli.md`.

A test holds the document in step, so nothing in it is written by hand but the introduction below.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, cast

import typer

from server.commands.exits import MEANINGS

INTRODUCTION = """\
# Command line

Made from the commands by `python -m server.commands.reference > docs/cli.md`. `--help` says the same of each.

- **Which hub:** `--url` or `XPROF_HUB_URL`, else the hub of the last `xprof-hub login`, else
  `http://127.0.0.1:8080`.
- **Which token:** `--token` or `XPROF_HUB_TOKEN`, else the one that `login` keeps for this hub, in
  `$XDG_CONFIG_HOME/xprof-hub/hubs.json` (`~/.config` unless set), which its owner alone may read. A kept
  token is sent to the address that it was kept for and to no other.
- **Output:** answers go to standard output, everything else to standard error. Tables are for people.
  `--json` prints what the API answers, a list as one JSON list; `--jsonl` prints a list as one object a
  line, as the pages come. In a file or pipe there are no colours, no progress bars and no broken lines;
  `NO_COLOR` turns colours off everywhere.
- **Questions:** deletions ask at a terminal unless `--yes` is given; a script, which nobody can ask, is not
  asked.
- **Trouble:** what is harmless to send twice is sent again, up to three times: reads, creations (they carry a
  `requestId`), and whatever did not reach the hub. While a hub is busy and says when to come back, commands
  wait for up to five minutes.
- **Completion:** `xprof-hub --install-completion` for bash, zsh, fish and PowerShell.
- **In Python:** `server.client.HubClient` is what the commands use.
"""
COMMON = ("--url", "--token", "--json", "--jsonl", "--yes", "--help")
"""Options that are described once."""
_COMMON_TABLE = """\
Options that many commands have:

| option | what it does |
| --- | --- |
| `--url URL` | address of the hub |
| `--token TOKEN` | API token; better in the variable, as others on the machine can read a command line |
| `--json` | print JSON, as the API answers it |
| `--jsonl` | print one JSON object a line, as they come |
| `--yes`, `-y` | don't ask |
| `--help` | say how the command is used |
"""


class _Descriptor(Protocol):
    annotation: object


class _Parameter(Protocol):
    """What this reads of a parameter of Typer's."""

    name: str
    param_type_name: str
    opts: list[str]
    secondary_opts: list[str]
    help: str | None
    metavar: str | None
    default: object
    required: bool
    hidden: bool
    multiple: bool
    type_descriptor: _Descriptor


class _Command(Protocol):
    """What this reads of a command of Typer's."""

    help: str | None
    epilog: str | None
    hidden: bool
    params: list[_Parameter]


@dataclass
class _Named:
    """A command by its full name."""

    name: str
    command: _Command
    arguments: list[_Parameter] = field(default_factory=list)
    options: list[_Parameter] = field(default_factory=list)


def command_reference(app: typer.Typer) -> str:
    """The whole document."""
    exits = [f"| {int(status)} | {meaning} |" for status, meaning in MEANINGS.items()]
    exits.append("| 130 | interrupted by Ctrl-C |")
    parts = [
        INTRODUCTION,
        "\n".join(["| exit status | what it says |", "| --- | --- |", *exits, ""]),
        _COMMON_TABLE,
        *(_section(named) for named in _walk("xprof-hub", typer.main.get_command(app))),
    ]
    return "\n".join(parts)


def _walk(name: str, command: object) -> Iterator[_Named]:
    below: Mapping[str, object] | None = getattr(command, "commands", None)
    if below is not None:
        for key in sorted(below):
            yield from _walk(f"{name} {key}", below[key])
        return
    found = cast("_Command", command)
    if found.hidden:
        return
    shown = [parameter for parameter in found.params if not parameter.hidden]
    yield _Named(
        name,
        found,
        [parameter for parameter in shown if parameter.param_type_name == "argument"],
        [parameter for parameter in shown if parameter.param_type_name == "option"],
    )


def _section(named: _Named) -> str:
    words = [named.name, *(_argument(parameter) for parameter in named.arguments)]
    own = [option for option in named.options if option.opts[0] not in COMMON]
    common = [f"`{option.opts[0]}`" for option in named.options if option.opts[0] in COMMON]
    lines = [f"## {named.name}", "", f"    {' '.join(words)}", "", _sentence(named.command.help)]
    if named.arguments or own:
        lines += ["", "| argument or option | what it is |", "| --- | --- |"]
        lines += [f"| `{_argument(entry)}` | {_cell(entry.help)} |" for entry in named.arguments]
        lines += [f"| {_option(entry)} | {_cell(entry.help)}{_default(entry)} |" for entry in own]
    if common:
        lines += ["", f"Also {', '.join(common)}."]
    examples = (named.command.epilog or "").split("\n\n")[1:]
    if examples:
        lines += ["", *(f"    {line.strip()}" for line in examples)]
    return "\n".join([*lines, ""])


def _argument(parameter: _Parameter) -> str:
    name = parameter.metavar or parameter.name.upper().rstrip("_")
    return name if parameter.required or name.startswith("[") else f"[{name}]"


def _option(parameter: _Parameter) -> str:
    value = parameter.metavar or _kind(parameter.type_descriptor.annotation)
    names = [*parameter.opts, *parameter.secondary_opts]
    return ", ".join(f"`{name} {value}`" if value else f"`{name}`" for name in names)


def _kind(annotation: object) -> str:
    if annotation is bool:
        return ""
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return "/".join(str(member.value) for member in annotation)
    return "N" if annotation in {int, float} else "TEXT"


def _default(parameter: _Parameter) -> str:
    value = parameter.default
    if value in (None, "", False, True):
        return ""
    return f" Default: `{value.value if isinstance(value, Enum) else value}`."


def _sentence(text: str | None) -> str:
    return " ".join((text or "").split())


def _cell(text: str | None) -> str:
    return _sentence(text).replace("|", "\\|")


if __name__ == "__main__":
    from server.cli import app as whole

    sys.stdout.write(command_reference(whole))
