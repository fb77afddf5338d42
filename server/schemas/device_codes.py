"""Signing in a program by a code that its person types in a browser, as JSON (after RFC 8628)."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, StringConstraints

from server.schemas.base import ApiModel, Line


class NewDeviceCode(ApiModel):
    """What a program says of itself."""

    display_name: Annotated[Line, StringConstraints(min_length=1, max_length=100)]
    """Where it runs, for the person who lets it in."""


class DeviceCode(ApiModel):
    """A program's request to be let in."""

    device_code: str
    """For the program alone: becomes an API token."""
    user_code: str
    """For its person, who types it at `verificationUri`."""
    verification_uri: str
    verification_uri_complete: str
    """The same with the code in it."""
    expire_time: AwareDatetime
    interval_seconds: int
    """How often the program may ask."""


class DeviceExchange(ApiModel):
    """What a program has to become let in."""

    device_code: Annotated[Line, StringConstraints(min_length=1, max_length=100)]
