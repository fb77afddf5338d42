"""Reads the `filter` of a list of runs: the part of AIP-160 that is equality and AND."""

from __future__ import annotations

import json
import re

from server.errors import invalid_field
from server.names import has_controls, to_camel
from server.registry.runs import RunFilter

_CONDITION = re.compile(
    r"""\s*(?P<field>[A-Za-z_]+)(?:\.(?P<label>[^\s="]+|"(?:[^"\\]|\\.)*"))?\s*=\s*"""
    r"""(?P<value>"(?:[^"\\]|\\.)*"|[^\s"=]+)\s*"""
)
_AND = re.compile(r"AND\s")


def parse_run_filter(text: str) -> RunFilter:
    """The conditions of a filter such as `displayName = "x" AND labels.team = "perf"`.

    Raises:
        ApiError: naming `filter`, when the text is anything else.
    """
    found: dict[str, str] = {}
    labels: list[tuple[str, str]] = []
    position = 0
    while text[position:].strip():
        if position and not (joint := _AND.match(text, position)):
            raise invalid_field("filter", "Join conditions by AND.")
        position = joint.end() if position and joint else position
        condition = _CONDITION.match(text, position)
        if condition is None:
            raise invalid_field("filter", 'Write conditions as in runSet = "llama".')
        position = condition.end()
        field, value = to_camel(condition["field"]), _unquote(condition["value"])
        if field == "labels" and condition["label"]:
            labels.append((_label_key(condition["label"]), value))
        elif field in {"displayName", "runSet"} and not condition["label"] and field not in found:
            found[field] = value
        else:
            raise invalid_field("filter", "Name displayName, runSet (once each) or labels.KEY.")
    return RunFilter(found.get("displayName"), found.get("runSet"), tuple(labels))


def _label_key(text: str) -> str:
    key = _unquote(text)
    if '"' in key or "\\" in key:
        raise invalid_field("filter", "A label's name can't hold quotes or backslashes.")
    return key


def _unquote(text: str) -> str:
    try:
        value = json.loads(text) if text.startswith('"') else text
    except ValueError as error:
        raise invalid_field("filter", "A quoted text is not written as in JSON.") from error
    if not isinstance(value, str) or has_controls(value):
        raise invalid_field("filter", "A text can't hold control characters.")
    return value
