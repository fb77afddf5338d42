"""Updates of the managed API's messages: what is set after a change, given its mask.

Paths may be spelled either way at every known level; keys of maps are taken as they are. Fields that only the
server sets may be named, and stay.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from server.http.masks import Mask, changed_document, read_mask
from server.managed.shapes import Message, Shape
from server.names import to_camel, to_snake
from server.registry.records import Json

Fields = Mapping[str, Json]


@dataclass(frozen=True)
class Rules:
    """What may be changed in a message.

    Attributes:
        shape: its spelling.
        server_set: names of the fields that only the server sets.
    """

    shape: Message
    server_set: Collection[str]


def updated(old: Fields, sent: Fields, text: str, rules: Rules) -> dict[str, Json]:
    """All that is set after an update.

    Args:
        old: what is set now.
        sent: the message that was sent, in its own spelling.
        text: `updateMask`; empty for all that was sent, `*` for all there is.
        rules: what may be changed.

    Raises:
        ApiError: the mask names what the message doesn't have.
    """
    given = {key: value for key, value in sent.items() if key not in rules.server_set}
    keys = {to_snake(key): key for key in (*rules.shape.fields, *given)}
    spelled = read_mask(text, fields=keys, documents=keys, sent=[to_snake(key) for key in given])
    if spelled.is_star:
        return given
    mask = Mask(frozenset(_path(keys[path[0]], path[1:], rules.shape) for path in spelled.paths))
    new = dict(old)
    for key in {path[0] for path in mask.paths}.difference(rules.server_set):
        if mask.covers(key):
            new.pop(key, None)
            new |= {key: given[key]} if key in given else {}
        else:
            new[key] = changed_document(key, _object(old.get(key)), _object(given.get(key)), mask)
    return new


def _path(key: str, parts: tuple[str, ...], shape: Message) -> tuple[str, ...]:
    """A path with the message's own spelling where it has one."""
    found = [key]
    below: Shape = shape.fields.get(key)
    for part in parts:
        known = below.fields if isinstance(below, Message) else {}
        name = to_camel(part) if to_camel(part) in known else part
        found.append(name)
        below = known.get(name)
    return tuple(found)


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}
