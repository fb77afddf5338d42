"""The front door and the API's reference, made from the OpenAPI document without anybody else's script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from server.ui.inline_style import inline_style
from server.ui.rendering import templates

_METHODS = ("get", "post", "patch", "put", "delete")


@dataclass(frozen=True)
class Operation:
    """One method of one path.

    Attributes:
        method: in capitals.
        path: with its parameters in braces.
        summary: one line.
        text: the rest of the description.
        parameters: name, where it stands, description.
    """

    method: str
    path: str
    summary: str
    text: str
    parameters: tuple[tuple[str, str, str], ...]


def render_front_door(path_prefix: str) -> str:
    """What somebody sees who comes without a link."""
    page = templates().get_template("front_door.html")
    return page.render(path_prefix=path_prefix, style=inline_style())


def render_reference(openapi: Mapping[str, object], path_prefix: str) -> str:
    """All operations of the API on one page."""
    return (
        templates()
        .get_template("reference.html")
        .render(
            operations=list(read_operations(openapi)),
            path_prefix=path_prefix,
            style=inline_style(),
        )
    )


def read_operations(openapi: Mapping[str, object]) -> Iterator[Operation]:
    """The operations of an OpenAPI document in its order."""
    paths = openapi["paths"]
    assert isinstance(paths, dict)  # noqa: S101 - as FastAPI makes it
    for path, methods in paths.items():
        for method in _METHODS:
            if method in methods:
                yield _operation(method, path, methods[method])


def _operation(method: str, path: str, fields: Mapping[str, object]) -> Operation:
    description = str(fields.get("description", ""))
    first, _, rest = description.partition("\n")
    parameters = fields.get("parameters", [])
    assert isinstance(parameters, list)  # noqa: S101 - as FastAPI makes it
    rows = tuple(
        (str(row["name"]), str(row["in"]), str(row.get("description", ""))) for row in parameters
    )
    return Operation(method.upper(), path, first, rest.strip(), rows)
