"""A link that asks for a password shows nothing without it, anywhere below its path; on both databases."""

from __future__ import annotations

from http.cookies import SimpleCookie

import pytest
from fastapi.routing import APIRoute

from server.limits.service import WRONG_PASSWORDS_HERE
from server.routes import link_entry, xprof, xprof_progress
from tests.contract.api_calls import error_of
from tests.contract.browsing import PAGE, XPROF, location
from tests.contract.link_visits import PASSWORD, another_link, make_link, next_of, visiting
from tests.services.api import Api

TOOL = f"{XPROF}/hlo_stats?host=a%2Fb&x=1"
ROUTERS = (
    link_entry.router,
    xprof.at_all_places(xprof.routes),
    xprof.at_all_places(xprof_progress.routes),
)
TEMPLATES = sorted(
    {
        route.path
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute) and route.path.startswith("/s/{token}")
    }
)
"""Every address below a link."""


def address_of(template: str, token: str) -> str:
    """An address that a route's template stands for."""
    values = {"token": token, "session": "s", "name:path": "bundle.js", "route": "data"}
    path = template.replace("{rest:path}", "x")
    for name, value in values.items():
        path = path.replace(f"{{{name}}}", value)
    return path


def test_a_password_lets_a_browser_in_for_a_day(api: Api) -> None:
    link = make_link(api, password=PASSWORD)
    with visiting(link["uri"]) as visitor:
        led = location(visitor.page(TOOL))
        assert led.startswith(f"{visitor.path}/unlock?next=")
        form = visitor.http.get(led, headers=PAGE)
        assert form.status_code == 200
        assert 'type="password"' in form.text
        assert "form-action 'self'" in form.headers["content-security-policy"]
        assert form.headers["cache-control"] == "no-store"
        wrong = visitor.unlock("correct house", next_of(led))
        assert (wrong.status_code, "set-cookie" in wrong.headers) == (403, False)
        assert "not the password" in wrong.text
        right = visitor.unlock(PASSWORD, next_of(led))
        assert (right.status_code, location(right)) == (303, f"{visitor.path}{TOOL}")
        ((name, morsel),) = SimpleCookie(right.headers["set-cookie"]).items()
        assert name == "xprof-hub-key"
        assert (morsel["path"], morsel["httponly"], morsel["samesite"]) == (
            visitor.path,
            True,
            "lax",
        )
        assert 86_000 < int(morsel["max-age"]) <= 86_400
        assert PASSWORD not in morsel.value
        assert visitor.page(TOOL).status_code == 200
        assert visitor.data().json() == ["s"]


def test_without_the_password_no_address_below_the_link_tells_anything(api: Api) -> None:
    link = make_link(api, password=PASSWORD)
    body = {"password": PASSWORD}
    whole_run = api.http.post("/machineLearningRuns/r/shareLinks", json=body).json()
    assert len(TEMPLATES) > 30
    with visiting(link["uri"]) as visitor:
        for template in TEMPLATES:
            made = whole_run if "{session}" in template else link
            answer = visitor.http.get(address_of(template, made["token"]))
            if template.endswith("/unlock"):
                assert answer.status_code == 200
                assert "password" in answer.text
            elif "/enter" in template:
                assert error_of(answer) == (404, "NOT_FOUND")
            else:
                assert error_of(answer) == (401, "UNAUTHENTICATED"), template
                assert "asks for a password" in answer.text


def test_no_answer_below_a_link_may_be_used_again_without_asking(api: Api) -> None:
    link = make_link(api)
    whole_run = api.http.post("/machineLearningRuns/r/shareLinks", json={}).json()
    secret = another_link(api, password=PASSWORD)
    ended = another_link(api)
    api.http.delete(f"/{ended['name']}")
    with visiting(link["uri"]) as visitor:
        for template in (*TEMPLATES, f"/s/{{token}}{XPROF}/nothing.png"):
            opened = whole_run if "{session}" in template else link
            for made in (opened, secret, ended, {"token": "xph_unknown"}):
                for accept in ("text/html", "*/*"):
                    path = address_of(template, made["token"])
                    answer = visitor.http.get(path, headers={"Accept": accept})
                    kept = answer.headers["cache-control"]
                    assert "no-store" in kept or "no-cache" in kept, path


def test_the_key_of_one_link_opens_no_other(api: Api) -> None:
    first = make_link(api, password=PASSWORD)
    second = another_link(api, password=PASSWORD)
    with visiting(first["uri"]) as one, visiting(second["uri"]) as other:
        cookie = one.unlock(PASSWORD).headers["set-cookie"].partition(";")[0]
        assert other.data(Cookie=cookie).status_code == 401
        assert other.data(Cookie=f"{cookie}x").status_code == 401
        assert one.data(Cookie=cookie).status_code == 200


def test_a_changed_password_ends_what_the_old_one_opened(api: Api) -> None:
    link = make_link(api, password=PASSWORD)
    path = f"/{link['name']}"
    with visiting(link["uri"]) as visitor:
        visitor.unlock(PASSWORD)
        etag = visitor.page().headers["etag"]
        assert visitor.page(**{"If-None-Match": etag}).status_code == 304
        # The same again is another password, too: who changes it wants the old ones out.
        api.http.patch(path, json={"password": PASSWORD})
        assert visitor.data().status_code == 401
        assert visitor.page(**{"If-None-Match": etag}).status_code == 302
        visitor.unlock(PASSWORD)
        assert visitor.data().status_code == 200
        api.http.patch(path, params={"updateMask": "password"}, json={})
        with visiting(link["uri"]) as stranger:
            assert stranger.data().status_code == 200
            assert location(stranger.http.get(f"{stranger.path}/unlock")) == stranger.path
            assert location(stranger.unlock("whatever")) == stranger.path
        api.http.delete(path)
        assert visitor.data().status_code == 410


def test_letters_that_keyboards_write_in_two_ways_are_the_same(api: Api) -> None:
    link = make_link(api, password="caf\u00e9 r\u00e9sum\u00e9")
    with visiting(link["uri"]) as visitor:
        assert visitor.unlock("cafe\u0301 re\u0301sume\u0301").status_code == 303


@pytest.mark.parametrize("back", ["", "//evil.example", "https://evil.example", "/../x", "/\\x"])
def test_the_form_leads_below_its_link_only(api: Api, back: str) -> None:
    link = make_link(api, password=PASSWORD)
    with visiting(link["uri"]) as visitor:
        place = location(visitor.unlock(PASSWORD, back))
        assert place == visitor.path or place.startswith(f"{visitor.path}/")
        assert ".." not in place
        assert "\\" not in place


def test_a_page_of_another_site_tries_no_password(api: Api) -> None:
    link = make_link(api, password=PASSWORD)
    with visiting(link["uri"]) as visitor:
        for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            answer = visitor.http.post(
                f"{visitor.path}/unlock", data={"password": PASSWORD}, headers=headers
            )
            assert error_of(answer) == (403, "PERMISSION_DENIED")


def test_wrong_passwords_are_counted_by_link(api: Api) -> None:
    link = make_link(api, password=PASSWORD)
    other = another_link(api, password=PASSWORD)
    most = WRONG_PASSWORDS_HERE.most
    with visiting(link["uri"]) as visitor:
        for _ in range(3):
            assert visitor.unlock(PASSWORD).status_code == 303
        # The minute may end in between, once.
        answers = [visitor.unlock("wrong password") for _ in range(2 * most + 1)]
        statuses = [answer.status_code for answer in answers]
        assert set(statuses) == {403, 429}
        assert 429 not in statuses[: most - 1] or 403 in statuses[statuses.index(429) :]
        refused = answers[statuses.index(429)]
        assert 0 < int(refused.headers["retry-after"]) <= 60
        assert "Try again in" in refused.text
        counted = visitor.http.get("/metrics").text
        assert 'xprof_hub_refused_requests_total{limit="wrong-passwords-here"}' in counted
        # Who was let in stays so, and another link's password is its own matter.
        assert visitor.data().status_code == 200
    with visiting(other["uri"]) as visitor:
        assert visitor.unlock(PASSWORD).status_code == 303


def test_a_form_in_a_frame_says_where_it_works(api: Api) -> None:
    link = make_link(api, password=PASSWORD)
    with visiting(link["uri"]) as visitor:
        form = visitor.http.get(f"{visitor.path}/unlock", headers={"Sec-Fetch-Dest": "iframe"})
        assert "in a tab of its own" in form.text
        assert "frame-ancestors 'self'" in form.headers["content-security-policy"]
