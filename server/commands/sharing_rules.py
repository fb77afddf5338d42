"""`xprof-hub sharing-rules`: what share links may be."""

from __future__ import annotations

from typing import Annotated

import typer
from pydantic import JsonValue

from auth.links import LinkAccess
from server.commands.changes import EtagOption
from server.commands.console import (
    JsonOption,
    TokenOption,
    UrlOption,
    connected,
    examples,
    moment,
    print_fields,
    print_json,
)
from server.links.schemas import LONGEST_DAYS, SharingRules, SharingRulesChange

app = typer.Typer(help="What share links may be.", no_args_is_help=True)


@app.command(epilog=examples("xprof-hub sharing-rules show"))
def show(url: UrlOption = "", token: TokenOption = "", as_json: JsonOption = False) -> None:
    """Show the rules."""
    with connected(url, token) as client:
        _print(client.links.rules(), as_json)


@app.command(
    epilog=examples(
        "xprof-hub sharing-rules update --no-unlisted --longest-days 14",
        "xprof-hub sharing-rules update --unlisted --unlisted-redacted --default-access org",
    )
)
def update(
    unlisted: Annotated[
        bool | None,
        typer.Option("--unlisted/--no-unlisted", help="Links that let in everybody who has them."),
    ] = None,
    unlisted_password: Annotated[
        bool | None,
        typer.Option(
            "--unlisted-password/--no-unlisted-password", help="These must ask for a password."
        ),
    ] = None,
    unlisted_redacted: Annotated[
        bool | None,
        typer.Option(
            "--unlisted-redacted/--no-unlisted-redacted", help="These must show pseudonyms."
        ),
    ] = None,
    longest_days: Annotated[
        float | None,
        typer.Option(
            min=0, max=LONGEST_DAYS, help="Days after which every link ends; 0: no such end."
        ),
    ] = None,
    default_access: Annotated[
        LinkAccess | None,
        typer.Option(case_sensitive=False, help="Whom a new link lets in, unless it says so."),
    ] = None,
    default_days: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=LONGEST_DAYS,
            help="Days until a new link ends, unless it says so; 0: as XPROF_HUB_LINK_DAYS says.",
        ),
    ] = None,
    etag: EtagOption = "",
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Change the rules; they count at once, for links that exist too."""
    given: dict[str, JsonValue] = {
        "allowUnlisted": unlisted,
        "unlistedNeedsPassword": unlisted_password,
        "unlistedRedactedOnly": unlisted_redacted,
        "longestDays": longest_days,
        "defaultAccess": default_access.value if default_access else None,
        "defaultDays": default_days,
    }
    mask = [name for name, value in given.items() if value is not None]
    if not mask:
        raise typer.BadParameter("Say what to change, for example --longest-days 14.")
    # What the mask names and is missing has no value any more; false is one.
    sent = {name: given[name] for name in mask if given[name] != 0 or given[name] is False}
    changes = SharingRulesChange.model_validate(sent)
    with connected(url, token) as client:
        _print(client.links.change_rules(changes, mask, etag=etag), as_json)


def _print(rules: SharingRules, as_json: bool) -> None:
    if as_json:
        print_json(rules)
        return
    print_fields(
        [
            ("Unlisted links", _unlisted(rules)),
            ("Longest life", _days(rules.longest_days, "no end")),
            ("By default", rules.default_access.lower()),
            ("Ends by default", _days(rules.default_days, "as the hub is set")),
            ("Changed", moment(rules.update_time)),
            ("Changed by", rules.updater),
        ]
    )


def _unlisted(rules: SharingRules) -> str:
    if not rules.allow_unlisted:
        return "not allowed"
    asked = {
        "with a password": rules.unlisted_needs_password,
        "redacted": rules.unlisted_redacted_only,
    }
    return ", ".join(["allowed", *(words for words, is_asked in asked.items() if is_asked)])


def _days(days: float | None, otherwise: str) -> str:
    return otherwise if days is None else f"{days:g} days"
