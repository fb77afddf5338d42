"""`xprof-hub login`, `logout` and `whoami`: which hub and which token all other commands use.

A token is checked before it is kept, is never shown, and is never taken from the command line of `login`,
which others on the machine can read.
"""

from __future__ import annotations

import getpass
import os
import socket
import sys
from typing import Annotated
from urllib.parse import urlsplit

import typer

from auth.tokens import API_PREFIX
from server.client import HubClient, HubError, NotSignedInError
from server.commands.browser import show_page
from server.commands.console import (
    JsonOption,
    TokenOption,
    UrlOption,
    connected,
    examples,
    fail,
    print_fields,
    print_json,
    say,
)
from server.commands.credentials import (
    CredentialsError,
    credentials_file,
    find_access,
    forget_tokens,
    keep_token,
)
from server.commands.exits import exit_status
from server.schemas.callers import Caller
from server.settings import LOOPBACK

LOGIN_EXAMPLES = examples(
    "xprof-hub login https://hub.example.com",
    "xprof-hub login https://hub.example.com --device",
    "xprof-hub login https://hub.example.com --token-stdin < token.txt",
)
LOGOUT_EXAMPLES = examples("xprof-hub logout", "xprof-hub logout --all")
WHOAMI_EXAMPLES = examples("xprof-hub whoami")

HubArgument = Annotated[
    str,
    typer.Argument(
        metavar="[URL]", help="Address of the hub; the one that commands use unless given."
    ),
]


def login(
    hub: HubArgument = "",
    token_stdin: Annotated[
        bool, typer.Option("--token-stdin", help="Read the token from standard input.")
    ] = False,
    device: Annotated[
        bool,
        typer.Option("--device", help="Let a person who has signed in in a browser say yes."),
    ] = False,
    url: UrlOption = "",
) -> None:
    """Keep a hub's address and an API token for all other commands; asks for the token."""
    if device and token_stdin:
        raise typer.BadParameter("Either --device or --token-stdin.")
    try:
        address = find_access(hub or url, "").url
        token, caller = "", _without_token(address)
        if caller is None:
            token = _ask_a_person(address) if device else _read_token(token_stdin)
            caller = _caller_with(address, token)
        file = keep_token(address, token)
    except CredentialsError as problem:
        raise fail(str(problem)) from problem
    except HubError as problem:
        raise fail(str(problem), exit_status(problem)) from problem
    say(f"Signed in to {address} as {caller.name} ({caller.role.value}).")
    say(f"Kept in {file}." if token else "This hub asks for no token.")
    _warn(address, token)


def logout(
    hub: HubArgument = "",
    everything: Annotated[bool, typer.Option("--all", help="Forget every hub.")] = False,
    url: UrlOption = "",
) -> None:
    """Forget the token of a hub; it works on until somebody revokes it."""
    try:
        address = None if everything else find_access(hub or url, "").url
        gone = forget_tokens(address)
    except CredentialsError as problem:
        raise fail(str(problem)) from problem
    if not gone:
        say(f"No token is kept for {address or 'any hub'}.")
    for known in gone:
        say(f"Forgot the token of {known}. Where it shall not work any more: tokens revoke.")


def whoami(url: UrlOption = "", token: TokenOption = "", as_json: JsonOption = False) -> None:
    """Say which hub the commands talk to, who you are there, and how much you may do."""
    with connected(url, token) as client:
        access = find_access(url, token)
        found = client.caller()
    if as_json:
        print_json(found)
        return
    print_fields(
        [
            ("Hub", access.url),
            ("Name", found.name),
            ("Role", found.role.value),
            ("Token", access.source if found.auth != "dev" else "not needed"),
        ]
    )


def _without_token(address: str) -> Caller | None:
    """Who a caller without token is; None where one is needed."""
    try:
        return _caller(address, "")
    except NotSignedInError:
        return None


def _caller(address: str, token: str) -> Caller:
    with HubClient(address, token) as client:
        return client.caller()


def _caller_with(address: str, token: str) -> Caller:
    """Who has this token.

    Raises:
        HubError: nobody, in words for who has just typed it; or the hub does not answer.
    """
    try:
        return _caller(address, token)
    except NotSignedInError as problem:
        raise fail(
            f"{address} doesn't know this API token: it is mistyped, revoked or expired. "
            "Whoever runs the hub makes another with `xprof-hub tokens create`.",
            exit_status(problem),
        ) from problem


def _ask_a_person(address: str) -> str:
    """The token that somebody lets this program have, in a browser here or on another device."""
    with HubClient(address) as client:
        code = client.device_codes.begin(_this_place())
        say(f"Open {code.verification_uri_complete}")
        say(f"and let the program in that shows {code.user_code}. Waiting ...")
        show_page(code.verification_uri_complete)
        return client.device_codes.wait(code).token


def _this_place() -> str:
    """What the person is told about where this program runs."""
    try:
        name = f"{getpass.getuser()}@{socket.gethostname()}"
    except (OSError, KeyError):  # no such user
        name = socket.gethostname()
    return name[:100] or "xprof-hub"


def _read_token(from_stdin: bool) -> str:
    """The token that somebody types, or that a file or program gives.

    Raises:
        typer.BadParameter: there is none, or it can't be one.
    """
    if from_stdin:
        token = sys.stdin.readline().strip()
    elif sys.stdin.isatty():
        token = str(typer.prompt("API token", hide_input=True, err=True)).strip()
    else:
        raise typer.BadParameter("nobody can be asked here: give the token with --token-stdin.")
    if not token.startswith(API_PREFIX):
        raise typer.BadParameter(f"an API token begins with {API_PREFIX}.")
    return token


def _warn(address: str, token: str) -> None:
    parts = urlsplit(address)
    if token and parts.scheme == "http" and parts.hostname not in LOOPBACK:
        say("Careful: over http:// the token goes unencrypted; use https://.")
    for name, kept in (("XPROF_HUB_URL", address), ("XPROF_HUB_TOKEN", token)):
        said = os.environ.get(name)
        if said and said.rstrip("/") != kept:
            say(f"{name} is set to something else and wins over {credentials_file()}.")
