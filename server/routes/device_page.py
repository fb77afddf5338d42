"""`/device`: where somebody who has signed in lets a program in, or not.

Only a person who has signed in sees which program asks. Without a content host a profile's page is of this
origin, and what a browser sends by itself must give nobody a token: to let a program in takes the API token
once more there. With one, whoever has signed in with a token just says yes (adr/056).
Wrong codes and tokens count as at signing in. A page of another site can't press the button
(`refuse_foreign_site`), and no frame of another site shows it.
"""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from auth.browser_sessions import SignInMethod
from auth.device_codes import DeviceRequest, DeviceState, read_user_code
from auth.identity import ApiToken, find_working_token
from auth.policy import Action, may
from server.audit.requests import LET_IN, record
from server.callers.access import refuse_foreign_site
from server.callers.signed_in import Person, note_wrong_guess, require_person, seconds_to_wait
from server.registry.device_codes import decide_device_request, find_device_request
from server.registry.tokens import SqlTokenStore
from server.routes.device_codes import DEVICE_PATH
from server.services import Services, ServicesDependency
from server.site.forms import read_form
from server.ui.device_page import ALLOWED, REFUSED, DevicePage, render_device_page
from server.xprof.pages import html_response

router = APIRouter(include_in_schema=False)

_UNKNOWN = "No program waits with this code. Codes are good for ten minutes, and once."
_TOO_MANY = "Too many wrong codes or tokens came from your network. Try again in {seconds} seconds."
_NOT_ONE = "This is no API token that works here. Check that you have all of it."
_JOBS_ONLY = "This token lets a job register itself. Give a program another one."


@router.api_route(DEVICE_PATH, methods=["GET", "HEAD"])
def show(request: Request, services: ServicesDependency) -> Response:
    """Asks for the code, or whether to let the program of one in."""
    person = _person(request, services)
    typed = request.query_params.get("code", "")
    if not typed:
        return _page(services, _empty(person))
    found = _find(request, services, person, typed)
    return found if isinstance(found, Response) else _question(services, person, found)


@router.post(DEVICE_PATH)
async def decide(request: Request, services: ServicesDependency) -> Response:
    """Takes the answer."""
    refuse_foreign_site(request)
    fields = await read_form(request)
    return await run_in_threadpool(_decide, request, services, fields)


def _decide(request: Request, services: Services, fields: dict[str, str]) -> Response:
    person = _person(request, services)
    found = _find(request, services, person, fields.get("code", ""))
    if isinstance(found, Response):
        return found
    answer, token_id = fields.get("decision", ""), ""
    if answer not in {"allow", "refuse"}:
        return _question(services, person, found)
    state = DeviceState.ALLOWED if answer == "allow" else DeviceState.REFUSED
    now = datetime.now(UTC)
    if state is DeviceState.ALLOWED:
        token = _token_behind(services, person, fields.get("token", "").strip(), now)
        if token is None:
            note_wrong_guess(request, services)
            return _question(services, person, found, _NOT_ONE)
        if not may(token.principal, Action.RUNS_READ, "machineLearningRuns"):
            return _question(services, person, found, _JOBS_ONLY)
        token_id = token.id
    if not decide_device_request(services.database, found.user_code, state, token_id, now):
        return _wrong(request, services, person)
    record(request, services, person.principal, LET_IN, answer, "deviceCodes", client=found.client)
    message = ALLOWED if state is DeviceState.ALLOWED else REFUSED
    return html_response(services.policies, message.render(), "words")


def _asks_token(services: Services, person: Person) -> bool:
    """Whether somebody who is signed in has to show an API token to let a program in."""
    has_shown_one = person.session.method is SignInMethod.TOKEN
    return not (has_shown_one and services.settings.content_url)


def _token_behind(
    services: Services, person: Person, secret: str, now: datetime
) -> ApiToken | None:
    """The API token that a program is let in with: one that is shown, or that the person signed in with."""
    store = SqlTokenStore(services.database)
    if _asks_token(services, person):
        return find_working_token(store, secret, now)
    found = store.find_token_by_id(person.session.subject)
    return found if found is not None and found.works_at(now) else None


def _find(
    request: Request, services: Services, person: Person, typed: str
) -> DeviceRequest | Response:
    """The program that waits with a code, or why none is shown."""
    seconds = seconds_to_wait(request, services)
    if seconds:
        answer = _page(services, _empty(person, _TOO_MANY.format(seconds=seconds)), 429)
        answer.headers["Retry-After"] = str(seconds)
        return answer
    code = read_user_code(typed)
    found = find_device_request(services.database, code, datetime.now(UTC)) if code else None
    return _wrong(request, services, person) if found is None else found


def _question(
    services: Services, person: Person, found: DeviceRequest, problem: str = ""
) -> Response:
    page = DevicePage(
        person.principal.name,
        person.principal.role.value,
        found.user_code,
        found.client,
        problem,
        asks_token=_asks_token(services, person),
    )
    return _page(services, page, 403 if problem else 200)


def _wrong(request: Request, services: Services, person: Person) -> Response:
    note_wrong_guess(request, services)
    return _page(services, _empty(person, _UNKNOWN), 404)


def _empty(person: Person, problem: str = "") -> DevicePage:
    return DevicePage(person.principal.name, person.principal.role.value, problem=problem)


def _page(services: Services, page: DevicePage, status: int = 200) -> Response:
    action = f"{services.settings.path_prefix}{DEVICE_PATH}"
    return html_response(services.policies, render_device_page(page, action), "form", status)


def _person(request: Request, services: Services) -> Person:
    return require_person(request, services, Action.CALLER_READ, "caller")
