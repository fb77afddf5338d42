"""How commands are told a new password: typed twice at a terminal, or as the first line of standard input.

Never as an argument: others on the machine can read a command line, and shells keep it.
"""

from __future__ import annotations

import sys

import typer

from auth.passwords import check_password

_LABEL = "Password of the link"


def read_new_password() -> str:
    """The password that the person or script gives.

    Raises:
        typer.BadParameter: it can't be one.
    """
    if sys.stdin.isatty():
        text = str(typer.prompt(_LABEL, hide_input=True, confirmation_prompt=True, err=True))
    else:
        text = sys.stdin.readline().rstrip("\r\n")
    try:
        return check_password(text)
    except ValueError as problem:
        raise typer.BadParameter(str(problem), param_hint="--password") from problem
