"""What the client commands share: their options, how they reach a hub, and how they fail.

Answers go to standard output and everything else to standard error, so that a script can read the first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from server.client import HubClient, HubError, Pause
from server.commands.credentials import CredentialsError, find_access
from server.commands.exits import ExitStatus, exit_status
from server.commands.tables import (
    moment,
    print_fields,
    print_json,
    print_list,
    print_table,
    say,
    state_text,
)

__all__ = [
    "ConditionOption",
    "DeletedOption",
    "JsonLinesOption",
    "JsonOption",
    "LimitOption",
    "OrderOption",
    "RunArgument",
    "SessionArgument",
    "TokenOption",
    "UrlOption",
    "YesOption",
    "confirm",
    "connected",
    "examples",
    "fail",
    "last_part",
    "moment",
    "print_fields",
    "print_json",
    "print_list",
    "print_table",
    "say",
    "split_session",
    "split_target",
    "state_text",
]

UrlOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--url",
        envvar="XPROF_HUB_URL",
        help="Address of the hub; the one of `xprof-hub login`, else http://127.0.0.1:8080.",
        show_default=False,
    ),
]
TokenOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--token",
        envvar="XPROF_HUB_TOKEN",
        help="API token. Better in the variable: others on this machine can read your command line.",
        show_default=False,
    ),
]
JsonOption: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print JSON, as the API answers it.")
]
JsonLinesOption: TypeAlias = Annotated[
    bool, typer.Option("--jsonl", help="Print one JSON object a line, as they come.")
]
YesOption: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]
LimitOption: TypeAlias = Annotated[
    int | None, typer.Option(min=1, help="At most so many; all unless set.")
]
OrderOption: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="FIELD",
        help='createTime, updateTime, displayName or name; add " desc" for descending.',
    ),
]
ConditionOption: TypeAlias = Annotated[
    str, typer.Option("--filter", metavar="FILTER", help="Which ones; docs/api.md says how.")
]
DeletedOption: TypeAlias = Annotated[
    bool, typer.Option("--deleted", help="Also those that were deleted and can come back.")
]
RunArgument: TypeAlias = Annotated[str, typer.Argument(metavar="RUN", help="Id of the run.")]
SessionArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="RUN/SESSION", help="Ids of run and session.")
]

_PATIENCE_SECONDS = 300.0
"""How long a command goes on asking a hub that is busy; whoever sits before it can see that, and end it."""


@contextmanager
def connected(url: str, token: str) -> Iterator[HubClient]:
    """A client; a failure becomes a line on standard error and the exit status that says its kind."""
    try:
        access = find_access(url, token)
        with HubClient(
            access.url, access.token, patience=_PATIENCE_SECONDS, on_pause=_say_pause
        ) as client:
            yield client
    except CredentialsError as problem:
        raise fail(str(problem)) from problem
    except HubError as problem:
        hints = [*problem.hints, *([problem.next_step] if problem.next_step else [])]
        raise fail(str(problem), exit_status(problem), hints) from problem


def _say_pause(pause: Pause) -> None:
    say(f"xprof-hub: {pause}")


def fail(
    sentence: str,
    status: ExitStatus = ExitStatus.FAILED,
    hints: list[str] | None = None,
) -> typer.Exit:
    """Says on standard error what is wrong; the exit to raise."""
    say(f"xprof-hub: {sentence}")
    for hint in hints or ():
        say(f"  {hint}")
    return typer.Exit(status)


def examples(*lines: str) -> str:
    """The end of a command's help: how it is used, one example a line."""
    return "\n\n".join(("Examples:", *(f"  {line}" for line in lines)))


def split_session(text: str) -> tuple[str, str]:
    """Run and session of `RUN/SESSION`; neither can hold a slash.

    Raises:
        typer.BadParameter: it is something else.
    """
    run, slash, session = text.partition("/")
    if not (run and slash and session) or "/" in session:
        raise typer.BadParameter("Write it as RUN/SESSION, for example 'my-run/2026_01_31'.")
    return run, session


def split_target(text: str) -> tuple[str, str | None]:
    """Run and session of `RUN/SESSION`, or the run of `RUN` alone, with None.

    Raises:
        typer.BadParameter: it is neither.
    """
    if "/" in text:
        return split_session(text)
    if not text:
        raise typer.BadParameter("Write it as RUN, or as RUN/SESSION.")
    return text, None


def hub_location(text: str) -> str:
    """A place as the hub names it: a relative directory means the caller's, which the hub can't know."""
    if "://" in text or text.startswith("/"):
        return text
    return str(Path(text).expanduser().resolve())


def last_part(name: str) -> str:
    """The id at the end of a resource name."""
    return name.rpartition("/")[2]


def short_name(name: str) -> str:
    """How people write the names of runs and sessions: `RUN` and `RUN/SESSION`; others stay as they are."""
    return name.removeprefix("machineLearningRuns/").replace("/profilerSessions/", "/", 1)


def confirm(question: str, yes: bool) -> None:
    """Asks before something is lost; a script, which nobody can ask, has decided already."""
    if not yes and sys.stdin.isatty():
        typer.confirm(question, abort=True, err=True)
