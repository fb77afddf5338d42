"""What other parties publish for everybody: their keys, and where they let people sign in. JSON, by HTTP."""

from __future__ import annotations

from dataclasses import dataclass

import httpx2

from auth.signed_tokens import KeysUnavailableError

_SECONDS = 5.0


@dataclass(frozen=True)
class PublishedDocument:
    """A document of another party."""

    url: str

    def fetch(self) -> object:
        """The document of now, as JSON.

        Raises:
            KeysUnavailableError: it can't be had.
        """
        try:
            response = httpx2.get(self.url, timeout=_SECONDS)
            response.raise_for_status()
            document: object = response.json()
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError) as problem:
            raise KeysUnavailableError(type(problem).__name__) from problem
        return document
