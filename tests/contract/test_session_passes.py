"""Signed in on one host, profiles on the other: how people get there, and what they can't take along."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from auth.browser_sessions import (
    BrowserSeals,
    BrowserSession,
    SessionPass,
    SignInMethod,
    hand_over,
)
from auth.identity import Role
from server.registry.browser_sessions import SqlBrowserSessions
from server.registry.database import Database
from server.registry.sessions import get_session
from server.registry.tokens import SqlTokenStore
from tests.contract.api_calls import attach, authorize, new_session, token_for, write_profile
from tests.contract.browsing import PAGE, XPROF
from tests.services.api import Api, api_settings, serve_api

HUB, CONTENT = "https://hub.example", "https://content.example"
SESSION = "/team/runs/a%20b/sessions/s%25"
TOOL = f"{XPROF}/hlo_stats?host=a%2Fb&x=1"


@dataclass(frozen=True)
class TwoHosts:
    """A hub with a content host behind TLS, below a prefix.

    Attributes:
        address: of the server itself.
        token: id of the API token by which `signed_in` is signed in.
        signed_in: cookie of somebody who has signed in on the hub's host.
    """

    api: Api
    address: str
    token: str
    signed_in: str

    def ask(self, url: str, cookie: str = "", **headers: str) -> httpx2.Response:
        """What a browser gets for a URL of either host."""
        parts = urlsplit(url)
        sent = {**PAGE, "Host": parts.netloc, **({"Cookie": cookie} if cookie else {})}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        query = f"?{parts.query}" if parts.query else ""
        return httpx2.get(f"{self.address}{parts.path}{query}", headers=sent)

    def enter(self, rest: str = TOOL) -> tuple[str, str]:
        """The cookie of a pass, and where it is kept for, as a browser gets them."""
        led = self.ask(f"{HUB}{SESSION}{rest}", self.signed_in)
        entered = self.ask(led.headers["location"])
        (line,) = entered.headers.get_list("set-cookie")
        ((name, morsel),) = SimpleCookie(line).items()
        assert (morsel["secure"], morsel["httponly"], morsel["samesite"]) == (True, True, "lax")
        assert (name, morsel["domain"]) == ("__Secure-xprof-hub-pass", "")
        assert 7 * 3600 < int(morsel["max-age"]) <= 8 * 3600
        return f"{name}={morsel.value}", morsel["path"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoHosts]:
    folder = tmp_path_factory.mktemp("passes")
    settings = api_settings(
        folder, base_url=HUB, content_url=CONTENT, path_prefix="/team", auth="token"
    )
    with serve_api(settings) as api:
        authorize(api)
        new_session(api, "a b", "s%")
        attach(api, "a b", write_profile(api, "t", log_directory="others"))
        yield TwoHosts(api, api.url.removesuffix("/team"), "", "")


@pytest.fixture
def hosts(server: TwoHosts) -> TwoHosts:
    token, secret = token_for(server.api, Role.VIEWER)
    answer = httpx2.post(f"{server.api.url}/signin", data={"token": secret})
    return replace(server, token=token, signed_in=answer.headers["set-cookie"].partition(";")[0])


def begun(hosts: TwoHosts, token: str) -> BrowserSession:
    """A browser session by a token, as the registry keeps it."""
    now = datetime.now(UTC).replace(microsecond=0)
    session = BrowserSession(
        f"of {token}", SignInMethod.TOKEN, token, None, now, now + timedelta(days=1)
    )
    SqlBrowserSessions(Database(hosts.api.settings.resolved_database_url)).add(session)
    return session


def test_people_are_led_over_and_stay_at_what_they_asked_for(hosts: TwoHosts) -> None:
    led = hosts.ask(f"{HUB}{SESSION}{TOOL}", hosts.signed_in)
    assert led.status_code == 302
    over = led.headers["location"]
    assert over.startswith(f"{CONTENT}{SESSION}/enter/hlo_stats?grant=")
    assert over.endswith("&host=a%2Fb&x=1")
    entered = hosts.ask(over)
    assert (entered.status_code, entered.headers["location"]) == (302, f"{SESSION}{TOOL}")
    for answer in (led, entered):
        assert answer.headers["cache-control"] == "no-store"
    cookie, path = hosts.enter()
    assert path == SESSION
    shown = hosts.ask(f"{CONTENT}{SESSION}{TOOL}", cookie)
    assert shown.status_code == 200
    assert f'<base href="{SESSION}{XPROF}/">' in shown.text
    assert hosts.ask(f"{CONTENT}{SESSION}{XPROF}/runs", cookie).json() == ["s%"]


def test_the_short_address_leads_over_too(hosts: TwoHosts) -> None:
    for rest in ("", "/", XPROF, f"{XPROF}/"):
        led = hosts.ask(f"{HUB}{SESSION}{rest}?tag=x", hosts.signed_in)
        assert led.headers["location"].startswith(f"{CONTENT}{SESSION}/enter?grant=")
        entered = hosts.ask(led.headers["location"])
        assert entered.headers["location"] == f"{SESSION}{XPROF}/?tag=x"


def test_no_profile_is_shown_where_people_are_signed_in(hosts: TwoHosts) -> None:
    for rest in (
        "",
        "runs",
        "status",
        "data?tag=hlo_stats",
        "bundle.js",
        "trace_viewer_index.html",
    ):
        for accept in ("text/html", "*/*"):
            url = f"{HUB}{SESSION}{XPROF}/{rest}"
            answer = hosts.ask(url, hosts.signed_in, Accept=accept)
            assert answer.status_code == (302 if accept == "text/html" else 404), rest


def test_the_hubs_cookie_is_worth_nothing_on_the_content_host(hosts: TwoHosts) -> None:
    value = hosts.signed_in.partition("=")[2]
    for cookie in (hosts.signed_in, f"__Secure-xprof-hub-pass={value}"):
        answer = hosts.ask(f"{CONTENT}{SESSION}{XPROF}/", cookie)
        assert answer.status_code == 302
        assert answer.headers["location"] == f"{HUB}{SESSION}{XPROF}/"
    for path in ("/team/runs", "/team/runs/a%20b", "/team/signin", "/team/v1/machineLearningRuns"):
        assert hosts.ask(f"{CONTENT}{path}", hosts.signed_in).status_code == 404


def test_a_pass_opens_one_session_only_and_nothing_on_the_hub(hosts: TwoHosts) -> None:
    cookie, _ = hosts.enter()
    other = hosts.ask(f"{CONTENT}/team/runs/a%20b/sessions/t{XPROF}/", cookie)
    assert other.headers["location"] == f"{HUB}/team/runs/a%20b/sessions/t{XPROF}/"
    value = cookie.partition("=")[2]
    name = hosts.signed_in.partition("=")[0]
    for path in ("/team/runs", f"{SESSION}{XPROF}/"):
        answer = hosts.ask(f"{HUB}{path}", f"{name}={value}")
        assert answer.headers["location"].startswith("/team/signin?next=")


def test_a_copied_address_lets_others_sign_in_and_holds_no_right(hosts: TwoHosts) -> None:
    back = hosts.ask(f"{CONTENT}{SESSION}{TOOL}")
    assert (back.status_code, back.headers["location"]) == (302, f"{HUB}{SESSION}{TOOL}")
    form = hosts.ask(back.headers["location"])
    assert form.headers["location"].startswith("/team/signin?next=/team/runs/a%2520b/sessions/")
    data = hosts.ask(f"{CONTENT}{SESSION}{XPROF}/runs", Accept="*/*")
    assert data.status_code == 401


def test_a_revoked_token_ends_the_pass_at_the_next_request(hosts: TwoHosts) -> None:
    cookie, _ = hosts.enter()
    url = f"{CONTENT}{SESSION}{XPROF}/runs"
    assert hosts.ask(url, cookie, Accept="*/*").status_code == 200
    led = hosts.ask(f"{HUB}{SESSION}{XPROF}/", hosts.signed_in).headers["location"]
    store = SqlTokenStore(Database(hosts.api.settings.resolved_database_url))
    store.revoke_token(hosts.token, datetime.now(UTC))
    assert hosts.ask(url, cookie, Accept="*/*").status_code == 401
    assert (
        hosts.ask(f"{HUB}{SESSION}{XPROF}/", hosts.signed_in)
        .headers["location"]
        .startswith("/team/signin")
    )
    # A hand-over that is under way becomes a pass, which opens nothing.
    entered = hosts.ask(led)
    assert entered.status_code == 302
    passed = entered.headers["set-cookie"].partition(";")[0]
    assert hosts.ask(url, passed, Accept="*/*").status_code == 401


def test_signing_out_ends_the_passes_too(hosts: TwoHosts) -> None:
    cookie, _ = hosts.enter()
    url = f"{CONTENT}{SESSION}{XPROF}/runs"
    assert hosts.ask(url, cookie, Accept="*/*").status_code == 200
    out = httpx2.post(f"{hosts.api.url}/signout", headers={"Cookie": hosts.signed_in})
    assert out.status_code == 303
    assert hosts.ask(url, cookie, Accept="*/*").status_code == 401


def test_pages_about_a_session_are_on_the_hubs_host_only(hosts: TwoHosts) -> None:
    cookie, _ = hosts.enter()
    for rest in ("", "/", "/hosts", "/comments", "/comment?tag=hlo_stats", "/files/vm", "/enterx"):
        assert hosts.ask(f"{CONTENT}{SESSION}{rest}", cookie).status_code == 404, rest
        assert hosts.ask(f"{CONTENT}{SESSION}{rest}", hosts.signed_in).status_code == 404, rest
    shown = hosts.ask(f"{HUB}{SESSION}", hosts.signed_in)
    assert shown.status_code == 200
    assert "Open in XProf" in shown.text
    xprof = hosts.ask(f"{CONTENT}{SESSION}{XPROF}/", cookie).text
    for rest in ("/share", "#comments"):
        assert f'href="{HUB}{SESSION}{rest}"' in xprof
    # Its parts ask for the hub's own cookie, and a pass is none.
    assert hosts.ask(f"{HUB}{SESSION}", cookie).status_code == 302


def test_a_pass_asks_what_the_role_may(hosts: TwoHosts) -> None:
    token, _ = token_for(hosts.api, Role.INGEST)
    database = Database(hosts.api.settings.resolved_database_url)
    uid = get_session(database, "a b", "s%").uid
    granted = SessionPass(begun(hosts, token).id, uid, datetime.now(UTC) + timedelta(hours=1))
    text = BrowserSeals(hosts.api.settings.secret_key).write_pass(granted)
    cookie = f"__Secure-xprof-hub-pass={text}"
    answer = hosts.ask(f"{CONTENT}{SESSION}{XPROF}/runs", cookie, Accept="*/*")
    assert answer.status_code == 403


@pytest.mark.parametrize("destination", ["iframe", "empty", "image", "script", "embed"])
def test_no_page_collects_rights_in_the_background(hosts: TwoHosts, destination: str) -> None:
    """Where both hosts are of one domain, the hub's cookie goes along with what the other's pages ask for."""
    answer = hosts.ask(f"{HUB}{SESSION}{XPROF}/", hosts.signed_in, Sec_Fetch_Dest=destination)
    assert answer.status_code == 404
    assert "location" not in answer.headers
    opened = hosts.ask(f"{HUB}{SESSION}{XPROF}/", hosts.signed_in, Sec_Fetch_Dest="document")
    assert opened.status_code == 302


def test_a_hand_over_is_for_its_session_and_its_minute(hosts: TwoHosts) -> None:
    seals = BrowserSeals(hosts.api.settings.secret_key)
    now = datetime.now(UTC)
    session = begun(hosts, hosts.token)
    database = Database(hosts.api.settings.resolved_database_url)
    uid = get_session(database, "a b", "s%").uid
    enter = f"{CONTENT}{SESSION}/enter?grant="
    good = seals.write_hand_over(hand_over(session, uid, now))
    assert hosts.ask(enter + good).headers["location"] == f"{SESSION}{XPROF}/"
    elsewhere = seals.write_hand_over(hand_over(session, "another", now))
    refused = hosts.ask(enter + elsewhere)
    assert (refused.status_code, "set-cookie" in refused.headers) == (404, False)
    late = seals.write_hand_over(hand_over(session, uid, now - timedelta(minutes=2)))
    kept = seals.write_pass(hand_over(session, uid, now).granted)
    for wrong in (late, kept, "", "x", good[:-3]):
        again = hosts.ask(f"{enter}{wrong}&tag=x")
        assert again.headers["location"] == f"{HUB}{SESSION}{XPROF}/?tag=x"
        assert "set-cookie" not in again.headers
    assert hosts.ask(f"{HUB}{SESSION}/enter?grant={good}").status_code == 404


def test_a_hand_over_opens_once_and_its_own_browser_never_notices(hosts: TwoHosts) -> None:
    """Who finds the address later, in a log or a history, is asked to sign in."""
    over = hosts.ask(f"{HUB}{SESSION}{TOOL}", hosts.signed_in).headers["location"]
    entered = hosts.ask(over)
    assert entered.headers["location"] == f"{SESSION}{TOOL}"
    cookie = entered.headers["set-cookie"].partition(";")[0]
    found = hosts.ask(over)
    assert "set-cookie" not in found.headers
    assert found.headers["location"] == f"{HUB}{SESSION}{TOOL}"
    assert hosts.ask(found.headers["location"]).headers["location"].startswith("/team/signin?next=")
    # Clicked twice: with the pass that the first answer brought, or without, when that one was lost.
    again = hosts.ask(over, cookie)
    assert again.headers["location"] == f"{SESSION}{TOOL}"
    assert hosts.ask(f"{CONTENT}{SESSION}{TOOL}", cookie).status_code == 200
    anew = hosts.ask(found.headers["location"], hosts.signed_in).headers["location"]
    assert anew != over
    assert "set-cookie" in hosts.ask(anew).headers


def test_a_text_that_says_the_same_in_other_letters_is_used_up_too(hosts: TwoHosts) -> None:
    """The last letter of base64 has bits that mean nothing."""
    over = hosts.ask(f"{HUB}{SESSION}{XPROF}/", hosts.signed_in).headers["location"]
    assert "set-cookie" in hosts.ask(over).headers
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_="
    for letter in letters:
        assert "set-cookie" not in hosts.ask(f"{over[:-1]}{letter}").headers, letter


def test_another_sessions_pass_does_not_stand_in_for_a_used_hand_over(hosts: TwoHosts) -> None:
    other = f"{HUB}/team/runs/a%20b/sessions/t{XPROF}/"
    over = hosts.ask(other, hosts.signed_in).headers["location"]
    assert "set-cookie" in hosts.ask(over).headers
    cookie, _ = hosts.enter()
    refused = hosts.ask(over, cookie)
    assert (refused.headers["location"], "set-cookie" in refused.headers) == (other, False)


def test_signing_in_may_end_at_the_content_host(hosts: TwoHosts) -> None:
    """Chromium holds redirects after a form to the form's page's policy."""
    form = hosts.ask(f"{HUB}/team/signin")
    directives = form.headers["content-security-policy"].split("; ")
    assert f"form-action 'self' {CONTENT}" in directives


def test_a_deleted_sessions_pass_opens_no_successor(hosts: TwoHosts) -> None:
    attach(hosts.api, "a b", write_profile(hosts.api, "u", log_directory="u"))
    place = "/team/runs/a%20b/sessions/u"
    led = hosts.ask(f"{HUB}{place}{XPROF}/", hosts.signed_in).headers["location"]
    cookie = hosts.ask(led).headers["set-cookie"].partition(";")[0]
    url = f"{CONTENT}{place}{XPROF}/"
    assert hosts.ask(url, cookie).status_code == 200
    hosts.api.http.delete("/machineLearningRuns/a b/profilerSessions/u")
    assert hosts.ask(url, cookie).headers["location"] == f"{HUB}{place}{XPROF}/"
    attach(hosts.api, "a b", write_profile(hosts.api, "u", log_directory="u again"))
    assert hosts.ask(url, cookie).status_code == 302


def test_on_a_developers_machine_the_hosts_are_apart_too(tmp_path: Path) -> None:
    hub, content = "http://localhost:9", "http://127.0.0.1:9"
    settings = api_settings(tmp_path, base_url=hub, content_url=content)
    with serve_api(settings) as api:
        api.http.headers["Host"] = "localhost:9"
        new_session(api)
        hosts = TwoHosts(api, api.url, "", "")
        place = f"/runs/r/sessions/s{XPROF}/"
        assert hosts.ask(f"{content}{place}").headers["location"] == f"{hub}{place}"
        entered = hosts.ask(hosts.ask(f"{hub}{place}").headers["location"])
        cookie = entered.headers["set-cookie"].partition(";")[0]
        assert cookie.startswith("xprof-hub-pass=")
        assert hosts.ask(f"{content}{place}runs", cookie).json() == ["s"]
        assert hosts.ask("http://evil.example/runs/r").status_code == 403


def test_without_the_hubs_address_the_content_host_says_what_to_do(tmp_path: Path) -> None:
    with serve_api(api_settings(tmp_path, content_url=CONTENT, auth="token")) as api:
        answer = TwoHosts(api, api.url, "", "").ask(f"{CONTENT}/runs/r/sessions/s{XPROF}/")
        assert answer.status_code == 401
        assert "Sign in on the hub" in answer.text
