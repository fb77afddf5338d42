"""The pages of people who have signed in: the way in, the list of runs, a run with its sessions.

Names come from jobs and people: Jinja2 escapes every one. This module knows no request and no database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from server.ui.inline_style import inline_style
from server.ui.shell import Message

NOTHING_THERE = Message(
    "There is nothing at this address",
    "The run or session was deleted, or the address was cut off when it was copied.",
    "Check the address up to its last character, or look for the run in the list of runs.",
)
NOT_ALLOWED = Message(
    "You may not look at this",
    "Your role here, or that of the API token that you signed in with, does not give the right to it.",
    "Ask an admin of this hub for another role, or sign out and sign in with another token.",
)
SIGN_IN_NEEDED = Message(
    "You are not signed in, or not any more",
    "This page is for people who have signed in.",
    "Sign in on the hub's own pages, and open this address there.",
)
FILES_AWAITED = Message(
    "No files yet",
    "The job has registered this session; its files are not there yet.",
    "Hosts write their files when the capture ends. Reload this page in a minute.",
)


@dataclass(frozen=True)
class Entry:
    """One row of a list.

    Attributes:
        href: path of its page, percent-encoded.
        name: for people.
        facts: short texts about it.
        created: when it came here.
    """

    href: str
    name: str
    facts: tuple[str, ...]
    created: datetime


@dataclass(frozen=True)
class Listing:
    """A page with a list.

    Attributes:
        title: what is listed.
        facts: short texts about the whole.
        warnings: sentences about what is odd.
        entries: its rows.
        nothing: what stands there without rows.
        command: what makes the first row, to be typed; may be empty.
        more: address of the rest, or empty.
        up: address of the list above, or empty.
    """

    title: str
    entries: tuple[Entry, ...]
    nothing: str
    facts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    command: str = ""
    more: str = ""
    up: str = ""


def render_listing(listing: Listing, person: str = "", sign_out: str = "") -> str:
    """A list of runs or sessions.

    Args:
        listing: what stands there.
        person: who has signed in.
        sign_out: where to sign out; empty where nobody needs to sign in.
    """
    page = _templates().get_template("listing.html")
    return page.render(
        listing=listing,
        person=person,
        sign_out=sign_out,
        style=inline_style(),
        moment=moment,
        machine=machine_moment,
    )


def moment(value: datetime) -> str:
    """A moment for people, where nothing is known of their time zone."""
    return f"{value.astimezone(UTC):%-d %B %Y, %H:%M} UTC"


def machine_moment(value: datetime) -> str:
    """The same for programs."""
    return value.astimezone(UTC).isoformat(timespec="seconds")


def in_words(facts: Sequence[str]) -> tuple[str, ...]:
    """The facts that say something."""
    return tuple(fact for fact in facts if fact)


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("server.ui", "templates"), autoescape=True, undefined=StrictUndefined
    )
