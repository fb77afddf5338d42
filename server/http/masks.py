"""Field masks (AIP-134, AIP-161): what an update changes of a resource, and of the documents in it.

A path's first part is a field, in either spelling; what follows are keys as they stand in the document, in
backticks where they hold dots. No resource of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from server.http.errors import invalid_field
from server.http.limited_body import MAX_BODY_BYTES
from server.names import to_camel, to_snake
from server.registry.records import Json

# Nothing that was taken is given back: else a mask of blanks alone would be read for hours.
_PATH = re.compile(r"\s*+((?:[^,.`]++|`[^`]*+`)(?:\.(?:[^,.`]++|`[^`]*+`))*+)\s*+(?:,|$)")
_PART = re.compile(r"`([^`]*)`|([^.`]+)")
_MOST_PARTS = 17
_MOST_PATHS = 200

Document = Mapping[str, Json]


@dataclass(frozen=True)
class Mask:
    """What an update changes.

    Attributes:
        paths: fields in snake_case, and the keys below them.
        is_star: whether it was `*`: the resource is replaced as a whole.
    """

    paths: frozenset[tuple[str, ...]]
    is_star: bool = False

    def covers(self, field: str) -> bool:
        """Whether a field is changed as a whole."""
        return (field,) in self.paths

    def parts_of(self, field: str) -> list[tuple[str, ...]]:
        """Paths below a field that are changed, without its name; the outer ones first."""
        return sorted(path[1:] for path in self.paths if path[0] == field and len(path) > 1)


def read_mask(
    text: str, *, fields: Collection[str], documents: Collection[str], sent: Collection[str]
) -> Mask:
    """The mask of an update.

    Args:
        text: `updateMask`: paths joined by commas, `*` for all, or empty for the fields that the body holds.
        fields: those that may be changed, in snake_case.
        documents: those of them that may be changed in parts.
        sent: those that the body holds.

    Raises:
        ApiError: it names anything else.
    """
    if text.strip() in {"", "*"}:
        is_star = text.strip() == "*"
        names = fields if is_star else set(fields).intersection(sent)
        return Mask(frozenset((name,) for name in names), is_star)
    spelled = {_path(part): _parts(part)[0] for part in _split(text)}
    for path, first in sorted(spelled.items()):
        if path[0] not in fields:
            known = ", ".join(sorted(to_camel(name) for name in fields))
            # As it was sent: spelled anew, a token would not be known for one, and not be redacted.
            raise invalid_field("updateMask", f"{first!r} can't be changed; these can: {known}.")
        if len(path) > 1 and path[0] not in documents:
            known = ", ".join(sorted(to_camel(name) for name in documents))
            message = (
                f"{to_camel(path[0])!r} has no parts that can be changed; these have: {known}."
            )
            raise invalid_field("updateMask", message)
    return Mask(frozenset(spelled))


def changed_document(
    field: str, old: Document, body: Document, mask: Mask
) -> dict[str, Json] | None:
    """A document as the mask wants it, or None where it stays as it is.

    What the mask names and the body lacks is taken out.

    Raises:
        ApiError: it would become larger than a request may be.
    """
    if mask.covers(field):
        return dict(body)
    parts = mask.parts_of(field)
    if not parts:
        return None
    new = dict(old)
    for part in parts:
        new = _put(new, part, body)
    return checked_size(field, new)


def merged_document(old: Document, new: Document) -> dict[str, Json]:
    """Both, objects in them too; where both have something else, the new one's."""
    merged = dict(old)
    for key, value in new.items():
        before = merged.get(key)
        is_both = isinstance(before, dict) and isinstance(value, dict)
        merged[key] = _merged(before, value) if is_both else value
    return merged


def checked_size(field: str, document: dict[str, Json]) -> dict[str, Json]:
    """The document, if it is no larger than one that is sent at once may be.

    Raises:
        ApiError: it is; many small changes add up.
    """
    if len(json.dumps(document)) > MAX_BODY_BYTES:
        message = f"With this change it would be larger than {MAX_BODY_BYTES} bytes."
        raise invalid_field(to_camel(field), message)
    return document


def _merged(old: Json, new: Json) -> Json:
    if isinstance(old, dict) and isinstance(new, dict):
        return merged_document(old, new)
    return new


def _put(document: Document, path: tuple[str, ...], source: Document) -> dict[str, Json]:
    """A copy of the document with the source's value at the path, or nothing there if the source has none."""
    key, *rest = path
    changed = dict(document)
    value = source.get(key)
    if not rest:
        changed.pop(key, None)
        return changed | ({key: value} if key in source else {})
    below, given = changed.get(key), value if isinstance(value, dict) else {}
    if key in source or isinstance(below, dict):
        changed[key] = _put(below if isinstance(below, dict) else {}, tuple(rest), given)
    return changed


def _split(text: str) -> list[str]:
    found = []
    position = 0
    # A comma at the end has no name after it.
    while position < len(text) or text.rstrip().endswith(","):
        match = _PATH.match(text, position)
        if match is None:
            raise invalid_field("updateMask", "Join names of fields by commas, and parts by dots.")
        found.append(match[1].strip())
        if len(found) > _MOST_PATHS:
            raise invalid_field("updateMask", f"At most {_MOST_PATHS} names can be joined.")
        position = match.end()
    return found


def _parts(text: str) -> list[str]:
    return [quoted or plain.strip() for quoted, plain in _PART.findall(text)]


def _path(text: str) -> tuple[str, ...]:
    first, *others = _parts(text)
    if len(others) >= _MOST_PARTS:
        raise invalid_field("updateMask", f"A path has {_MOST_PARTS} parts at most.")
    return to_snake(first), *others
