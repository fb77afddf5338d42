"""Signing in at a real provider of OpenID Connect: who gets in, as what, and what an address can't do."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from auth.identity import Role
from auth.members import member_id
from server.registry.database import Database
from server.registry.members import add_member, remove_member
from tests.contract.api_calls import token_for
from tests.contract.browsing import PAGE, XPROF
from tests.services.api import Api, api_settings, serve_api
from tests.services.oidc import (
    CLIENT_ID,
    OidcServer,
    serve_oidc,
    sign_in_at_provider,
    sign_out_at_provider,
)

HUB = "https://hub.example"
PREFIX = "/team"
CALLBACK = f"{HUB}{PREFIX}/signin/callback"
ACCOUNTS: dict[str, dict[str, object]] = {
    "ann": {"email": "Ann@Example.org", "email_verified": True, "name": "Ann", "groups": ["sre"]},
    "root": {"email": "root@example.com", "email_verified": True},
    "bob": {"email": "bob@example.org", "email_verified": False},
    "carol": {"email": "carol@elsewhere.example", "email_verified": True},
    "dora": {"name": "no address"},
}


@dataclass
class Visitor:
    """A browser at the hub's public address.

    Attributes:
        address: of the server itself.
        cookies: what the hub has set, by their names.
    """

    address: str
    cookies: dict[str, str] = field(default_factory=dict)

    def get(self, url: str, **headers: str) -> httpx2.Response:
        """Opens an address of the hub; follows nothing."""
        return self._ask("GET", url, headers)

    def post(
        self, path: str, data: dict[str, str] | None = None, origin: str = HUB
    ) -> httpx2.Response:
        """Sends a form of the hub's own page, or of another."""
        return self._ask("POST", path, {"Origin": origin}, data)

    def sign_in(self, login: str, back: str = f"{PREFIX}/runs") -> httpx2.Response:
        """The whole way: to the provider, through its forms, and back."""
        led = self.get(f"{PREFIX}/signin/oidc?next={back}")
        assert led.status_code == 302, led.text
        return self.get(sign_in_at_provider(led.headers["location"], login))

    def _ask(
        self, method: str, url: str, headers: dict[str, str], data: dict[str, str] | None = None
    ) -> httpx2.Response:
        parts = urlsplit(url)
        sent = {**PAGE, "Host": urlsplit(HUB).netloc, **headers}
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        query = f"?{parts.query}" if parts.query else ""
        answer = httpx2.request(
            method, f"{self.address}{parts.path}{query}", headers=sent, data=data, trust_env=False
        )
        for line in answer.headers.get_list("set-cookie"):
            for name, morsel in SimpleCookie(line).items():
                self.cookies[name] = morsel.value
                if morsel["max-age"] == "0":
                    del self.cookies[name]
        return answer


@dataclass(frozen=True)
class SignInHub:
    """A hub whose people sign in at the provider."""

    api: Api
    provider: OidcServer

    def visitor(self) -> Visitor:
        """Somebody who has not signed in."""
        return Visitor(self.api.url.removesuffix(PREFIX))

    @property
    def database(self) -> Database:
        """The hub's."""
        return Database(self.api.settings.resolved_database_url)

    def add(self, member: str, role: Role) -> None:
        """Gives somebody a role."""
        add_member(self.database, member, role, "test", datetime.now(UTC))

    def remove(self, member: str) -> None:
        """Takes it away."""
        remove_member(self.database, member_id(member), etag=None, is_admin_set=True)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SignInHub]:
    folder = tmp_path_factory.mktemp("oidc")
    signed_out = f"{HUB}{PREFIX}/signedout"
    with serve_oidc(folder, CALLBACK, ACCOUNTS, signed_out_uri=signed_out) as provider:
        settings = api_settings(
            folder,
            base_url=HUB,
            path_prefix=PREFIX,
            admins="root@example.com",
            **provider.settings(),
        )
        with serve_api(settings) as api:
            yield SignInHub(api, provider)


def location(answer: httpx2.Response) -> str:
    assert answer.status_code == 302, answer.text
    assert answer.headers["cache-control"] == "no-store"
    return str(answer.headers["location"])


def test_the_page_offers_the_provider_and_leads_there_with_a_challenge(hub: SignInHub) -> None:
    visitor = hub.visitor()
    form = visitor.get(f"{PREFIX}/signin?next={PREFIX}/runs/r")
    assert f'href="{PREFIX}/signin/oidc?next={PREFIX}/runs/r"' in form.text
    led = visitor.get(f"{PREFIX}/signin/oidc?next={PREFIX}/runs/r")
    query = parse_qs(urlsplit(location(led)).query)
    assert led.headers["location"].startswith(f"{hub.provider.issuer}/")
    assert query["redirect_uri"] == [CALLBACK]
    assert query["response_type"] == ["code"]
    assert query["code_challenge_method"] == ["S256"]
    assert len(query["code_challenge"][0]) == 43
    assert query["state"] != query["nonce"]
    (line,) = led.headers.get_list("set-cookie")
    ((name, morsel),) = SimpleCookie(line).items()
    assert name.startswith("__Host-xprof-hub-attempt")
    assert (morsel["secure"], morsel["httponly"], morsel["samesite"]) == (True, True, "lax")
    assert int(morsel["max-age"]) <= 15 * 60


def test_an_admin_by_setting_gets_in_and_goes_on_where_he_was(hub: SignInHub) -> None:
    visitor = hub.visitor()
    assert location(visitor.sign_in("root", f"{PREFIX}/runs?q=x")) == f"{PREFIX}/runs?q=x"
    assert visitor.get(f"{PREFIX}/runs").status_code == 200
    assert visitor.get(f"{PREFIX}/admin/members").status_code == 200
    assert "root@example.com" in visitor.get(f"{PREFIX}/runs").text
    assert not any("attempt" in name for name in visitor.cookies)


def test_the_role_is_that_of_the_moment_and_groups_and_domains_count(hub: SignInHub) -> None:
    hub.add("group:sre", Role.VIEWER)
    visitor = hub.visitor()
    assert location(visitor.sign_in("ann")) == f"{PREFIX}/runs"
    assert visitor.get(f"{PREFIX}/runs").status_code == 200
    assert visitor.get(f"{PREFIX}/admin/members").status_code == 403
    hub.add("user:ann@example.org", Role.ADMIN)
    assert visitor.get(f"{PREFIX}/admin/members").status_code == 200
    hub.remove("user:ann@example.org")
    hub.remove("group:sre")
    assert location(visitor.get(f"{PREFIX}/runs")) == f"{PREFIX}/signin?next={PREFIX}/runs"
    hub.add("domain:example.org", Role.EDITOR)
    assert visitor.get(f"{PREFIX}/runs").status_code == 200
    hub.remove("domain:example.org")


def test_somebody_without_a_role_learns_his_address_and_who_can_help(hub: SignInHub) -> None:
    visitor = hub.visitor()
    refused = visitor.sign_in("carol")
    assert refused.status_code == 403
    assert "carol@elsewhere.example has no role here" in refused.text
    assert "members add user:carol@elsewhere.example" in refused.text
    assert "root@example.com" not in refused.text
    assert visitor.cookies == {}
    assert location(visitor.get(f"{PREFIX}/runs")).startswith(f"{PREFIX}/signin")


@pytest.mark.parametrize(("login", "words"), [("bob", "not verified"), ("dora", "no e-mail")])
def test_an_address_must_be_there_and_verified(hub: SignInHub, login: str, words: str) -> None:
    hub_domain = "domain:example.org"
    hub.add(hub_domain, Role.ADMIN)
    visitor = hub.visitor()
    refused = visitor.sign_in(login)
    hub.remove(hub_domain)
    assert refused.status_code == 403
    assert words in refused.text
    assert visitor.cookies == {}


def test_who_does_not_consent_is_told_so(hub: SignInHub) -> None:
    visitor = hub.visitor()
    led = visitor.get(f"{PREFIX}/signin/oidc")
    back = sign_in_at_provider(led.headers["location"], "root", consents=False)
    assert "error=access_denied" in back
    refused = visitor.get(back)
    assert refused.status_code == 403
    assert "did not agree" in refused.text
    assert visitor.cookies == {}


def test_the_way_back_counts_once_and_in_the_browser_that_began(hub: SignInHub) -> None:
    """Whoever opens somebody else's way back must not be signed in as that person (login CSRF)."""
    visitor = hub.visitor()
    led = visitor.get(f"{PREFIX}/signin/oidc")
    back = sign_in_at_provider(led.headers["location"], "root")
    kept = dict(visitor.cookies)
    strangers = [hub.visitor(), hub.visitor()]
    strangers[1].get(f"{PREFIX}/signin/oidc")
    for stranger in strangers:
        refused = stranger.get(back)
        assert refused.status_code == 400
        assert "not begun in this browser" in refused.text
        assert stranger.cookies == {}
    assert location(visitor.get(back)) == f"{PREFIX}/runs"
    assert visitor.get(back).status_code == 400
    # Somebody who has copied the cookie, too: the provider gives the tokens of a code out once.
    thief = hub.visitor()
    thief.cookies = kept
    assert thief.get(back).status_code == 502
    assert thief.cookies == {}


def test_the_way_back_is_no_way_out(hub: SignInHub) -> None:
    for elsewhere in ("https://evil.example/", "//evil.example", "/other/runs", "/\\evil.example"):
        visitor = hub.visitor()
        assert location(visitor.sign_in("root", elsewhere)) == f"{PREFIX}/runs"


def test_the_cookie_holds_no_token_of_the_provider_and_ends_when_signed_out(hub: SignInHub) -> None:
    visitor = hub.visitor()
    visitor.sign_in("root")
    copied = hub.visitor()
    copied.cookies = dict(visitor.cookies)
    assert copied.get(f"{PREFIX}/runs").status_code == 200
    assert visitor.post(f"{PREFIX}/signout").status_code == 303
    assert visitor.cookies == {}
    assert location(copied.get(f"{PREFIX}/runs")).startswith(f"{PREFIX}/signin")


def test_who_signs_out_may_sign_out_of_the_provider_too(hub: SignInHub) -> None:
    """RP-Initiated Logout 1.0: the hub names itself and where to come back to, and no person and no token."""
    visitor = hub.visitor()
    visitor.sign_in("root")
    assert visitor.post(f"{PREFIX}/signout").headers["location"] == f"{PREFIX}/signedout"
    words = visitor.get(f"{PREFIX}/signedout").text
    offered = html.unescape(re.findall(r'class="xh-button" href="([^"]+)"', words)[0])
    assert offered.startswith(f"{hub.provider.issuer}/session/end?")
    assert parse_qs(urlsplit(offered).query) == {
        "client_id": [CLIENT_ID],
        "post_logout_redirect_uri": [f"{HUB}{PREFIX}/signedout"],
        "state": ["provider"],
    }
    with httpx2.Client(trust_env=False) as browser:
        led = visitor.get(f"{PREFIX}/signin/oidc").headers["location"]
        sign_in_at_provider(led, "root", browser=browser)
        # A sign-in that asks nobody anything: what a person on a shared machine must be able to end.
        again = visitor.get(f"{PREFIX}/signin/oidc").headers["location"]
        assert browser.get(again).headers["location"].startswith(f"{CALLBACK}?code=")
        back = sign_out_at_provider(browser, offered)
        assert back == f"{HUB}{PREFIX}/signedout?state=provider"
        again = visitor.get(f"{PREFIX}/signin/oidc").headers["location"]
        assert browser.get(again).headers["location"].startswith("/interaction/")
    returned = visitor.get(back).text
    assert "has ended its own session" in returned
    assert "session/end" not in returned


def test_the_hubs_own_name_without_tls_is_another_site(hub: SignInHub) -> None:
    """Anybody on the way can answer for it."""
    visitor = hub.visitor()
    visitor.sign_in("root")
    plain = HUB.replace("https:", "http:")
    assert visitor.post(f"{PREFIX}/signout", origin=plain).status_code == 403
    assert visitor.get(f"{PREFIX}/runs").status_code == 200


def test_an_admin_signs_somebody_out_everywhere(hub: SignInHub) -> None:
    hub.add("user:ann@example.org", Role.VIEWER)
    admin, first, second = hub.visitor(), hub.visitor(), hub.visitor()
    admin.sign_in("root")
    for visitor in (first, second):
        visitor.sign_in("ann")
        assert visitor.get(f"{PREFIX}/runs").status_code == 200
    assert (
        first.post(f"{PREFIX}/admin/sign-outs", {"subject": "user:root@example.com"}).status_code
        == 403
    )
    page = admin.get(f"{PREFIX}/admin/members").text
    assert 'value="user:ann@example.org"' in page
    done = admin.post(f"{PREFIX}/admin/sign-outs", {"subject": "user:ann@example.org"})
    assert done.status_code == 303
    for visitor in (first, second):
        assert location(visitor.get(f"{PREFIX}/runs")).startswith(f"{PREFIX}/signin")
    assert admin.get(f"{PREFIX}/runs").status_code == 200
    hub.remove("user:ann@example.org")


def test_api_tokens_keep_working_beside_it(hub: SignInHub) -> None:
    _, secret = token_for(hub.api, Role.VIEWER)
    visitor = hub.visitor()
    assert visitor.post(f"{PREFIX}/signin", {"token": secret}).status_code == 303
    assert visitor.get(f"{PREFIX}/runs").status_code == 200
    shown = httpx2.get(
        f"{hub.api.url}/v1/caller", headers={"Authorization": f"Bearer {secret}"}, trust_env=False
    )
    assert shown.json()["role"] == "viewer"


def test_the_api_takes_nobodys_cookie(hub: SignInHub) -> None:
    visitor = hub.visitor()
    visitor.sign_in("root")
    assert visitor.get(f"{PREFIX}/v1/members").status_code == 401


def test_xprof_asks_for_the_same(hub: SignInHub) -> None:
    visitor = hub.visitor()
    path = f"{PREFIX}/runs/r/sessions/s{XPROF}/"
    assert location(visitor.get(path)).startswith(f"{PREFIX}/signin?next=")
    visitor.sign_in("root")
    assert visitor.get(path).status_code == 404
