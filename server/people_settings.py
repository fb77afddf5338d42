"""The settings of how people sign in, and who is always an admin; part of `server.settings.Settings`."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import AfterValidator
from pydantic_settings import BaseSettings, NoDecode

from auth.iap import KEYS_URL
from auth.members import read_member
from auth.oidc import is_safe_address


def split_list(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """Comma-separated text to a tuple, surrounding blanks and empty parts dropped.

    Text that starts with a bracket is a JSON list, whose texts are taken as they are: for names with a comma.

    Raises:
        ValueError: it starts with a bracket and is no list of texts.
    """
    if not isinstance(value, str):
        return tuple(part for part in value if part)
    if not value.lstrip().startswith("["):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    try:
        parts = json.loads(value)
    except ValueError as problem:
        raise ValueError(f"a list in brackets is JSON, and this is not: {problem}") from problem
    if not all(isinstance(part, str) for part in parts):
        raise ValueError("a list in brackets holds texts only")
    return tuple(part for part in parts if part)


def _members(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(read_member(part) for part in split_list(value))


Members = Annotated[str | tuple[str, ...], NoDecode, AfterValidator(_members)]


class PeopleSettings(BaseSettings):
    """How people sign in."""

    auth: Literal["dev", "token", "oidc", "iap"] = "dev"
    """How callers are known: `docs/access.md`."""
    admins: Members = ()
    """Members who are always admins: `user:ann@example.org`, `group:sre`, `domain:example.org`."""
    oidc_issuer: str = ""
    """Address of the OpenID Connect provider, exactly as it names itself."""
    oidc_client_id: str = ""
    oidc_client_secret: str = ""
    oidc_scopes: str = "openid email profile"
    """What is asked of the provider, separated by blanks."""
    oidc_groups_claim: str = "groups"
    """Which claim holds the groups that somebody is in."""
    iap_audience: str = ""
    """Audience of IAP's assertions: `/projects/<number>/global/backendServices/<id>` and the like."""
    iap_keys_url: str = KEYS_URL
    """Where the keys are published that these are signed with."""

    def problems_with_people(self) -> list[str]:
        """Why people can't sign in as it is set; empty when they can."""
        if self.auth == "iap" and not self.iap_audience:
            return [
                "XPROF_HUB_IAP_AUDIENCE is not set, so an assertion for another service would do. Set it to "
                "the audience that IAP shows for this backend."
            ]
        if self.auth != "oidc":
            return []
        problems = [
            f"XPROF_HUB_{name} is not set. Register this hub with the provider, and set what it gives."
            for name, value in (
                ("OIDC_ISSUER", self.oidc_issuer),
                ("OIDC_CLIENT_ID", self.oidc_client_id),
            )
            if not value
        ]
        if self.oidc_issuer and not is_safe_address(self.oidc_issuer):
            problems.append(
                f"XPROF_HUB_OIDC_ISSUER ({self.oidc_issuer}) is no https:// address, so anybody on the way "
                "could say who signs in."
            )
        if "openid" not in self.oidc_scopes.split():
            problems.append("XPROF_HUB_OIDC_SCOPES needs openid among its scopes.")
        return problems

    def advice_on_people(self) -> list[str]:
        """What may stay as it is, but leaves nobody who can let others in."""
        if self.auth in {"oidc", "iap"} and not self.admins:
            return [
                "XPROF_HUB_ADMINS names nobody, so the first admin has to come with an API token made by "
                "'xprof-hub tokens create NAME --local --role admin'. Set it to your address."
            ]
        return []
