"""Damages profiles the way a clever stranger would: mostly still protobuf, but never what XProf expects.

Everything depends on the random generator that is given, so a seed and a number give the same bytes again.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Sequence

from tests.hostile.fuzz.message import LENGTH, VARINT, Field, parse, serialize

MOST_BYTES = 400_000
"""Larger results are cut: this is about shapes, not sizes."""

_NUMBERS = (
    0,
    1,
    2,
    127,
    128,
    255,
    1 << 31,
    (1 << 32) - 1,
    1 << 53,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
)
_TEXTS = (
    b"/", b"..", b"../../escape", b"/etc/passwd", b"a/b", b"\0", b"x\0y", b"\xff\xfe", b"\xc3", b"",
    b"%s%n", b"<script>alert(1)</script>", b"]]>", b"`${1}`", b"\n", b"ALL_HOSTS", b"NO_HOST",
    b"vm.xplane.pb", b".answer", b"/device:GPU:0", b"/device:TPU:0", b"/host:CPU", b"/host:metadata",
    b"XLA Ops", b"XLA Modules", b"Steps", b"Hlo Proto", b"program_id", b"\xe2\x80\xae", b"e" * 300,
    b"n" * 5000, b"t" * 40_000,
)  # fmt: skip


def mutate(chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    """A damaged copy of one of the seeds."""
    data = chance.choice(seeds)
    for _ in range(chance.choice((1, 1, 2, 3, 5, 8))):
        if chance.random() < 0.8:
            data = _mutate_message(chance, data, seeds)
        else:
            data = chance.choice(_ON_BYTES)(chance, data)
        data = data[:MOST_BYTES]
    return gzip.compress(data, mtime=0) if chance.random() < 0.03 else data


def _mutate_message(chance: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    fields = parse(data)
    if not fields:
        return chance.choice(_ON_BYTES)(chance, data)
    chance.choice(_ON_MESSAGES)(chance, _Tree(fields, seeds))
    return serialize(fields)


class _Tree:
    """A message taken apart, with everything in it in one list."""

    def __init__(self, fields: list[Field], seeds: Sequence[bytes]) -> None:
        self.fields = fields
        self.seeds = seeds
        self.lists: list[list[Field]] = []
        self._walk(fields)

    def _walk(self, fields: list[Field]) -> None:
        self.lists.append(fields)
        for field in fields:
            if isinstance(field.value, list):
                self._walk(field.value)

    def some_list(self, chance: random.Random) -> list[Field]:
        """One of the messages in it that are not empty."""
        return chance.choice([fields for fields in self.lists if fields])

    def some(self, chance: random.Random, kind: int | None = None) -> Field | None:
        """One of its fields."""
        found = [field for fields in self.lists for field in fields if kind in {None, field.kind}]
        return chance.choice(found) if found else None


def _drop(chance: random.Random, tree: _Tree) -> None:
    fields = tree.some_list(chance)
    del fields[chance.randrange(len(fields))]


def _repeat(chance: random.Random, tree: _Tree) -> None:
    fields = tree.some_list(chance)
    at = chance.randrange(len(fields))
    fields[at:at] = [fields[at]] * chance.choice((1, 1, 2, 50, 300))


def _swap(chance: random.Random, tree: _Tree) -> None:
    first, second = tree.some_list(chance), tree.some_list(chance)
    one, other = chance.randrange(len(first)), chance.randrange(len(second))
    first[one], second[other] = second[other], first[one]


def _change_number(chance: random.Random, tree: _Tree) -> None:
    field = tree.some(chance, VARINT)
    if field is not None:
        field.value = chance.choice(_NUMBERS) if chance.random() < 0.7 else chance.getrandbits(16)


def _share_number(chance: random.Random, tree: _Tree) -> None:
    """Makes one number equal to another, which is how references come to point at themselves."""
    field, other = tree.some(chance, VARINT), tree.some(chance, VARINT)
    if field is not None and other is not None:
        field.value = other.value


def _rename(chance: random.Random, tree: _Tree) -> None:
    field = tree.some(chance, LENGTH)
    if field is None:
        return
    old = field.value if isinstance(field.value, bytes) else b""
    new = chance.choice(_TEXTS)
    field.value = chance.choice((new, old + new, new + old, old[: len(old) // 2] + new))


def _renumber(chance: random.Random, tree: _Tree) -> None:
    field = tree.some(chance)
    if field is not None:
        field.number = chance.choice((1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 2047, (1 << 29) - 1, 0))


def _retype(chance: random.Random, tree: _Tree) -> None:
    field = tree.some(chance)
    if field is not None:
        field.tag_kind = chance.randrange(8)


def _lie_about_length(chance: random.Random, tree: _Tree) -> None:
    field = tree.some(chance, LENGTH)
    if field is not None:
        field.claimed = chance.choice((0, 1, 127, 1 << 20, 1 << 31, (1 << 63) - 1, (1 << 64) - 1))


def _transplant(chance: random.Random, tree: _Tree) -> None:
    """A piece of another seed, or of the same message, somewhere in it."""
    donor = parse(chance.choice(tree.seeds))
    source = _Tree(donor, tree.seeds).some(chance) if donor else None
    field = source if source is not None and chance.random() < 0.7 else tree.some(chance)
    if field is not None:
        target = tree.some_list(chance)
        copy = parse(serialize([field]))
        target[chance.randrange(len(target)) :] += copy


def _nest(chance: random.Random, tree: _Tree) -> None:
    fields = tree.some_list(chance)
    field = fields[chance.randrange(len(fields))]
    inner = serialize([field])
    for _ in range(chance.choice((2, 30, 120, 1000))):
        inner = serialize([Field(field.number, LENGTH, inner)])
        if len(inner) > MOST_BYTES:
            break
    fields.append(Field(field.number, LENGTH, inner))


def _cut(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _flip(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 2, 4, 16)) if data else 0):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _insert(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.randbytes(chance.choice((1, 2, 8, 64))) + data[at:]


def _remove(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + data[at + chance.choice((1, 2, 8, 64)) :]


def _double(_chance: random.Random, data: bytes) -> bytes:
    return data + data


_ON_MESSAGES: tuple[Callable[[random.Random, _Tree], None], ...] = (
    _drop,
    _repeat,
    _swap,
    _change_number,
    _change_number,
    _share_number,
    _share_number,
    _rename,
    _rename,
    _renumber,
    _retype,
    _lie_about_length,
    _transplant,
    _transplant,
    _nest,
)
_ON_BYTES: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _cut,
    _flip,
    _flip,
    _insert,
    _remove,
    _double,
)
