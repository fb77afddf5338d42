"""A link that asks for somebody who has signed in: who that is, on both databases and on both hosts."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from auth.identity import Role
from auth.tokens import new_api_token
from server.registry.database import Database
from server.registry.tokens import SqlTokenStore
from tests.contract.api_calls import authorize, error_of, token_for
from tests.contract.browsing import PAGE, XPROF, location, sign_in, signed_in
from tests.contract.link_visits import Visitor, another_link, make_link, next_of, visiting
from tests.services.api import Api, api_settings, serve_api

HUB, CONTENT = "https://hub.example", "https://content.example"
TOOL = f"{XPROF}/hlo_stats?host=a%2Fb&x=1"


def test_strangers_are_led_to_sign_in_and_come_back(guarded_api: Api) -> None:
    authorize(guarded_api)
    link = make_link(guarded_api, access="ORG")
    with visiting(link["uri"]) as stranger:
        led = location(stranger.page(TOOL))
        assert led.startswith("/signin?next=")
        assert next_of(led) == f"{stranger.path}{TOOL}"
        words = stranger.http.get(led, headers=PAGE).text
        assert "The link that you opened is only for people who" in words
        assert "Somebody sent you a link" not in words
        assert error_of(stranger.data()) == (401, "UNAUTHENTICATED")
        _, secret = token_for(guarded_api, Role.VIEWER)
        back = location(sign_in(stranger.http, guarded_api, secret, next_of(led)))
        assert stranger.http.get(back, headers=PAGE).status_code == 200
        assert stranger.data().json() == ["s"]


def test_a_role_that_is_taken_away_counts_at_the_next_request(guarded_api: Api) -> None:
    authorize(guarded_api)
    link = make_link(guarded_api, access="ORG")
    token, secret = token_for(guarded_api, Role.VIEWER)
    with visiting(link["uri"]) as visitor:
        sign_in(visitor.http, guarded_api, secret)
        etag = visitor.page().headers["etag"]
        revoke(guarded_api, token)
        assert visitor.data().status_code == 401
        assert visitor.page(**{"If-None-Match": etag}).status_code == 302


def revoke(api: Api, token: str) -> None:
    database = Database(api.settings.resolved_database_url)
    SqlTokenStore(database).revoke_token(token, datetime.now(UTC))
    database.close()


def test_programs_show_a_token_and_a_jobs_is_not_enough(guarded_api: Api) -> None:
    authorize(guarded_api)
    link = make_link(guarded_api, access="ORG")
    _, viewer = token_for(guarded_api, Role.VIEWER)
    _, job = token_for(guarded_api, Role.INGEST)
    basic = base64.b64encode(f"me:{viewer}".encode()).decode()
    with visiting(link["uri"]) as visitor:
        assert visitor.data(Authorization=f"Bearer {viewer}").json() == ["s"]
        for credentials, status in (
            (f"Bearer {new_api_token()}", 401),
            (f"Bearer {job}", 403),
            # Every browser sends these by itself once it has them.
            (f"Basic {basic}", 401),
        ):
            assert visitor.data(Authorization=credentials).status_code == status


def test_a_link_to_a_run_and_a_password_ask_the_same(guarded_api: Api) -> None:
    authorize(guarded_api)
    make_link(guarded_api)
    body = {"access": "ORG", "password": "correct horse"}
    link = guarded_api.http.post("/machineLearningRuns/r/shareLinks", json=body).json()
    place = f"/sessions/s{XPROF}/runs"
    with visiting(link["uri"]) as visitor, signed_in(guarded_api) as person:
        # Nobody tries a password who may not open the link anyway.
        assert visitor.unlock("correct horse").status_code == 401
        assert location(visitor.page("/unlock")).startswith("/signin?next=")
        inside = Visitor(person, visitor.path)
        assert person.get(f"{inside.path}{place}", headers={"Accept": "*/*"}).status_code == 401
        assert inside.unlock("correct horse").status_code == 303
        assert person.get(f"{inside.path}{place}").json() == ["s"]
        assert error_of(visitor.http.get(f"{visitor.path}{place}"))[0] == 401


def test_access_that_is_changed_counts_at_the_next_request(guarded_api: Api) -> None:
    authorize(guarded_api)
    link = make_link(guarded_api)
    with visiting(link["uri"]) as visitor:
        etag = visitor.page().headers["etag"]
        guarded_api.http.patch(f"/{link['name']}", json={"access": "ORG"})
        assert visitor.page(**{"If-None-Match": etag}).status_code == 302
        assert visitor.data().status_code == 401


def test_on_a_developers_machine_everybody_is_known(api: Api) -> None:
    link = make_link(api, access="ORG")
    with visiting(link["uri"]) as visitor:
        assert visitor.data().json() == ["s"]
        assert error_of(visitor.data(Host="evil.example")) == (403, "PERMISSION_DENIED")


class TwoHosts:
    """A hub with a content host behind TLS, below a prefix; and one who has signed in on the hub's host."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.address = api.url.removesuffix("/team")
        self.token, secret = token_for(api, Role.VIEWER)
        answer = httpx2.post(f"{api.url}/signin", data={"token": secret})
        self.cookie = answer.headers["set-cookie"].partition(";")[0]

    def ask(self, url: str, cookie: str = "", **headers: str) -> httpx2.Response:
        """What a browser gets for a URL of either host."""
        parts = urlsplit(url)
        sent = {**PAGE, "Host": parts.netloc, **({"Cookie": cookie} if cookie else {})}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        query = f"?{parts.query}" if parts.query else ""
        return httpx2.get(f"{self.address}{parts.path}{query}", headers=sent)

    def enter(self, uri: str) -> str:
        """The cookie of who has come over to a link."""
        entry = self.ask(f"{uri}{TOOL}").headers["location"]
        over = self.ask(entry, self.cookie).headers["location"]
        return self.ask(over).headers["set-cookie"].partition(";")[0]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder: Path = tmp_path_factory.mktemp("org-links")
    settings = api_settings(
        folder, base_url=HUB, content_url=CONTENT, path_prefix="/team", auth="token"
    )
    with serve_api(settings) as api:
        authorize(api)
        make_link(api)
        yield api


@pytest.fixture
def hosts(server: Api) -> TwoHosts:
    return TwoHosts(server)


def test_people_are_led_over_to_the_content_host_and_stay_at_what_they_asked_for(
    hosts: TwoHosts,
) -> None:
    link = another_link(hosts.api, access="ORG")
    token = link["token"]
    assert link["uri"] == f"{CONTENT}/team/s/{token}"
    led = hosts.ask(f"{link['uri']}{TOOL}")
    assert led.headers["location"] == f"{HUB}/team/enter/{token}{TOOL}"
    form = hosts.ask(led.headers["location"])
    assert form.headers["location"].startswith("/team/signin?next=")
    assert next_of(form.headers["location"]) == f"/team/enter/{token}{TOOL}"
    over = hosts.ask(led.headers["location"], hosts.cookie)
    place = over.headers["location"]
    assert place.startswith(f"{link['uri']}/enter{XPROF}/hlo_stats?grant=")
    entered = hosts.ask(place)
    assert (entered.status_code, entered.headers["location"]) == (302, f"/team/s/{token}{TOOL}")
    cookie = entered.headers["set-cookie"]
    assert cookie.startswith("__Secure-xprof-hub-pass=")
    assert f"Path=/team/s/{token};" in cookie
    shown = hosts.ask(f"{link['uri']}{TOOL}", cookie.partition(";")[0])
    assert shown.status_code == 200
    for answer in (led, over, entered):
        assert answer.headers["cache-control"] == "no-store"


def test_a_pass_is_for_its_link_and_as_good_as_its_holder(hosts: TwoHosts) -> None:
    link = another_link(hosts.api, access="ORG")
    other = another_link(hosts.api, access="ORG")
    cookie = hosts.enter(link["uri"])
    data = f"{XPROF}/runs"
    assert hosts.ask(f"{link['uri']}{data}", cookie, Accept="*/*").json() == ["s"]
    assert hosts.ask(f"{other['uri']}{data}", cookie, Accept="*/*").status_code == 401
    session = f"{CONTENT}/team/runs/r/sessions/s{data}"
    assert hosts.ask(session, cookie, Accept="*/*").status_code == 401
    assert hosts.ask(f"{link['uri']}{data}", hosts.cookie, Accept="*/*").status_code == 401
    revoke(hosts.api, hosts.token)
    assert hosts.ask(f"{link['uri']}{data}", cookie, Accept="*/*").status_code == 401


def test_no_page_collects_passes_in_the_background(hosts: TwoHosts) -> None:
    link = another_link(hosts.api, access="ORG")
    entry = f"{HUB}/team/enter/{link['token']}"
    for destination in ("iframe", "empty", "image"):
        answer = hosts.ask(entry, hosts.cookie, Sec_Fetch_Dest=destination)
        assert answer.status_code == 404
        assert "location" not in answer.headers
    assert hosts.ask(f"{CONTENT}/team/enter/{link['token']}", hosts.cookie).status_code == 404
    gone = hosts.ask(f"{HUB}/team/enter/xph_x", hosts.cookie)
    assert gone.status_code == 404


def test_a_hand_over_is_for_its_link(hosts: TwoHosts) -> None:
    link = another_link(hosts.api, access="ORG")
    other = another_link(hosts.api, access="ORG")
    over = hosts.ask(f"{HUB}/team/enter/{link['token']}", hosts.cookie).headers["location"]
    elsewhere = hosts.ask(over.replace(link["token"], other["token"]))
    assert (elsewhere.status_code, "set-cookie" in elsewhere.headers) == (404, False)
    again = hosts.ask(f"{link['uri']}/enter?grant=x&tag=y")
    assert again.headers["location"] == f"{HUB}/team/enter/{link['token']}?tag=y"
    cookie = hosts.ask(over).headers["set-cookie"].partition(";")[0]
    assert hosts.ask(f"{link['uri']}{XPROF}/", cookie).status_code == 200
    # It is good once; its own browser has the pass already.
    used = hosts.ask(over)
    assert used.headers["location"] == f"{HUB}/team/enter/{link['token']}"
    assert "set-cookie" not in used.headers
    assert hosts.ask(over, cookie).headers["location"] == link["uri"].removeprefix(CONTENT)
    hosts.api.http.delete(f"/{link['name']}")
    assert hosts.ask(f"{link['uri']}{XPROF}/", cookie).status_code == 410


def test_passwords_and_openings_work_on_the_content_host(hosts: TwoHosts) -> None:
    link = another_link(hosts.api, password="correct horse", mostOpens=1)
    address = {"Host": "content.example"}
    with visiting(link["uri"], hosts.address) as visitor:
        answer = visitor.http.post(
            f"{visitor.path}/unlock",
            data={"password": "correct horse"},
            headers={**address, "Origin": CONTENT},
        )
        key = answer.headers["set-cookie"]
        assert key.startswith("__Secure-xprof-hub-key=")
        assert "; Secure" in key
        cookie = key.partition(";")[0]
        opening = hosts.ask(f"{link['uri']}{XPROF}/", cookie).headers["set-cookie"]
        assert opening.startswith("__Secure-xprof-hub-opening=")
        both = f"{cookie}; {opening.partition(';')[0]}"
        assert hosts.ask(f"{link['uri']}{XPROF}/runs", both, Accept="*/*").json() == ["s"]
        assert hosts.ask(f"{link['uri']}{XPROF}/", cookie).status_code == 410
