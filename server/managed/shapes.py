"""How the managed API's messages are spelled, and how to read what clients make of that.

Protocol buffers' JSON may come in camelCase or snake_case and with enums as names or numbers; keys of maps
(labels, configs, targets) are the client's own and stay as they are. What a message does not name is kept as
it was sent: the API is in alpha, and its clients are ahead of its description. Names and numbers are those of
`google.cloud.hypercomputecluster.v1alpha` (in the npm package @google-cloud/hypercomputecluster 0.5.0) and of
what google-cloud-mldiagnostics 1.0.10 sends beyond it. Knows nothing of runs in the registry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from server.http.errors import invalid_field
from server.names import to_camel
from server.registry.records import Json


@dataclass(frozen=True)
class Choice:
    """An enum: names by their numbers. 0 means that nothing was said."""

    names: Mapping[int, str]


@dataclass(frozen=True)
class Message:
    """An object with known fields, in camelCase."""

    fields: Mapping[str, Shape]


@dataclass(frozen=True)
class ListOf:
    """A list of values of one shape."""

    item: Shape


@dataclass(frozen=True)
class MapOf:
    """An object whose keys are the client's own."""

    item: Shape


Shape: TypeAlias = "Choice | Message | ListOf | MapOf | None"
"""None: taken as it is."""


def _message(*plain: str, **shaped: Shape) -> Message:
    return Message(MappingProxyType({**dict.fromkeys(plain), **shaped}))


def _choice(zero: str, *names: str) -> Choice:
    return Choice(MappingProxyType(dict(enumerate((zero, *names)))))


RUN_PHASE = _choice("RUN_PHASE_UNSPECIFIED", "ACTIVE", "COMPLETED", "FAILED")
RUN_STATE = _choice("STATE_UNSPECIFIED", "STATE_ACTIVE", "STATE_COMPLETED", "STATE_FAILED")
ORCHESTRATOR = _choice("ORCHESTRATOR_UNSPECIFIED", "GCE", "GKE", "SLURM")
"""The SDK also says CUSTOM, which has no number."""
KIND = _choice("KIND_UNSPECIFIED", "KIND_ON_DEMAND", "KIND_PROGRAMMATIC", "KIND_SCANNED")
_SWITCH = ("UNSPECIFIED", "DISABLED", "ENABLED")

WORKLOAD_TARGET = _message("displayName", "instanceId", "hostname", "zone", "state")
_WORKLOAD = _message(
    gke=_message("id", "kind", "cluster", "namespace", "parentWorkload", "labels", "createTime"),
    custom=_message("id", "displayName", "createTime"),
    slurm=_message("jobId", "cluster", "displayName", "submitTime"),
    targets=ListOf(WORKLOAD_TARGET),
)
RUN = _message(
    *("name", "displayName", "runSet", "runGroup", "etag", "labels", "errorDetails", "metrics"),
    *("createTime", "updateTime", "endTime"),
    configs=_message("userConfigs", "softwareConfigs", "hardwareConfigs"),
    tools=ListOf(_message(xprof=_message("sessionId"), smon=_message("monitoringSummary"))),
    state=RUN_STATE,
    artifacts=_message("gcsPath"),
    orchestrator=ORCHESTRATOR,
    workloadDetails=_WORKLOAD,
    runPhase=RUN_PHASE,
)
SESSION = _message(
    *("name", "storageFolderUri", "dashboardUri", "createTime", "isTraceEnabled", "duration"),
    *("etag", "profilerTargets"),
    targetSessions=MapOf(_message("startTime", "endTime", "sessionPhase")),
    kind=KIND,
    hostTracerLevel=_choice(
        *(
            f"HOST_TRACER_LEVEL_{level}"
            for level in ("UNSPECIFIED", "DISABLED", "CRITICAL", "INFO", "VERBOSE")
        )
    ),
    deviceTracerLevel=_choice(*(f"DEVICE_TRACER_LEVEL_{state}" for state in _SWITCH)),
    pythonTracerLevel=_choice(*(f"PYTHON_TRACER_LEVEL_{state}" for state in _SWITCH)),
)


def read_message(value: Mapping[str, Json], shape: Message, place: str = "") -> dict[str, Json]:
    """A message in its own spelling; null fields are left out, as if they had not been sent.

    Args:
        value: what the client sent.
        shape: what it should be.
        place: path of fields that leads to it, for errors.

    Raises:
        ApiError: something known has another kind of value; the field is named.
    """
    found: dict[str, Json] = {}
    for key, item in value.items():
        name = to_camel(key) if to_camel(key) in shape.fields else key
        if item is not None:
            found[name] = read_value(item, shape.fields.get(name), f"{place}.{name}".lstrip("."))
    return found


def read_value(value: Json, shape: Shape, place: str) -> Json:
    """A value in its own spelling.

    Raises:
        ApiError: it is of another kind than its shape; `place` is named.
    """
    if shape is None:
        return value
    if isinstance(shape, Choice):
        return _read_choice(value, shape, place)
    if isinstance(shape, ListOf):
        if not isinstance(value, list):
            raise invalid_field(place, "Must be a list.")
        return [
            read_value(item, shape.item, f"{place}[{index}]") for index, item in enumerate(value)
        ]
    if not isinstance(value, dict):
        raise invalid_field(place, "Must be an object.")
    if isinstance(shape, MapOf):
        return {key: read_value(item, shape.item, f"{place}.{key}") for key, item in value.items()}
    return read_message(value, shape, place)


def _read_choice(value: Json, shape: Choice, place: str) -> Json:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise invalid_field(place, "Must be the name or the number of an enum's value.")
    # A number that we don't know comes from a client newer than us.
    return shape.names.get(value, value)
