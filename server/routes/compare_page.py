"""The page that shows two sessions side by side; its address is the link to it, for people who are signed in.

Figures that are not there yet are asked for, and the page looks again for a while; it never waits for them.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query, Response
from starlette.concurrency import run_in_threadpool

from auth.policy import Action, may
from server.callers.signed_in import NotAllowedError, Person
from server.comparing.addresses import PATH, Addresses
from server.comparing.picking import PickView, choices_of
from server.comparing.sides import SessionRef, Side, compare_sides, find_side, read_ref
from server.comparing.view import FIRST_OPS, compare_view
from server.figures.values import MOST_OPS
from server.names import session_name
from server.registry.recent_sessions import recent_sessions
from server.registry.summaries import summaries_of
from server.routes.xprof import METHODS
from server.services import Services, ServicesDependency
from server.site.routes import page_response, page_router, person_who

router = page_router()

LOOK_SECONDS = 2
MOST_LOOKS = 300
"""How often an open page looks again for figures: ten minutes long."""
_MOST_CHOICES = 30
_LONGEST = 1000

Reader = Annotated[Person, Depends(person_who(Action.SESSIONS_READ))]
_Side = Annotated[str, Query(max_length=_LONGEST)]


@dataclass(frozen=True)
class _Asked:
    """What the address says of one side: its text, and the session if that is one's name."""

    text: str
    ref: SessionRef | None

    @property
    def is_wrong(self) -> bool:
        return bool(self.text) and self.ref is None


@router.api_route(PATH, methods=METHODS)
@router.api_route(PATH + "/", methods=METHODS)
async def show_comparison(
    services: ServicesDependency,
    person: Reader,
    left: _Side = "",
    right: _Side = "",
    look: Annotated[int, Query(ge=0, le=MOST_LOOKS)] = 0,
    ops: Annotated[int, Query(ge=0, le=2 * MOST_OPS)] = FIRST_OPS,
    q: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Two sessions side by side, or a list to choose them from."""
    asked = [_Asked(text, read_ref(text)) for text in (left, right)]
    sides = await asyncio.gather(*(_find(services, person, one.ref) for one in asked))
    if sides[0] is None or sides[1] is None:
        return await run_in_threadpool(_pick, services, person, asked, sides, q)
    addresses = Addresses(services.settings.path_prefix)
    view = compare_view(compare_sides(sides[0], sides[1]), addresses, ops)
    return page_response(
        services,
        person,
        "compare.html",
        view=view,
        next_look=addresses.compare(sides[0].ref, sides[1].ref, look=look + 1),
        is_looking=view.state == "pending" and look < MOST_LOOKS,
        look_seconds=LOOK_SECONDS,
    )


async def _find(services: Services, person: Person, ref: SessionRef | None) -> Side | None:
    if ref is None:
        return None
    if not may(person.principal, Action.SESSIONS_READ, session_name(ref.run, ref.session)):
        raise NotAllowedError
    return await find_side(services, ref)


def _pick(
    services: Services,
    person: Person,
    asked: list[_Asked],
    sides: list[Side | None],
    words: str,
) -> Response:
    left, right = (None if side is None else side.ref for side in sides)
    addresses = Addresses(services.settings.path_prefix)
    found = recent_sessions(services.database, words, _MOST_CHOICES + 1)
    summaries = summaries_of(services.database, [session.uid for session, _ in found])
    chosen = next((side for side in sides if side is not None), None)
    view = PickView(
        place="right" if left else "left",
        chosen=_named(chosen) if chosen else "",
        chosen_href=addresses.session(chosen.ref) if chosen else "",
        clear_href=addresses.compare(None, None),
        left=str(left or ""),
        right=str(right or ""),
        words=words,
        choices=choices_of(found[:_MOST_CHOICES], summaries, addresses, left, right),
        is_cut=len(found) > _MOST_CHOICES,
        problem=_problem(asked, sides),
    )
    return page_response(services, person, "compare_pick.html", view=view)


def _named(side: Side) -> str:
    run, session = side.run, side.session
    return f"{run.display_name or run.id} / {session.display_name or session.id}"


def _problem(asked: list[_Asked], sides: list[Side | None]) -> str:
    """What is wrong with the address, if anything."""
    for place, one, side in zip(("left", "right"), asked, sides, strict=True):
        if one.is_wrong:
            return f"The address names no session on the {place}: a session is written RUN/SESSION."
        if one.ref is not None and side is None:
            return (
                f"There is no session {one.ref} any more, or there never was. Choose another one."
            )
    return ""
