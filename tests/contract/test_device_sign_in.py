"""A program is let in by somebody who has signed in: both sides, on both databases."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import text, update

from auth.device_codes import DeviceRequest
from auth.identity import Role
from server.registry import device_codes
from server.registry.database import Database
from server.registry.models import DeviceCodeRow, TokenRow
from server.registry.tokens import SqlTokenStore
from tests.contract.api_calls import error_of, token_for
from tests.contract.browsing import browser, location, sign_in, signed_in
from tests.contract.commands import Commands
from tests.services.api import Api, ApiServers, api_settings, serve_api


def begin(api: Api, name: str = "me@laptop") -> dict[str, str]:
    answer = api.http.post("/deviceCodes", json={"displayName": name})
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    found: dict[str, str] = answer.json()
    return found


def exchange(api: Api, code: dict[str, str]) -> httpx2.Response:
    return api.http.post("/deviceCodes:exchange", json={"deviceCode": code["deviceCode"]})


def reason(answer: httpx2.Response) -> str:
    assert error_of(answer) == (400, "FAILED_PRECONDITION")
    found: str = answer.json()["error"]["details"][0]["reason"]
    return found


def decide(
    client: httpx2.Client, code: dict[str, str], decision: str, token: str = ""
) -> httpx2.Response:
    sent = {"code": code["userCode"], "decision": decision, "token": token}
    return client.post("/device", data=sent)


def let_in(api: Api, role: Role, secret: str = "") -> dict[str, str]:
    """The token that a program gets when somebody allows it with one of this role."""
    code = begin(api)
    with signed_in(api) as client:
        answer = decide(client, code, "allow", secret or token_for(api, role)[1])
        assert answer.status_code == 200, answer.text
    made = exchange(api, code)
    assert made.status_code == 200, made.text
    found: dict[str, str] = made.json()
    return found


def role_of(api: Api, secret: str) -> str | None:
    """What a token may do; None when it works no more."""
    answer = api.http.get("/caller", headers={"Authorization": f"Bearer {secret}"})
    if answer.status_code == 401:
        return None
    assert answer.status_code == 200
    found: str = answer.json()["role"]
    return found


def test_whoever_is_let_in_gets_a_token_once(guarded_api: Api) -> None:
    code = begin(guarded_api)
    assert code["verificationUri"] == f"{guarded_api.url}/device"
    assert code["verificationUriComplete"] == f"{guarded_api.url}/device?code={code['userCode']}"
    assert reason(exchange(guarded_api, code)) == "authorization_pending"
    with signed_in(guarded_api, Role.EDITOR) as client:
        page = client.get("/device", params={"code": code["userCode"]})
        assert page.status_code == 200
        assert "me@laptop" in page.text
        assert "editor" in page.text
        assert reason(exchange(guarded_api, code)) == "authorization_pending"
        _, secret = token_for(guarded_api, Role.EDITOR)
        assert "signed in" in decide(client, code, "allow", secret).text
    made = exchange(guarded_api, code).json()
    assert (made["displayName"], made["role"], made["creator"]) == (
        "editor at me@laptop",
        "editor",
        "editor",
    )
    lifetime = datetime.fromisoformat(made["expireTime"]) - datetime.fromisoformat(
        made["createTime"]
    )
    assert lifetime == timedelta(days=90)
    assert reason(exchange(guarded_api, code)) == "expired_token"
    headers = {"Authorization": f"Bearer {made['token']}"}
    assert guarded_api.http.get("/caller", headers=headers).json()["role"] == "editor"


def test_of_many_that_ask_at_once_one_gets_it(guarded_api: Api) -> None:
    code = begin(guarded_api)
    with signed_in(guarded_api) as client:
        decide(client, code, "allow", token_for(guarded_api, Role.VIEWER)[1])
    together = threading.Barrier(6)

    def ask(_number: int) -> int:
        together.wait()
        return exchange(guarded_api, code).status_code

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(ask, range(6))) == [200, 400, 400, 400, 400, 400]


def test_whoever_is_refused_stays_outside(guarded_api: Api) -> None:
    code = begin(guarded_api)
    with signed_in(guarded_api) as client:
        assert "refused" in decide(client, code, "refuse").text
        # What was decided is not decided anew.
        _, secret = token_for(guarded_api, Role.VIEWER)
        assert decide(client, code, "allow", secret).status_code == 404
    assert reason(exchange(guarded_api, code)) == "access_denied"
    assert reason(exchange(guarded_api, code)) == "expired_token"


def test_a_token_works_no_longer_than_the_one_behind_it(guarded_api: Api) -> None:
    code = begin(guarded_api)
    _, secret = token_for(guarded_api, Role.ADMIN)
    with browser(guarded_api) as client:
        assert sign_in(client, guarded_api, secret).status_code == 303
        decide(client, code, "allow", secret)
    database = Database(guarded_api.settings.resolved_database_url)
    ends = datetime.now(UTC) + timedelta(days=1)
    with database.writing() as session:
        session.execute(update(TokenRow).values(expires=ends))
    database.close()
    made = exchange(guarded_api, code).json()
    assert datetime.fromisoformat(made["expireTime"]) == ends


def test_a_person_who_was_shut_out_lets_nobody_in(guarded_api: Api) -> None:
    code = begin(guarded_api)
    token_id, secret = token_for(guarded_api, Role.ADMIN)
    with browser(guarded_api) as client:
        sign_in(client, guarded_api, secret)
        decide(client, code, "allow", secret)
    headers = {"Authorization": f"Bearer {secret}"}
    guarded_api.http.delete(f"/apiTokens/{token_id}", headers=headers)
    assert reason(exchange(guarded_api, code)) == "access_denied"


def test_a_browser_alone_lets_nobody_in(guarded_api: Api) -> None:
    # A script in a page of this origin can send all that the browser has, which is no token.
    code = begin(guarded_api)
    with signed_in(guarded_api, Role.ADMIN) as client:
        for token in ("", "xpa_wrong"):
            answer = decide(client, code, "allow", token)
            assert answer.status_code == 403
            assert "no API token that works" in answer.text
            assert code["userCode"] in answer.text
    assert reason(exchange(guarded_api, code)) == "authorization_pending"


def test_where_profiles_have_a_host_of_their_own_a_click_is_enough(tmp_path: Path) -> None:
    """Whoever has signed in with a token need not paste it again; the program's token ends with that one."""
    settings = api_settings(
        tmp_path, auth="token", base_url="http://hub.test", content_url="http://content.test"
    )
    with serve_api(settings) as api, browser(api) as client:
        parent, secret = token_for(api, Role.EDITOR)
        code = begin(api)
        assert decide(client, code, "allow").status_code == 401
        assert sign_in(client, api, secret).status_code == 303
        page = client.get("/device", params={"code": code["userCode"]}).text
        assert "me@laptop" in page
        assert 'name="token"' not in page
        for strange in ({"Origin": "http://content.test"}, {"Sec-Fetch-Site": "same-site"}):
            sent = {"code": code["userCode"], "decision": "allow"}
            assert client.post("/device", data=sent, headers=strange).status_code == 403
        assert reason(exchange(api, code)) == "authorization_pending"
        assert decide(client, code, "allow").status_code == 200
        made = exchange(api, code).json()
        assert role_of(api, made["token"]) == "editor"
        revoked = Database(settings.resolved_database_url)
        SqlTokenStore(revoked).revoke_token(parent, datetime.now(UTC))
        revoked.close()
        assert role_of(api, made["token"]) is None


def test_a_job_s_token_lets_nobody_in(guarded_api: Api) -> None:
    code = begin(guarded_api)
    with signed_in(guarded_api) as client:
        _, secret = token_for(guarded_api, Role.INGEST)
        answer = decide(client, code, "allow", secret)
    assert answer.status_code == 403
    assert "lets a job register" in answer.text
    assert reason(exchange(guarded_api, code)) == "authorization_pending"


def test_a_program_may_what_the_token_may_that_allowed_it(guarded_api: Api) -> None:
    code = begin(guarded_api)
    with signed_in(guarded_api, Role.ADMIN) as client:
        decide(client, code, "allow", token_for(guarded_api, Role.VIEWER)[1])
    made = exchange(guarded_api, code).json()
    assert role_of(guarded_api, made["token"]) == "viewer"


def test_a_token_ends_with_the_one_behind_it(guarded_api: Api) -> None:
    parent, secret = token_for(guarded_api, Role.ADMIN)
    first = let_in(guarded_api, Role.ADMIN, secret)
    second = let_in(guarded_api, Role.ADMIN, first["token"])
    other = let_in(guarded_api, Role.EDITOR)
    assert role_of(guarded_api, second["token"]) == "admin"
    headers = {"Authorization": f"Bearer {secret}"}
    assert guarded_api.http.delete(f"/apiTokens/{parent}", headers=headers).status_code == 200
    assert role_of(guarded_api, first["token"]) is None
    assert role_of(guarded_api, second["token"]) is None
    assert role_of(guarded_api, other["token"]) == "editor"


def test_a_token_s_end_leaves_the_one_behind_it(guarded_api: Api) -> None:
    _, secret = token_for(guarded_api, Role.ADMIN)
    made = let_in(guarded_api, Role.ADMIN, secret)
    headers = {"Authorization": f"Bearer {secret}"}
    answer = guarded_api.http.delete(f"/{made['name']}", headers=headers)
    assert answer.status_code == 200
    assert role_of(guarded_api, made["token"]) is None
    assert role_of(guarded_api, secret) == "admin"


def test_nobody_decides_without_having_signed_in(guarded_api: Api) -> None:
    code = begin(guarded_api)
    with browser(guarded_api) as client:
        answer = client.get("/device", params={"code": code["userCode"]})
        assert location(answer).startswith("/signin?next=/device%3Fcode%3D")
        assert "laptop" not in answer.text
        _, secret = token_for(guarded_api, Role.VIEWER)
        assert decide(client, code, "allow", secret).status_code == 401
    assert reason(exchange(guarded_api, code)) == "authorization_pending"


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}]
)
def test_a_page_of_another_site_lets_nobody_in(guarded_api: Api, headers: dict[str, str]) -> None:
    code = begin(guarded_api)
    with signed_in(guarded_api) as client:
        client.headers.update(headers)
        _, secret = token_for(guarded_api, Role.VIEWER)
        assert decide(client, code, "allow", secret).status_code == 403
    assert reason(exchange(guarded_api, code)) == "authorization_pending"


def test_what_a_program_calls_itself_is_text(guarded_api: Api) -> None:
    code = begin(guarded_api, "<script>alert(1)</script>")
    with signed_in(guarded_api) as client:
        page = client.get("/device", params={"code": code["userCode"]})
    assert "&lt;script&gt;alert(1)" in page.text
    assert "<script" not in page.text
    assert "form-action 'self'" in page.headers["content-security-policy"]


def test_codes_are_over_after_ten_minutes(guarded_api: Api) -> None:
    code = begin(guarded_api)
    database = Database(guarded_api.settings.resolved_database_url)
    late = datetime.now(UTC) + timedelta(minutes=10)
    assert device_codes.find_device_request(database, code["userCode"], late) is None
    with database.writing() as session:
        over = datetime.now(UTC) - timedelta(seconds=1)
        session.execute(update(DeviceCodeRow).values(expires=over))
    assert reason(exchange(guarded_api, code)) == "expired_token"
    with signed_in(guarded_api) as client:
        assert client.get("/device", params={"code": code["userCode"]}).status_code == 404
    # The next one to ask clears away what is over.
    begin(guarded_api)
    with database.reading() as session:
        assert session.scalar(text("SELECT count(*) FROM device_codes")) == 1
    database.close()


def test_those_who_wait_are_bounded(guarded_api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_codes, "MOST_WAITING", 2)
    for _ in range(2):
        begin(guarded_api)
    answer = guarded_api.http.post("/deviceCodes", json={"displayName": "x"})
    assert error_of(answer) == (503, "UNAVAILABLE")


@pytest.mark.parametrize(
    "body", [{}, {"displayName": ""}, {"displayName": "x" * 101}, {"displayName": "a\nb"}]
)
def test_a_program_says_what_it_is(guarded_api: Api, body: dict[str, str]) -> None:
    answer = guarded_api.http.post("/deviceCodes", json=body)
    assert error_of(answer) == (400, "INVALID_ARGUMENT")


def test_long_bodies_of_strangers_are_not_read(guarded_api: Api) -> None:
    answer = guarded_api.http.post("/deviceCodes", content=b"x" * (2 << 20))
    assert error_of(answer) == (413, "INVALID_ARGUMENT")


def test_wrong_codes_are_counted_like_wrong_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A server of its own: nobody may sign in there for the rest of the minute.
    with serve_api(api_settings(tmp_path, auth="token")) as api, signed_in(api) as client:
        # The minute does not end in between.
        monkeypatch.setattr(api.services.limits.attempts, "_clock", lambda: 600.0)
        statuses = [
            client.get("/device", params={"code": f"BCDF-GHJ{letter}"}).status_code
            for letter in "BCDFGHJKLMNPQRSTVWXZBC"
        ]
        assert statuses[0] == 404
        assert statuses[-1] == 429
        # Nor does deciding at once go round that.
        code, (_, secret) = begin(api), token_for(api, Role.VIEWER)
        assert decide(client, code, "allow", secret).status_code == 429


def test_a_hub_without_tokens_has_none_to_give(api: Api) -> None:
    answer = api.http.post("/deviceCodes", json={"displayName": "x"})
    assert reason(answer) == "not_needed"


def test_two_requests_never_share_a_code(guarded_api: Api) -> None:
    database = Database(guarded_api.settings.resolved_database_url)
    now = datetime.now(UTC)
    request = DeviceRequest("BCDF-GHJK", "x", now + timedelta(minutes=1))
    device_codes.add_device_request(database, request, "digest", now)
    with pytest.raises(Exception, match="in use"):
        device_codes.add_device_request(database, request, "other digest", now)
    database.close()


def test_the_command_waits_until_somebody_says_yes(
    api_servers: ApiServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = api_servers.get("sqlite", "token")
    monkeypatch.setattr("server.routes.device_codes.INTERVAL", timedelta(seconds=1))
    monkeypatch.setattr("server.routes.device_codes.LIFETIME", timedelta(seconds=30))
    person = Commands("", config=tmp_path)

    def allow() -> None:
        with signed_in(api, Role.VIEWER) as client:
            while not (codes := waiting_codes(api)):
                time.sleep(0.1)
            _, secret = token_for(api, Role.VIEWER)
            decide(client, {"userCode": codes[0]}, "allow", secret)

    with ThreadPoolExecutor(1) as pool:
        allowing = pool.submit(allow)
        result = person.run("login", api.url, "--device")
        allowing.result()
    assert result.exit_code == 0, result.output
    assert f"{api.url}/device?code=" in result.stderr
    assert "Signed in to" in result.stderr
    assert "(viewer)" in result.stderr
    assert dict(line.split(None, 1) for line in person.lines("whoami"))["Role"] == "viewer"


def waiting_codes(api: Api) -> list[str]:
    database = Database(api.settings.resolved_database_url)
    with database.reading() as session:
        found = [str(row) for row in session.scalars(text("SELECT user_code FROM device_codes"))]
    database.close()
    return found
