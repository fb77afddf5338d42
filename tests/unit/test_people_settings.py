"""How people sign in, as it is set: what can't work or would let anybody in does not start."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from server.fleet.local_worker import environment_of
from server.settings import Settings

OIDC = {
    "auth": "oidc",
    "oidc_issuer": "https://accounts.example",
    "oidc_client_id": "hub",
    "admins": "ann@example.org",
}


def problems(**values: object) -> str:
    return "\n".join(Settings.model_validate({**OIDC, **values}).problems_with_people())


def test_a_whole_set_is_fine() -> None:
    assert problems() == ""
    assert problems(auth="token", oidc_issuer="") == ""
    assert problems(auth="dev", oidc_issuer="http://x") == ""
    assert problems(auth="iap", iap_audience="/projects/1/global/backendServices/2") == ""
    assert problems(oidc_issuer="http://127.0.0.1:8080") == ""


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"oidc_issuer": ""}, "XPROF_HUB_OIDC_ISSUER"),
        ({"oidc_client_id": ""}, "XPROF_HUB_OIDC_CLIENT_ID"),
        ({"oidc_issuer": "http://accounts.example"}, "XPROF_HUB_OIDC_ISSUER"),
        ({"oidc_scopes": "email"}, "XPROF_HUB_OIDC_SCOPES"),
        ({"auth": "iap"}, "XPROF_HUB_IAP_AUDIENCE"),
    ],
)
def test_what_is_missing_is_named(values: dict[str, object], named: str) -> None:
    assert named in problems(**values)


def test_admins_have_one_spelling_and_survive_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = Settings.model_validate({"admins": "Ann@Example.org, group:a b,domain:@x.org"})
    assert settings.admins == ("user:ann@example.org", "group:a b", "domain:x.org")
    for name, value in environment_of(settings).items():
        monkeypatch.setenv(name, value)
    assert Settings().admins == settings.admins


@pytest.mark.parametrize("text", ["ann", "allUsers", "role:admin", "user:"])
def test_an_admin_is_a_member(text: str) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({"admins": text})


def test_a_hub_without_an_admin_starts_with_advice() -> None:
    for auth in ("oidc", "iap"):
        settings = Settings.model_validate({**OIDC, "auth": auth, "admins": ""})
        assert any("XPROF_HUB_ADMINS" in line for line in settings.advice_for_production())
    assert not any(
        "XPROF_HUB_ADMINS" in line for line in Settings.model_validate(OIDC).advice_for_production()
    )


@pytest.mark.parametrize("host", ["0.0.0.0", "10.1.2.3", "hub.example"])
def test_only_dev_is_kept_from_other_addresses(host: str) -> None:
    for auth in ("token", "oidc", "iap"):
        assert Settings.model_validate({"auth": auth, "host": host}).problems_with_binding() == []
    (refused,) = Settings.model_validate({"auth": "dev", "host": host}).problems_with_binding()
    assert "XPROF_HUB_AUTH" in refused
