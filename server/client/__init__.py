"""A typed client of the JSON API, used by the commands and by whoever scripts a hub in Python.

It uses the same models as the server, prints nothing, reads no setting, and loads neither a web framework nor
a database.
"""

from __future__ import annotations

from server.client.errors import (
    ConflictError,
    HubError,
    InvalidRequestError,
    NotAllowedError,
    NotFoundError,
    NotSignedInError,
    StrangeAnswerError,
    UnreachableError,
)
from server.client.hub import DEFAULT_URL, HubClient
from server.client.patience import Pause

__all__ = [
    "DEFAULT_URL",
    "ConflictError",
    "HubClient",
    "HubError",
    "InvalidRequestError",
    "NotAllowedError",
    "NotFoundError",
    "NotSignedInError",
    "Pause",
    "StrangeAnswerError",
    "UnreachableError",
]
