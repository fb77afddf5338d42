"""A link that may be opened so often lets in as many browsers as that, and no more; on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from http.cookies import SimpleCookie

from tests.contract.api_calls import error_of
from tests.contract.browsing import PAGE
from tests.contract.link_visits import make_link, visiting
from tests.services.api import Api


def opens(api: Api, link: dict[str, str]) -> int:
    """How often the API says that a link was opened."""
    return int(api.http.get(f"/{link['name']}").json()["opens"])


def test_as_many_browsers_as_allowed_are_let_in_and_stay_so(api: Api) -> None:
    link = make_link(api, mostOpens=2)
    with (
        visiting(link["uri"]) as first,
        visiting(link["uri"]) as second,
        visiting(link["uri"]) as third,
    ):
        opening = first.page()
        assert opening.status_code == 200
        ((name, morsel),) = SimpleCookie(opening.headers["set-cookie"]).items()
        assert (name, morsel["path"]) == ("xprof-hub-opening", first.path)
        assert (morsel["httponly"], morsel["samesite"]) == (True, "lax")
        # A browser is counted once a day, however often it reloads.
        assert first.page(**{"If-None-Match": opening.headers["etag"]}).status_code == 304
        assert first.page("/data/plugin/profile/hlo_stats").status_code == 200
        assert opens(api, link) == 1
        assert second.page().status_code == 200
        assert (opens(api, link), third.page().status_code) == (2, 410)
        assert "as often as its maker allowed" in third.page().text
        assert error_of(third.data()) == (410, "GONE")
        assert third.http.get(third.path, headers=PAGE).status_code == 410
        for visitor in (first, second):
            assert visitor.data().json() == ["s"]
            assert visitor.page().status_code == 200
        # Its maker may let in one more.
        api.http.patch(f"/{link['name']}", json={"mostOpens": 3})
        assert third.page().status_code == 200
        assert opens(api, link) == 3


def test_what_a_page_shows_is_told_to_nobody_who_has_not_opened_it(api: Api) -> None:
    link = make_link(api, mostOpens=1)
    with visiting(link["uri"]) as visitor:
        for route in ("runs", "data?tag=hlo_stats", "status", "bundle.js", "progress/data"):
            assert error_of(visitor.data(route)) == (403, "PERMISSION_DENIED")
        looked = visitor.http.head(f"{visitor.path}/data/plugin/profile/", headers=PAGE)
        assert (looked.status_code, "set-cookie" in looked.headers) == (200, False)
        assert opens(api, link) == 0
        assert visitor.page().status_code == 200
        assert visitor.data().status_code == 200


def test_of_those_who_come_at_once_as_many_are_let_in_as_allowed(api: Api) -> None:
    link = make_link(api, mostOpens=3)

    def open_once(_number: int) -> int:
        with visiting(link["uri"]) as visitor:
            return visitor.page().status_code

    with ThreadPoolExecutor(10) as threads:
        statuses = list(threads.map(open_once, range(10)))
    assert sorted(statuses) == [200] * 3 + [410] * 7
    assert opens(api, link) == 3


def test_other_links_count_each_opening_and_keep_nothing(api: Api) -> None:
    link = make_link(api)
    with visiting(link["uri"]) as visitor:
        for _ in range(2):
            answer = visitor.page()
            assert (answer.status_code, "set-cookie" in answer.headers) == (200, False)
    assert opens(api, link) == 2
