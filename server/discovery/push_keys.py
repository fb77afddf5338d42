"""Fetching the public keys that pushes are signed with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import httpx2
from pydantic import TypeAdapter, ValidationError

from auth.push_tokens import KeysUnavailableError

_SECONDS = 5.0
_KEYS = TypeAdapter(dict[str, str])


@dataclass(frozen=True)
class KeysAddress:
    """Where the issuer publishes its keys, as a JSON object of PEM texts by their ids."""

    url: str

    def fetch(self) -> Mapping[str, str]:
        """The keys of now.

        Raises:
            KeysUnavailableError: they can't be had.
        """
        try:
            response = httpx2.get(self.url, timeout=_SECONDS)
            response.raise_for_status()
            return _KEYS.validate_json(response.content)
        except (httpx2.HTTPError, httpx2.InvalidURL, ValidationError) as problem:
            raise KeysUnavailableError(type(problem).__name__) from problem
