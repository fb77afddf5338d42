"""Values from jobs made such that every database and reader can hold them, instead of refusing them.

`server.schemas` refuses the same things by name; that is right for people, who can send it again.
"""

from __future__ import annotations

import math
from uuid import uuid4

from pydantic import TypeAdapter, ValidationError

from server.names import LONGEST_LINE, MAX_ID_BYTES, has_controls, is_id
from server.registry.records import Json
from server.schemas import LabelKey, Line

MOST_LABELS = 64
_DEEPEST = 12
_LABEL_KEY: TypeAdapter[str] = TypeAdapter(LabelKey)
_LINE: TypeAdapter[str] = TypeAdapter(Line)


def clean_json(value: Json, levels: int = _DEEPEST) -> Json:
    """The value without what can't be kept.

    Numbers without a value and whatever lies too deep become null; control characters and halves of
    characters go.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str):
        return _without_controls(value, kept="\n\r\t")
    if isinstance(value, dict | list) and levels == 0:
        return None
    if isinstance(value, dict):
        return {
            _without_controls(key): clean_json(entry, levels - 1) for key, entry in value.items()
        }
    if isinstance(value, list):
        return [clean_json(entry, levels - 1) for entry in value]
    return value


def clean_line(value: Json) -> str | None:
    """A text of one line, not too long; None for what is no text and no number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return _without_controls(str(value))[:LONGEST_LINE]


def clean_labels(value: Json) -> dict[str, str] | None:
    """The labels that can be kept; None when it is no object."""
    if not isinstance(value, dict):
        return None
    kept: dict[str, str] = {}
    for key, entry in value.items():
        text = clean_line(entry)
        if text is not None and len(kept) < MOST_LABELS and _is(_LABEL_KEY, key):
            kept[key] = text
    return kept


def clean_id(value: Json) -> str:
    """The id as it was sent if it can be one, else the nearest that can; a new one for nothing at all."""
    text = value if isinstance(value, str) else ""
    if is_id(text):
        return text
    mended = _without_controls(text).replace("/", "-").encode()[:MAX_ID_BYTES]
    nearest = mended.decode(errors="ignore")
    return nearest if is_id(nearest) else str(uuid4())


def _without_controls(text: str, kept: str = "") -> str:
    if not has_controls(text):
        return text
    return "".join(one for one in text if one in kept or not has_controls(one))


def _is(kind: TypeAdapter[str], value: str) -> bool:
    try:
        kind.validate_python(value)
    except ValidationError:
        return False
    return True
