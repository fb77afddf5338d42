"""A profile of a host whose allocators are busy: allocations and releases of several allocators at once."""

from __future__ import annotations

import random
from pathlib import Path

from server.demo import schema
from server.demo.messages import Line
from server.demo.planes import PlaneWriter

_CAPACITY = 1 << 30
_SIZES = (256, 1024, 77_777, 1 << 20, 3 << 20)
_OPERATIONS = ("jit(step)/mul", "jit(step)/dot_general", "jit(step)/conv", "")
_REGIONS = ("temp", "output", "persist/dynamic")
_SHAPES = ("[2,3]", "[128,256]", "")


class _Allocator:
    def __init__(self, number: int) -> None:
        self.number = number
        self.blocks: dict[int, int] = {}
        self.peak = 0

    @property
    def used(self) -> int:
        return sum(self.blocks.values())


def write_memory_profile(path: Path, allocators: int, events: int, seed: int) -> None:
    """Writes the profile; the same arguments give the same bytes, with many allocations that are alike."""
    dice = random.Random(seed)
    space = schema.new_space()
    space.hostnames.append("host")
    writer = PlaneWriter(space, 1, "/host:CPU")
    lines = [writer.add_line(10 + number, f"thread {number}") for number in range(3)]
    pool = [_Allocator(number) for number in range(allocators)]
    now = 1_000_000
    for number in range(events):
        now += dice.randint(500_000, 1_500_000)
        _write_event(writer, dice.choice(lines), dice.choice(pool), 4096 * (number + 1), now, dice)
    path.write_bytes(space.SerializeToString(deterministic=True))


def _write_event(
    writer: PlaneWriter,
    line: Line,
    allocator: _Allocator,
    free_address: int,
    begin_ps: int,
    dice: random.Random,
) -> None:
    allocates = not allocator.blocks or dice.random() < 0.6
    if allocates:
        address, size = free_address, dice.choice(_SIZES)
        allocator.blocks[address] = size
    else:
        address = dice.choice(list(allocator.blocks))
        size = allocator.blocks.pop(address)
    allocator.peak = max(allocator.peak, allocator.used)
    name = "MemoryAllocation" if allocates else "MemoryDeallocation"
    event = writer.add_event(line, name, begin_ps, 1000)
    for stat, value in (
        ("bytes_reserved", 0),
        ("bytes_allocated", allocator.used),
        ("bytes_available", _CAPACITY - allocator.used),
        ("peak_bytes_in_use", allocator.peak),
        ("requested_bytes", size - 13),
        ("allocation_bytes", size),
        ("addr", address),
        ("index_on_host", allocator.number),
        ("device_ordinal", allocator.number),
    ):
        writer.add_signed(event, stat, value)
    writer.add_stat(event, "fragmentation", dice.random() / 5)
    if allocates:
        writer.add_reference(event, "tf_op", dice.choice(_OPERATIONS))
        writer.add_reference(event, "region_type", dice.choice(_REGIONS))
        writer.add_reference(event, "tensor_shapes", dice.choice(_SHAPES))
        writer.add_signed(event, "data_type", dice.choice((1, 2, 14)))
