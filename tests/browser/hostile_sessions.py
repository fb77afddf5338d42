"""Two sessions of the same shape: one whose names attack in every known way, one whose names are harmless."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

from server.demo.session import write_session
from tests.browser.wire_rewriter import FieldPath, rewrite
from tests.services.gpu_session import write_gpu_profile

ATTACKS = (
    "<img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(2)><script>alert(3)</script>",
    "`+alert(4)+`${alert(5)}",
    "</script><script>alert(6)</script><!--",
    "<a href=\"javascript:alert(7)\">javascript:alert(7)</a>",
    "<iframe srcdoc='<script>parent.alert(8)</script>'></iframe>",
    "</style><style>*{display:none}</style><link rel=stylesheet href=//other.example/x.css>",
    "<form action=//other.example><button>x</button></form><base href=//other.example/>",
    "\N{RIGHT-TO-LEFT OVERRIDE}gnp.\N{LEFT-TO-RIGHT ISOLATE}<b onmouseover=alert(9)>",
    "\x01\x08\x1b[31m\x7f\u2028\u2029",
    "{0}{1}{{7*7}}%s%n${x}#{x}[[x]]",
    "<font color=\"red\"><img src=x onerror=alert(10)>(+3%)</font>",
    "&lt;img src=x onerror=alert(11)&gt;&#x3c;img src=x onerror=alert(12)&#x3e;",
    "<img src=x onerror=alert(13)>" * 60,
)  # fmt: skip
"""Each opens another door: element, attribute, template literal, script, link, frame, style, form, text
direction, control characters, patterns, markup that XProf writes itself, entities, length."""

MODULE_ATTACK = "\"'><img src=x onerror=alert(14)>`${alert(15)}"
"""A module's name must be usable as a file name, so it holds no slash."""

_HLO = (1, 4, 2, 5, 6)
_INSTRUCTION = (*_HLO, 1, 3, 2)
MESSAGES: frozenset[FieldPath] = frozenset(
    {
        (1,), (1, 3), (1, 3, 4), (1, 3, 4, 4), (1, 4), (1, 4, 2), (1, 4, 2, 5), (1, 5), (1, 5, 2),
        _HLO, (*_HLO, 1), (*_HLO, 1, 3), _INSTRUCTION, (*_INSTRUCTION, 7),
    }
)  # fmt: skip
_NAMES: frozenset[FieldPath] = frozenset(
    {
        (1, 3, 11),  # a line's display name
        (1, 3, 4, 4, 5),  # an event's argument
        (1, 4, 2, 4),  # an event's display name
        (*_INSTRUCTION, 7, 2),  # op_name of an instruction
        (*_INSTRUCTION, 7, 3),  # its source file
    }
)
_EVENT = (1, 4, 2, 2)
_LINE = (1, 3, 2)
_STAT = (1, 5, 2, 2)
_MODULE = (*_HLO, 1, 1)
_NEEDED = (b"jit_", b"Memory", b"Steps", b"XLA", b"Iterator")
"""Names by which XProf finds what a line or event is."""

Change = Callable[[FieldPath, bytes], bytes]


def _with_attack(content: bytes) -> bytes:
    """The same name always gets the same attack, and all attacks are used."""
    return content + ATTACKS[zlib.crc32(content) % len(ATTACKS)].encode()


def _with_harmless(content: bytes) -> bytes:
    """A name of its own for what gets an attack in the other session."""
    return content + b"_harmless"


def _changer(change: Callable[[bytes], bytes], module_end: str) -> Change:
    def changed(path: FieldPath, content: bytes) -> bytes:
        if path in {_EVENT, _MODULE, (1, 3, 4, 4, 5)} and content.startswith(b"jit_eval_step"):
            return content.replace(b"jit_eval_step", b"jit_eval_step" + module_end.encode(), 1)
        is_needed = not content or content.startswith(_NEEDED)
        if path in _NAMES or (path in {_EVENT, _LINE} and not is_needed):
            return change(content)
        return content

    return changed


ATTACKING = _changer(_with_attack, MODULE_ATTACK)
HARMLESS = _changer(_with_harmless, "_harmless")


def write_pair(folder: Path) -> dict[str, Path]:
    """Writes `hostile` and `harmless`, each with a TPU's host, and `hostile-gpu` and `harmless-gpu`."""
    folders: dict[str, Path] = {}
    for name, change in (("hostile", ATTACKING), ("harmless", HARMLESS)):
        session = folder / name
        for path in write_session(session, hosts=1, events=2000):
            path.write_bytes(rewrite(path.read_bytes(), MESSAGES, change))
        gpu = folder / f"{name}-gpu"
        gpu.mkdir(parents=True)
        profile = gpu / "gpu.xplane.pb"
        write_gpu_profile(profile, devices=1, steps=2)
        profile.write_bytes(rewrite(profile.read_bytes(), MESSAGES, change))
        folders |= {name: session, f"{name}-gpu": gpu}
    return folders
