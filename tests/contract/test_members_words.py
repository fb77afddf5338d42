"""The page of members says what members are good for where nobody signs in as themselves."""

from __future__ import annotations

from auth.identity import Role
from tests.contract.browsing import browser, signed_in
from tests.services.api import Api

PATH = "/admin/members"


def test_where_everybody_is_an_admin_it_says_so(api: Api) -> None:
    with browser(api) as client:
        text = client.get(PATH).text
    assert "Everybody at this machine is an admin of this hub (XPROF_HUB_AUTH is dev)" in text
    assert "API tokens only" not in text


def test_where_tokens_are_all_it_says_so(guarded_api: Api) -> None:
    with signed_in(guarded_api, Role.ADMIN) as client:
        text = client.get(PATH).text
    assert "This hub knows people by API tokens only (XPROF_HUB_AUTH is token)" in text
    assert "Everybody at this machine" not in text
