"""People behind Google's proxy: only what it signs for this hub says who they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from http.cookies import SimpleCookie
from pathlib import Path

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet

from auth.identity import Role
from auth.members import member_id
from server.registry.browser_sessions import SqlBrowserSessions
from server.registry.database import Database
from server.registry.members import add_member, change_role
from tests.contract.api_calls import error_of, new_session, token_for
from tests.contract.browsing import PAGE, XPROF
from tests.services.api import Api, api_settings, serve_api
from tests.services.scripted import Scripted, ScriptedServer

AUDIENCE = "/projects/123/global/backendServices/456"
HUB, CONTENT = "https://hub.example", "https://content.example"
KEY = ECKey.generate_key("P-256", {"kid": "iap"})
ROOT, ANN = "root@example.com", "ann@example.org"
ASSERTION = "X-Goog-IAP-JWT-Assertion"


def assertion(email: str = ROOT, key: ECKey = KEY, **claims: object) -> str:
    """What the proxy says of a request (cloud.google.com/iap/docs/signed-headers-howto)."""
    now = int(time.time())
    named = {
        "iss": "https://cloud.google.com/iap",
        "aud": AUDIENCE,
        "sub": "accounts.google.com:1",
        "email": email,
        "iat": now - 1,
        "exp": now + 600,
    }
    return jwt.encode({"alg": "ES256", "kid": "iap"}, {**named, **claims}, key)


@dataclass(frozen=True)
class Proxied:
    """A hub behind the proxy, with a content host that is not.

    Attributes:
        api: its server.
        keys: the server that publishes the proxy's keys.
    """

    api: Api
    keys: ScriptedServer

    def ask(
        self, url: str, token: str = "", method: str = "GET", **headers: str
    ) -> httpx2.Response:
        """A request to a path of the hub, or to an address of either host, as the proxy hands it on."""
        host, path = HUB, url
        for known in (HUB, CONTENT):
            if url.startswith(known):
                host, path = known, url.removeprefix(known)
        sent = {**PAGE, "Host": host.removeprefix("https://")}
        sent |= {ASSERTION: token} if token else {}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        body: dict[str, str] | None = {} if method == "POST" and "/v1/" in path else None
        return httpx2.request(
            method, f"{self.api.url}{path}", headers=sent, trust_env=False, json=body
        )

    @property
    def database(self) -> Database:
        """The hub's."""
        return Database(self.api.settings.resolved_database_url)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, keys: ScriptedServer) -> Iterator[Proxied]:
    settings = api_settings(
        tmp_path_factory.mktemp("iap"),
        auth="iap",
        iap_audience=AUDIENCE,
        iap_keys_url=f"{keys.url}/keys",
        admins=ROOT,
        base_url=HUB,
        content_url=CONTENT,
    )
    with serve_api(settings) as api:
        api.http.headers["Host"] = "hub.example"
        api.http.headers[ASSERTION] = assertion()
        new_session(api)
        hub = Proxied(api, keys)
        add_member(hub.database, f"user:{ANN}", Role.VIEWER, "test", datetime.now(UTC))
        yield hub


@pytest.fixture(scope="module")
def keys(scripted_for_module: ScriptedServer) -> ScriptedServer:
    scripted_for_module.answers[:] = [Scripted(200, KeySet([KEY]).as_dict(private=False))]
    return scripted_for_module


def test_whom_the_proxy_vouches_for_gets_in_with_his_role(hub: Proxied) -> None:
    assert hub.ask("/runs", assertion()).status_code == 200
    assert hub.ask("/admin/members", assertion()).status_code == 200
    assert hub.ask("/runs", assertion("Ann@Example.org")).status_code == 200
    assert hub.ask("/admin/members", assertion(ANN)).status_code == 403
    shown = hub.ask("/runs", assertion(ANN)).text
    assert f"Signed in as <b><bdi>{ANN}" in shown
    assert "Everybody at this machine" not in shown
    caller = hub.ask("/v1/caller", assertion(ANN)).json()
    assert caller == {"name": ANN, "id": f"user:{ANN}", "role": "viewer", "auth": "iap"}


@pytest.mark.parametrize(
    "make",
    [
        lambda: "",
        lambda: "x",
        lambda: assertion(key=ECKey.generate_key("P-256", {"kid": "iap"})),
        lambda: assertion(aud="/projects/123/global/backendServices/457"),
        lambda: assertion(aud=[AUDIENCE]),
        lambda: assertion(iss="https://accounts.google.com"),
        lambda: assertion(exp=int(time.time()) - 60),
        lambda: assertion(iat=int(time.time()) + 300),
        lambda: assertion(email=""),
    ],
    ids=["none", "nonsense", "key", "audience", "list", "issuer", "old", "future", "no e-mail"],
)
def test_nothing_else_says_who_somebody_is(hub: Proxied, make: Callable[[], str]) -> None:
    token = make()  # now: what is made as the tests are collected is out of date when this one runs
    plain = {
        "X_Goog_Authenticated_User_Email": f"accounts.google.com:{ROOT}",
        "X_Goog_Authenticated_User_Id": "accounts.google.com:1",
    }
    shown = hub.ask("/runs", token, **plain)
    assert (shown.status_code, shown.headers["location"]) == (302, "/signin?next=/runs")
    assert error_of(hub.ask("/v1/machineLearningRuns", token, **plain)) == (401, "UNAUTHENTICATED")


def test_somebody_without_a_role_learns_his_address_and_who_can_help(hub: Proxied) -> None:
    token = assertion("carol@example.org")
    assert hub.ask("/runs", token).status_code == 302
    page = hub.ask("/signin", token)
    assert "carol@example.org has no role here" in page.text
    assert error_of(hub.ask("/v1/caller", token)) == (403, "PERMISSION_DENIED")


def test_a_role_counts_at_the_next_request(hub: Proxied) -> None:
    def change(role: Role) -> None:
        change_role(
            hub.database,
            member_id(f"user:{ANN}"),
            role,
            etag=None,
            now=datetime.now(UTC),
            is_admin_set=True,
        )

    change(Role.ADMIN)
    assert hub.ask("/v1/members", assertion(ANN)).status_code == 200
    change(Role.VIEWER)
    assert hub.ask("/v1/members", assertion(ANN)).status_code == 403


def test_no_page_changes_or_reads_anything_through_the_proxy(hub: Proxied) -> None:
    """The browser sends the proxy's cookie along with whatever a page asks for."""
    for headers in (
        {"Origin": "https://evil.example"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Sec_Fetch_Site": "same-origin", "Origin": HUB},
    ):
        made = hub.ask("/v1/machineLearningRuns", assertion(), "POST", **headers)
        assert error_of(made) == (403, "PERMISSION_DENIED")
    for site in ("cross-site", "same-site", "same-origin"):
        read = hub.ask("/v1/machineLearningRuns", assertion(), Sec_Fetch_Site=site)
        assert error_of(read) == (403, "PERMISSION_DENIED")
    posted = hub.ask("/admin/members", assertion(), "POST", Origin="https://evil.example")
    assert posted.status_code == 403
    assert hub.ask("/v1/machineLearningRuns", assertion()).status_code == 200
    assert hub.ask("/v1/machineLearningRuns", assertion(), Sec_Fetch_Site="none").status_code == 200
    assert hub.ask("/v1/machineLearningRuns", assertion(), "POST").status_code == 200


def test_an_api_token_goes_before_the_proxy(hub: Proxied) -> None:
    _, secret = token_for(hub.api, Role.VIEWER)
    header = {"Authorization": f"Bearer {secret}"}
    assert hub.ask("/v1/caller", assertion(), **header).json()["role"] == "viewer"
    wrong = {"Authorization": "Bearer xpa_wrong"}
    assert hub.ask("/v1/caller", assertion(), **wrong).status_code == 401
    googles = {"Authorization": "Bearer ya29.of-google"}
    assert hub.ask("/v1/caller", assertion(), **googles).json()["role"] == "admin"


def test_a_pass_brings_people_to_the_content_host_and_ends_when_an_admin_says_so(
    hub: Proxied,
) -> None:
    path = f"/runs/r/sessions/s{XPROF}/"
    led = hub.ask(path, assertion(ANN))
    assert led.headers["location"].startswith(f"{CONTENT}/runs/r/sessions/s/enter?grant=")
    entered = hub.ask(led.headers["location"])
    ((name, morsel),) = SimpleCookie(entered.headers["set-cookie"]).items()
    cookie = f"{name}={morsel.value}"
    url = f"{CONTENT}{path}runs"
    assert hub.ask(url, Cookie=cookie, Accept="*/*").json() == ["s"]
    hub.ask(path, assertion(ANN))
    sessions = SqlBrowserSessions(hub.database)
    (known,) = sessions.signed_in_people(datetime.now(UTC), 10)
    assert (known.subject, known.browsers) == (f"user:{ANN}", 1)
    assert sessions.end_all_of(f"user:{ANN}", datetime.now(UTC)) == 1
    assert hub.ask(url, Cookie=cookie, Accept="*/*").status_code == 401
    assert hub.ask(path, assertion(ANN)).status_code == 302


def test_signing_out_ends_the_passes_and_leads_on_to_the_proxys_own_way_out(hub: Proxied) -> None:
    """https://cloud.google.com/iap/docs/sessions-howto names the address; the proxy answers it itself."""
    path = f"/runs/r/sessions/s{XPROF}/"
    over = hub.ask(path, assertion(ANN)).headers["location"]
    cookie = hub.ask(over).headers["set-cookie"].partition(";")[0]
    url = f"{CONTENT}{path}runs"
    assert hub.ask(url, Cookie=cookie, Accept="*/*").status_code == 200
    assert 'action="/signout"' in hub.ask("/runs", assertion(ANN)).text
    strange = hub.ask("/signout", assertion(ANN), "POST", Origin="https://evil.example")
    assert strange.status_code == 403
    assert hub.ask(url, Cookie=cookie, Accept="*/*").status_code == 200
    out = hub.ask("/signout", assertion(ANN), "POST", Origin=HUB)
    assert (out.status_code, out.headers["location"]) == (303, "/signedout")
    assert hub.ask(url, Cookie=cookie, Accept="*/*").status_code == 401
    words = hub.ask("/signedout", assertion(ANN))
    assert words.status_code == 200
    assert 'href="/_gcp_iap/clear_login_cookie"' in words.text


def test_keys_that_cannot_be_had_are_no_yes(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.answers[:] = [Scripted(500)]
    settings = api_settings(
        tmp_path, auth="iap", iap_audience=AUDIENCE, iap_keys_url=scripted.url, admins=ROOT
    )
    with serve_api(settings) as api:
        answer = httpx2.get(f"{api.url}/v1/caller", headers={ASSERTION: assertion()})
        assert error_of(answer) == (503, "UNAVAILABLE")
        assert ROOT not in answer.text
