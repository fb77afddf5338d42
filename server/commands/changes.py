"""`--set PATH=VALUE` of the commands that make or change a resource: any field, whatever its depth.

Paths are those of the API's `updateMask`: `displayName`, `labels.team`, `configs.userConfigs.batch`. Which
fields there are says the resource's model alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Annotated, TypeAlias, TypeVar

import typer
from pydantic import JsonValue, ValidationError

from server.schemas import ApiModel

R = TypeVar("R", bound=ApiModel)
SetOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="A field of the API, as in configs.batch=64; may be given several times.",
    ),
]
UnsetOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--unset", metavar="PATH", help="A field or part of one to empty."),
]
LabelOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="KEY=VALUE", help="May be given several times."),
]
EtagOption: TypeAlias = Annotated[
    str, typer.Option(help="Change it only if its etag is this one.", metavar="ETAG")
]

_DOCUMENTS = frozenset({"artifacts", "configs", "details", "targets", "tools", "workload"})
"""Fields that hold any JSON. All others are texts, or are read from texts."""
_PART = re.compile(r"`([^`]+)`|([^.`]+)")
_PATH = re.compile(r"(?:`[^`]+`|[^.`=]+)(?:\.(?:`[^`]+`|[^.`=]+))*")


def read_changes(
    kind: type[R],
    plain: dict[str, JsonValue],
    sets: Sequence[str],
    unsets: Sequence[str] = (),
    labels: Sequence[str] = (),
) -> tuple[R, list[str]]:
    """The new values and the mask of a change.

    Args:
        kind: model of the resource.
        plain: fields that have options of their own, by their names in the API; None for those not given.
        sets: what `--set` was given.
        unsets: what `--unset` was given.
        labels: what `--label` was given.

    Raises:
        typer.BadParameter: one of them is not understood; the message names it.
    """
    document: dict[str, JsonValue] = {name: value for name, value in plain.items() if value}
    mask = list(document)
    for pair in labels:
        key, equals, value = pair.partition("=")
        if not (key and equals):
            raise typer.BadParameter(f"{pair!r} is not KEY=VALUE.", param_hint="--label")
        _put(document, ["labels", key], value, "--label")
        mask.append(f"labels.{_quoted(key)}")
    for pair in sets:
        path, new = _read_pair(pair)
        _put(document, _parts(path), new, "--set")
        mask.append(path)
    for path in unsets:
        if not _PATH.fullmatch(path):
            raise typer.BadParameter(f"{path!r} is not the path of a field.", param_hint="--unset")
        mask.append(path)
    try:
        return kind.model_validate(document), mask
    except ValidationError as problem:
        first = problem.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        missing = first["type"] == "extra_forbidden"
        reason = "There is no such field." if missing else first["msg"]
        raise typer.BadParameter(f"{place}: {reason}", param_hint="--set") from problem


def _read_pair(pair: str) -> tuple[str, JsonValue]:
    match = _PATH.match(pair)
    if match is None or pair[match.end() : match.end() + 1] != "=":
        raise typer.BadParameter(f"{pair!r} is not PATH=VALUE.", param_hint="--set")
    path, text = match[0], pair[match.end() + 1 :]
    return path, _value(text) if _parts(path)[0] in _DOCUMENTS else text


def _value(text: str) -> JsonValue:
    """The text as JSON where it is, else as it stands: nobody wants to quote for two readers."""
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return text
    return value


def _parts(path: str) -> list[str]:
    return [quoted or plain for quoted, plain in _PART.findall(path)]


def _quoted(key: str) -> str:
    return f"`{key}`" if re.search(r"[.,\s]", key) else key


def _put(document: dict[str, JsonValue], parts: list[str], value: JsonValue, option: str) -> None:
    *outer, last = parts
    inner = document
    for part in outer:
        below = inner.setdefault(part, {})
        if not isinstance(below, dict):
            raise typer.BadParameter(f"{part!r} is given twice.", param_hint=option)
        inner = below
    inner[last] = value
