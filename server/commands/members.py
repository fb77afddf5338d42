"""`xprof-hub members`: list, add, change and remove people, groups and domains with a role."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from itertools import islice
from typing import Annotated

import typer

from auth.identity import Role
from auth.members import read_member
from server.client import NotFoundError
from server.commands.console import (
    JsonLinesOption,
    JsonOption,
    LimitOption,
    TokenOption,
    UrlOption,
    connected,
    examples,
    fail,
    moment,
    print_json,
    print_list,
    say,
)
from server.commands.exits import ExitStatus
from server.schemas.members import Member

app = typer.Typer(help="People, groups and domains: who has which role.", no_args_is_help=True)


class PeoplesRole(StrEnum):
    """The roles that members may have; jobs have tokens instead."""

    VIEWER = Role.VIEWER.value
    EDITOR = Role.EDITOR.value
    ADMIN = Role.ADMIN.value


_ID = re.compile("[0-9a-f]{16}")
"""How `auth.members.member_id` writes one."""

MemberArgument = Annotated[
    str,
    typer.Argument(
        metavar="MEMBER",
        help="user:ann@example.org, group:sre or domain:example.org; an address alone is a user's.",
    ),
]
RoleOption = Annotated[PeoplesRole, typer.Option(help="How much it may do.")]


@app.command("list", epilog=examples("xprof-hub members list"))
def list_(
    limit: LimitOption = None,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
    as_lines: JsonLinesOption = False,
) -> None:
    """List members, newest first; not those that XPROF_HUB_ADMINS names."""
    with connected(url, token) as client:
        print_list(
            islice(client.members.list(), limit),
            as_json,
            ("MEMBER", "ROLE", "ADDED", "ADDED BY"),
            lambda entry: (
                entry.member,
                _role(entry),
                moment(entry.create_time),
                entry.creator,
            ),
            as_lines,
        )


@app.command(
    epilog=examples(
        "xprof-hub members add ann@example.org --role editor",
        "xprof-hub members add domain:example.org",
    )
)
def add(
    member: MemberArgument,
    role: RoleOption = PeoplesRole.VIEWER,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Give a person, group or domain a role."""
    wanted = _checked(member)
    with connected(url, token) as client:
        added = client.members.add(wanted, Role(role.value))
    if as_json:
        print_json(added)
    else:
        say(f"Added {added.member} as {_role(added)}.")


@app.command(epilog=examples("xprof-hub members update ann@example.org --role admin"))
def update(
    member: MemberArgument,
    role: RoleOption,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Give a member another role."""
    wanted = _known(member)
    with connected(url, token) as client, _named(wanted):
        changed = client.members.update(wanted, Role(role.value))
    if as_json:
        print_json(changed)
    else:
        say(f"{changed.member} is {_role(changed)} from now on.")


@app.command(epilog=examples("xprof-hub members remove ann@example.org"))
def remove(
    member: MemberArgument,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Take a member its role, at once: who has no other role sees nothing any more."""
    wanted = _known(member)
    with connected(url, token) as client, _named(wanted):
        client.members.remove(wanted)
    if as_json:
        typer.echo("{}")
    else:
        say(f"Removed {wanted}.")


def _checked(member: str) -> str:
    try:
        return read_member(member)
    except ValueError as problem:
        raise typer.BadParameter(str(problem)) from problem


def _known(member: str) -> str:
    """A member as it is named, or its id."""
    return member if _ID.fullmatch(member) else _checked(member)


@contextmanager
def _named(member: str) -> Iterator[None]:
    """Says who it is that is not there: a hub knows members by ids that nobody has typed."""
    try:
        yield
    except NotFoundError as problem:
        hints = ["Who has one: xprof-hub members list"]
        raise fail(f"{member} has no role.", ExitStatus.NOT_FOUND, hints) from problem


def _role(member: Member) -> str:
    return member.role.value if member.role else ""
