"""Signing in with an API token: the cookie, who may, what other sites can't do, and where it leads."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest

from auth.browser_sessions import BrowserSeals, BrowserSession, SignInMethod
from auth.identity import Role, create_token
from auth.tokens import new_api_token
from server.limits.service import WRONG_TOKENS
from server.registry.browser_sessions import SqlBrowserSessions
from server.registry.database import Database
from server.registry.tokens import SqlTokenStore
from tests.contract.api_calls import error_of, token_for
from tests.contract.browsing import DATA, PAGE, browser, location, sign_in, signed_in
from tests.services.api import Api, api_settings, serve_api

WEEK = 7 * 24 * 3600


def cookie_of(answer: httpx2.Response) -> tuple[str, dict[str, object]]:
    """Name and attributes of the one cookie that an answer sets."""
    (line,) = answer.headers.get_list("set-cookie")
    ((name, morsel),) = SimpleCookie(line).items()
    return name, {key: value for key, value in morsel.items() if value not in {"", None}}


def test_the_form_leads_on_and_the_browser_stays_signed_in(guarded_api: Api) -> None:
    _, secret = token_for(guarded_api, Role.VIEWER)
    with browser(guarded_api) as client:
        assert location(client.get("/runs")) == "/signin?next=/runs"
        form = client.get("/signin?next=/runs/r%253F")
        assert form.status_code == 200
        assert 'name="next" value="/runs/r%3F"' in form.text
        assert location(sign_in(client, guarded_api, f" {secret}\n", "/runs")) == "/runs"
        assert client.get("/runs").status_code == 200
        assert location(client.get("/signin?next=/runs/r")) == "/runs/r"


def test_the_cookie_holds_no_token_and_no_script_reads_it(guarded_api: Api) -> None:
    _, secret = token_for(guarded_api, Role.ADMIN)
    with browser(guarded_api) as client:
        answer = sign_in(client, guarded_api, secret)
    name, attributes = cookie_of(answer)
    assert name == "xprof-hub"
    age = attributes.pop("max-age")
    assert WEEK - 60 < int(str(age)) <= WEEK
    assert attributes == {"path": "/", "httponly": True, "samesite": "lax"}
    assert secret not in str(answer.headers)


@pytest.mark.parametrize("prefix", ["", "/team/x"])
def test_with_tls_no_other_host_can_set_the_cookie(tmp_path: Path, prefix: str) -> None:
    settings = api_settings(
        tmp_path, auth="token", base_url="https://hub.example", path_prefix=prefix
    )
    with serve_api(settings) as api, browser(api) as client:
        _, secret = token_for(api, Role.VIEWER)
        answer = sign_in(client, api, secret)
        name, attributes = cookie_of(answer)
        assert location(answer) == f"{prefix}/runs"
        assert name.startswith("__Host-xprof-hub")
        assert (name == "__Host-xprof-hub") == (prefix == "")
        assert (attributes["secure"], attributes["path"]) == (True, "/")
        # A cookie that somebody without TLS could have set counts for nothing.
        value = SimpleCookie(answer.headers["set-cookie"])[name].value
        for sent, status in ((name, 200), (name.removeprefix("__Host-"), 302)):
            shown = httpx2.get(f"{api.url}/runs", headers={**PAGE, "Cookie": f"{sent}={value}"})
            assert shown.status_code == status


def test_it_ends_with_the_token(guarded_api: Api) -> None:
    token_id, secret = token_for(guarded_api, Role.VIEWER)
    with browser(guarded_api) as client, signed_in(guarded_api) as other:
        sign_in(client, guarded_api, secret)
        assert client.get("/runs").status_code == 200
        store = SqlTokenStore(Database(guarded_api.settings.resolved_database_url))
        store.revoke_token(token_id, datetime.now(UTC))
        assert location(client.get("/runs")) == "/signin?next=/runs"
        assert other.get("/runs").status_code == 200


def test_it_never_outlives_a_token_that_expires(guarded_api: Api) -> None:
    now = datetime.now(UTC)
    _, secret = create_token(
        SqlTokenStore(Database(guarded_api.settings.resolved_database_url)),
        name="short",
        role=Role.VIEWER,
        creator="test",
        now=now,
        expires=now + timedelta(hours=1),
    )
    with browser(guarded_api) as client:
        _, attributes = cookie_of(sign_in(client, guarded_api, secret))
    assert 3000 < int(str(attributes["max-age"])) <= 3600


def test_wrong_tokens_get_the_form_again_and_no_cookie(guarded_api: Api) -> None:
    token_id, revoked = token_for(guarded_api, Role.ADMIN)
    store = SqlTokenStore(Database(guarded_api.settings.resolved_database_url))
    store.revoke_token(token_id, datetime.now(UTC))
    texts = set()
    with browser(guarded_api) as client:
        for wrong in ("", new_api_token(), revoked, "xph_x", "\0", "é" * 300, token_id):
            answer = sign_in(client, guarded_api, wrong, "/runs")
            assert answer.status_code == 403
            assert "set-cookie" not in answer.headers
            assert "<form" in answer.text
            assert wrong == "" or wrong not in answer.text
            texts.add(answer.text)
    assert len(texts) == 1


def test_a_jobs_token_does_not_sign_in(guarded_api: Api) -> None:
    _, secret = token_for(guarded_api, Role.INGEST)
    with browser(guarded_api) as client:
        answer = sign_in(client, guarded_api, secret)
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers
        assert "job" in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_no_other_site_signs_anybody_in_or_out(guarded_api: Api, headers: dict[str, str]) -> None:
    """Who is signed in as somebody else shows that person what he does."""
    _, secret = token_for(guarded_api, Role.VIEWER)
    with signed_in(guarded_api) as client:
        answers = [sign_in(client, guarded_api, secret, **headers)]
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        answers.append(client.post("/signout", headers=sent))
        for answer in answers:
            assert error_of(answer) == (403, "PERMISSION_DENIED")
            assert "set-cookie" not in answer.headers
        assert client.get("/runs").status_code == 200


def test_our_own_form_is_let_through(guarded_api: Api) -> None:
    _, secret = token_for(guarded_api, Role.VIEWER)
    with browser(guarded_api) as client:
        answer = sign_in(
            client, guarded_api, secret, Origin=guarded_api.url, Sec_Fetch_Site="same-origin"
        )
        assert answer.status_code == 303


def test_signing_out_takes_the_cookie_away_and_its_copies_too(guarded_api: Api) -> None:
    with signed_in(guarded_api) as client:
        assert "Sign out" in client.get("/runs").text
        copied = client.cookies["xprof-hub"]
        answer = client.post("/signout")
        assert location(answer) == "/signedout"
        assert cookie_of(answer)[1]["max-age"] == "0"
        words = client.get("/signedout").text
        assert "You are signed out" in words
        assert 'href="/signin"' in words
        assert location(client.get("/runs")) == "/signin?next=/runs"
        assert client.get("/signout").status_code == 405
        with signed_in(guarded_api) as other:
            assert location(other.get("/signedout")) == "/runs"
        shown = client.get("/runs", headers={"Cookie": f"xprof-hub={copied}"})
        assert location(shown) == "/signin?next=/runs"


def test_signing_in_again_ends_what_was_before(guarded_api: Api) -> None:
    with signed_in(guarded_api) as client:
        copied = client.cookies["xprof-hub"]
        _, secret = token_for(guarded_api, Role.ADMIN)
        sign_in(client, guarded_api, secret)
        assert client.get("/runs").status_code == 200
        shown = client.get("/runs", headers={"Cookie": f"xprof-hub={copied}"})
        assert location(shown) == "/signin?next=/runs"


@pytest.mark.parametrize(
    "back",
    [
        "https://evil.example/",
        "//evil.example/runs",
        "/\\evil.example",
        "/\t/evil.example",
        "/runs/../../elsewhere",
        "/runs/%2e%2E/x",
        "javascript:alert(1)",
        "runs",
        "",
        "/" + "x" * 9000,
    ],
)
def test_signing_in_leads_nowhere_else(guarded_api: Api, back: str) -> None:
    _, secret = token_for(guarded_api, Role.VIEWER)
    with browser(guarded_api) as client:
        assert location(sign_in(client, guarded_api, secret, back)) == "/runs"
        assert location(client.get(f"/signin?next={quote(back)}")) == "/runs"


@pytest.mark.parametrize("back", ["/runs/a%20b?x=/../y&z=%C3%A9", "/runs", "/docs"])
def test_signing_in_leads_back(guarded_api: Api, back: str) -> None:
    _, secret = token_for(guarded_api, Role.VIEWER)
    with browser(guarded_api) as client:
        assert location(sign_in(client, guarded_api, secret, back)) == back


def test_the_api_takes_no_cookie(guarded_api: Api) -> None:
    """What runs in a page of the same host, a profile's text gone wrong, must not reach the API."""
    with signed_in(guarded_api, Role.ADMIN) as client:
        for method, path in (
            ("GET", "/v1/machineLearningRuns"),
            ("HEAD", "/v1/machineLearningRuns"),
            ("POST", "/v1/machineLearningRuns"),
            ("GET", "/v1/apiTokens"),
            ("POST", "/v1/apiTokens"),
        ):
            assert client.request(method, path).status_code in {401, 405}, path


def test_nobody_writes_a_cookie_with_the_secret_that_everybody_knows(tmp_path: Path) -> None:
    """Whoever knows a browser session's id knows no secret, and the default of SECRET_KEY is none either."""
    settings = api_settings(tmp_path, auth="token", secret_key="change-me")
    with serve_api(settings) as api, browser(api) as client:
        token_id, secret = token_for(api, Role.ADMIN)
        now = datetime.now(UTC)
        begun = BrowserSession(
            "b", SignInMethod.TOKEN, token_id, None, now, now + timedelta(hours=1)
        )
        SqlBrowserSessions(Database(settings.resolved_database_url)).add(begun)
        text = BrowserSeals("change-me").write_session(begun)
        shown = client.get("/runs", headers={"Cookie": f"xprof-hub={text}"})
        assert location(shown) == "/signin?next=/runs"
        sign_in(client, api, secret)
        assert client.get("/runs").status_code == 200


def test_guesses_are_limited(tmp_path: Path) -> None:
    settings = api_settings(tmp_path, auth="token")
    with serve_api(settings) as api, browser(api) as client:
        _, secret = token_for(api, Role.VIEWER)
        statuses = [
            sign_in(client, api, new_api_token()).status_code
            for _ in range(2 * WRONG_TOKENS.most + 1)
        ]
        assert statuses[: WRONG_TOKENS.most] == [403] * WRONG_TOKENS.most
        # The minute may end in between, once.
        assert 429 in statuses
        refused = sign_in(client, api, secret)
        if refused.status_code == 429:
            assert 0 < int(refused.headers["retry-after"]) <= 60
            assert "<form" in refused.text


def test_a_form_has_an_end(guarded_api: Api) -> None:
    with browser(guarded_api) as client:
        assert client.post("/signin", content=b"x" * (2 << 20)).status_code == 413
        assert client.post("/signin", content=b"a=1&" * 1000).status_code == 403


def test_on_a_developers_machine_nobody_signs_in(api: Api) -> None:
    with browser(api) as client:
        shown = client.get("/runs")
        assert shown.status_code == 200
        assert "Sign out" not in shown.text
        assert location(client.get("/signin")) == "/runs"
        foreign = client.get("/runs", headers={**DATA, "Host": "evil.example"})
        assert error_of(foreign) == (403, "PERMISSION_DENIED")
