"""Commands on links and on the rules for them, against a running API."""

from __future__ import annotations

import json

import pytest

from auth.tokens import new_link_token
from tests.contract.api_calls import new_session
from tests.contract.commands import Commands
from tests.contract.link_visits import PASSWORD, visiting
from tests.services.api import Api


@pytest.fixture
def hub(api: Api) -> Commands:
    """Commands of somebody at this API, which has a session `r/s`."""
    new_session(api)
    return Commands(api.url)


def share(hub: Commands, *options: str, given: str | None = None) -> dict[str, str]:
    """The link that `share` makes."""
    result = hub.run("share", "r/s", *options, "--json", given=given)
    assert result.exit_code == 0, result.output
    made: dict[str, str] = json.loads(result.stdout)
    return made


def test_a_link_is_made_as_the_options_say(hub: Commands) -> None:
    options = ("--access", "org", "--password", "--most-opens", "3", "--redacted")
    link = share(hub, *options, given=f"{PASSWORD}\n")
    asks = [link[name] for name in ("access", "hasPassword", "mostOpens", "redacted")]
    assert asks == ["ORG", True, 3, True]
    text = "\n".join(hub.lines("links", "show", link["uid"]))
    for line in ("Asks for  sign-in, password", "Opens     0 of 3", "pseudonyms"):
        assert line in text
    (listed,) = [line for line in hub.lines("links", "list", "r/s") if link["uid"] in line]
    assert listed.split()[1:6] == ["active", "r/s", "sign-in,", "password,", "pseudonyms"]


def test_a_password_is_read_from_the_first_line_and_checked(hub: Commands) -> None:
    link = share(hub, "--password", given=f"{PASSWORD}\nmore\n")
    with visiting(link["uri"]) as visitor:
        assert visitor.unlock(PASSWORD).status_code == 303
    refused = hub.run("share", "r/s", "--password", given="short\n")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "8 to 200 characters" in refused.stderr


def test_a_link_is_changed(hub: Commands, api: Api) -> None:
    link = share(hub, "--most-opens", "3", "--note", "first")
    told = hub.said("links", "update", link["uid"], "--note", "", "--access", "org", "--any-opens")
    assert f"Changed link {link['uid']} to r/s" in told
    result = hub.run("links", "update", link["uri"], "--password", given=f"{PASSWORD}\n")
    assert result.exit_code == 0
    shown = api.http.get(f"/{link['name']}").json()
    values = [shown[name] for name in ("note", "access", "hasPassword", "mostOpens")]
    assert values == ["", "ORG", True, None]
    hub.said("links", "update", link["token"], "--no-password", "--expires", "never")
    shown = api.http.get(f"/{link['name']}").json()
    assert (shown["hasPassword"], shown["expireTime"]) == (False, None)
    assert "Say what to change" in hub.complaint("links", "update", link["uid"], status=2)
    both = ("--most-opens", "3", "--any-opens")
    hub.complaint("links", "update", link["uid"], *both, status=2)


@pytest.mark.parametrize("said", ["uid", "name", "token", "uri"])
def test_a_link_is_revoked_by_whatever_names_it(hub: Commands, api: Api, said: str) -> None:
    link, other = share(hub), share(hub)
    named = f"{link['uri']}/data/plugin/profile/?tag=x" if said == "uri" else link[said]
    assert f"Revoked link {link['uid']}" in hub.said("links", "revoke", named)
    states = {
        name: api.http.get(f"/{name}").json()["state"] for name in (link["name"], other["name"])
    }
    assert states == {link["name"]: "REVOKED", other["name"]: "ACTIVE"}


def test_an_address_that_no_link_has_is_told_and_not_sent(hub: Commands) -> None:
    link = share(hub)
    for wrong in (new_link_token(), link["uri"][:-1], f"{link['token']}x"):
        assert "was it cut off" in hub.complaint("links", "revoke", wrong, status=2)


def test_rules_are_shown_and_changed(hub: Commands) -> None:
    assert "Unlisted links   allowed" in hub.lines("sharing-rules", "show")
    changed = hub.json(
        "sharing-rules",
        "update",
        "--unlisted-redacted",
        "--longest-days",
        "14",
        "--default-access",
        "org",
    )
    assert isinstance(changed, dict)
    assert (changed["longestDays"], changed["unlistedRedactedOnly"]) == (14.0, True)
    text = "\n".join(hub.lines("sharing-rules", "show"))
    for line in ("allowed, redacted", "14 days", "org", "local"):
        assert line in text
    refused = hub.complaint("share", "r/s", "--access", "unlisted", status=2)
    assert "redacted" in refused
    hub.lines("share", "r/s", "--access", "unlisted", "--redacted")
    lifted = hub.json(
        "sharing-rules", "update", "--no-unlisted-redacted", "--longest-days", "0", "--no-unlisted"
    )
    assert isinstance(lifted, dict)
    values = [lifted[name] for name in ("longestDays", "unlistedRedactedOnly", "allowUnlisted")]
    assert values == [None, False, False]
    found = hub.lines("links", "list")[1].split()
    assert found[1:4] == ["forbidden", "r/s", "pseudonyms"]
    hub.said("links", "revoke", found[0])
    assert hub.lines("links", "list")[1].split()[:2] == [found[0], "revoked"]
    assert "Say what to change" in hub.complaint("sharing-rules", "update", status=2)
