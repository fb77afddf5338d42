"""Random profiles of devices and of allocators: usual ones, and some that are odd in one of many ways.

Odd: lines that start days apart, events out of order or at the same moment, events of a kind that the profile
doesn't name, steps, stats of foreign types. A seed gives always the same profile.
"""

from __future__ import annotations

import random

from tests.wire_bytes import block, event_metadata, number, plane, stat_metadata

EPOCH_NS = 1_700_000_000_000_000_000
_STARTS_NS = (
    (0,),
    (0, 1, 10**6),
    (0, 10**12),
    (EPOCH_NS, EPOCH_NS + 10**9),
    (1, EPOCH_NS),
    (0, 2 * 10**15),
)
_OP_STATS = ("program_id", "symbol_id", "flops", "bytes_accessed", "hlo_category", "tf_op")
_TEXTS = ("fusion", "convolution", "copy", "all-reduce", "a/b:C", "")
_NUMBERS = (0, 1, 8, 1000, 10**9, 1 << 63, -3)
_KINDS = 7
_ALLOCATOR_STATS = (
    "bytes_allocated",
    "allocation_bytes",
    "addr",
    "index_on_host",
    "peak_bytes_in_use",
    "bytes_reserved",
    "_r",
)


def device_profile(seed: int) -> bytes:
    """One to three devices with a few operations."""
    dice = random.Random(seed)
    starts_ns = dice.choice(_STARTS_NS)
    return b"".join(_device(dice, number, starts_ns) for number in range(dice.randint(1, 3)))


def _device(dice: random.Random, index: int, starts_ns: tuple[int, ...]) -> bytes:
    names = b"".join(stat_metadata(at, name) for at, name in enumerate(_OP_STATS, 1))
    kinds = b"".join(_op(dice, kind) for kind in range(1, _KINDS + 1))
    chosen = dice.sample(("XLA Ops", "XLA Modules", "Steps", "Async XLA Ops"), dice.randint(1, 4))
    lines = b"".join(_device_line(dice, name, starts_ns) for name in chosen)
    return plane(f"/device:{dice.choice(('TPU', 'TPU', 'GPU'))}:{index}", names + kinds + lines)


def _op(dice: random.Random, kind: int) -> bytes:
    stats = b""
    for stat in dice.sample(range(1, len(_OP_STATS) + 1), dice.randint(2, len(_OP_STATS))):
        is_text = (stat > 4) != (dice.random() < 0.1)
        value = block(5, dice.choice(_TEXTS)) if is_text else number(3, dice.choice(_NUMBERS[:5]))
        if dice.random() < 0.02:
            value = number(dice.choice((3, 4)), dice.choice(_NUMBERS))
        stats += block(5, number(1, stat) + value)
    return event_metadata(kind, f"%op.{kind} = f32[] fusion()", stats=stats)


def _device_line(dice: random.Random, name: str, starts_ns: tuple[int, ...]) -> bytes:
    most = _KINDS + (dice.random() < 0.1)
    events, now = [], 0
    for _ in range(dice.randint(0, 25)):
        now += dice.randint(0, 2000)
        times = number(2, now) + number(3, dice.choice((0, 1, 500, 5000, 10**6)))
        events.append(block(4, number(1, dice.randint(1, most)) + times))
    if dice.random() < 0.3:
        dice.shuffle(events)
    content = block(2, name) + number(3, dice.choice(starts_ns)) + b"".join(events)
    return block(3, content)


def allocator_profile(seed: int) -> bytes:
    """A host with a few threads, three allocators, and perhaps a GPU."""
    dice = random.Random(seed)
    names = b"".join(stat_metadata(at, name) for at, name in enumerate(_ALLOCATOR_STATS, 1))
    kinds = ("MemoryAllocation", "MemoryDeallocation", "work")
    names += b"".join(event_metadata(at, name) for at, name in enumerate(kinds, 1))
    threads: list[list[bytes]] = [[] for _ in range(dice.randint(1, 3))]
    has_steps, has_ties = dice.random() < 0.2, dice.random() < 0.2
    now = 1000
    for address in range(dice.choice((5, 40, 400))):
        now += dice.choice((0, 10) if has_ties else (1, 10, 1000))
        is_work = dice.random() < 0.2
        event = _work(dice, has_steps) if is_work else _allocation(dice, address)
        dice.choice(threads).append(block(4, event[0] + number(2, now) + event[1]))
    if dice.random() < 0.3:
        dice.shuffle(threads[0])
    content = names + b"".join(block(3, b"".join(events)) for events in threads)
    device = dice.choice(("", "", "/device:GPU:0", "/device:TPU:0"))
    return plane("/host:CPU", content) + (plane(device, block(3, b"")) if device else b"")


def _work(dice: random.Random, has_steps: bool) -> tuple[bytes, bytes]:
    root = block(4, number(1, 7) + number(4, 1)) if has_steps and dice.random() < 0.5 else b""
    return number(1, 3), number(3, dice.choice((5, 20_000))) + root


def _allocation(dice: random.Random, address: int) -> tuple[bytes, bytes]:
    values = {1: dice.randint(0, 10**6), 2: dice.choice((10, 64, 4096)), 4: dice.randint(0, 2)}
    values |= {3: 64 * dice.choice((address, address // 2)), 5: 10**6, 6: dice.choice((0, 0, 77))}
    stats = b"".join(block(4, number(1, at) + number(4, value)) for at, value in values.items())
    return number(1, dice.choice((1, 1, 2))), number(3, dice.choice((0, 3))) + stats
