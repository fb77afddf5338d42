"""The API's resources as JSON, one room for each; imported from here. No route and no query of its own."""

from __future__ import annotations

from server.schemas.base import (
    MAX_CONFIG_DEPTH,
    ApiModel,
    EmptyAnswer,
    JsonObject,
    LabelKey,
    Labels,
    Line,
    ListParameters,
    Prose,
    ResourceId,
    ServerSet,
    SortedListParameters,
    State,
)
from server.schemas.errors import Error, ErrorResponse
from server.schemas.operations import Operation, OperationList
from server.schemas.runs import Attempt, Run, RunList, RunListParameters
from server.schemas.sessions import Session, SessionHost, SessionList, SessionListParameters
from server.schemas.tokens import ApiToken, ApiTokenList, CreatedToken, Lifetime, NewToken

__all__ = [
    "MAX_CONFIG_DEPTH",
    "ApiModel",
    "ApiToken",
    "ApiTokenList",
    "Attempt",
    "CreatedToken",
    "EmptyAnswer",
    "Error",
    "ErrorResponse",
    "JsonObject",
    "LabelKey",
    "Labels",
    "Lifetime",
    "Line",
    "ListParameters",
    "NewToken",
    "Operation",
    "OperationList",
    "Prose",
    "ResourceId",
    "Run",
    "RunList",
    "RunListParameters",
    "ServerSet",
    "Session",
    "SessionHost",
    "SessionList",
    "SessionListParameters",
    "SortedListParameters",
    "State",
]
