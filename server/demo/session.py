"""Writes a realistic multi-host TPU session: a transformer that trains on four cores per host.

Every file holds the programs' HLO, the cores' timelines with operation metadata, the host's threads with
allocator and input pipeline events, and the profile's start and stop. The same arguments give the same
bytes. The last host is a straggler, and now and then a step waits for input, so that there is something
to find.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from server.demo import schema
from server.demo.device import CORES, EVAL_EVERY, HostPlan, Step, write_core
from server.demo.hlo import EVAL_STEP, TRAIN_STEP, Module, load_module
from server.demo.messages import Space
from server.demo.planes import PlaneWriter
from server.demo.threads import write_threads

HOST_PREFIX = "t1v-n-3c1f2ab0-w-"
"""Cloud TPU names the workers of a slice like this."""

_PROFILE_START_NS = 1_796_000_000_000_000_000
_HOST_SHARE = 0.15
"""Share of a file's events that host threads get."""
_EVENTS_AROUND_MODULE = 3
"""Events of a step beside its operations: the step and the executions of its programs."""
_STRAGGLER_SLOWDOWN = 0.12
_HOST_SPREAD = 0.03


def write_session(
    folder: Path,
    hosts: int = 4,
    events: int = 20_000,
    seed: int = 0,
    host_names: Sequence[str] | None = None,
) -> list[Path]:
    """Writes `<host>.xplane.pb` for every host into `folder`, which is made if need be.

    Args:
        folder: the session's folder.
        hosts: number of hosts; ignored when `host_names` is given.
        events: events per host, about; at least two steps are written whatever it says.
        seed: sessions with other seeds have other timings.
        host_names: names for the hosts, which must be usable as file names.

    Returns:
        The files, in the order of the hosts.

    Raises:
        ValueError: no host, or a host name that is no file name.
    """
    names = _checked_names(host_names, hosts)
    folder.mkdir(parents=True, exist_ok=True)
    train = load_module(TRAIN_STEP)
    evaluate = load_module(EVAL_STEP)
    paths = []
    for index, name in enumerate(names):
        plan = _plan(name, index, len(names), events, seed, train, evaluate)
        path = folder / f"{name}.xplane.pb"
        path.write_bytes(host_profile(plan, events).SerializeToString(deterministic=True))
        paths.append(path)
    return paths


def host_profile(plan: HostPlan, events: int) -> Space:
    """The profile of one host, with about `events` events."""
    space = schema.new_space()
    space.hostnames.append(plan.name)
    _write_programs(space, plan)
    timelines = [write_core(space, plan, core) for core in range(CORES)]
    written = sum(len(line.events) for plane in space.planes for line in plane.lines)
    write_threads(space, plan, timelines[0], max(0, events - written))
    _write_environment(space, timelines)
    return space


def _checked_names(host_names: Sequence[str] | None, hosts: int) -> list[str]:
    names = (
        [f"{HOST_PREFIX}{index}" for index in range(hosts)]
        if host_names is None
        else list(host_names)
    )
    if not names:
        raise ValueError("a session needs at least one host")
    for name in names:
        if not name or "/" in name or "\0" in name:
            raise ValueError(f"{name!r} can't be a host name: it is no file name")
    if len(set(names)) < len(names):
        raise ValueError("host names must differ")
    return names


def _plan(
    name: str, index: int, hosts: int, events: int, seed: int, train: Module, evaluate: Module
) -> HostPlan:
    per_step = (
        train.events_per_execution
        + train.async_events_per_execution
        + _EVENTS_AROUND_MODULE
        + evaluate.events_per_execution / EVAL_EVERY
    )
    steps = max(2, int(events * (1 - _HOST_SHARE) / CORES / per_step))
    plan = HostPlan(name, index, steps, 1.0, seed, train, evaluate)
    slowdown = 1 + _HOST_SPREAD * plan.random("host").random()
    if hosts > 1 and index == hosts - 1:
        slowdown += _STRAGGLER_SLOWDOWN
    return HostPlan(name, index, steps, slowdown, seed, train, evaluate)


def _write_programs(space: Space, plan: HostPlan) -> None:
    """The plane that carries the HLO; entries are numbered and name their program in a stat."""
    writer = PlaneWriter(space, 0, "/host:metadata")
    for module in plan.modules:
        kind = writer.event_kind(module.full_name)
        writer.add_stat(kind, "Hlo Proto", module.proto)
        writer.add_stat(kind, "program_id", module.program_id)
    writer.add_stat(writer.plane, "process_id", 1000 + plan.index)


def _write_environment(space: Space, timelines: Sequence[Sequence[Step]]) -> None:
    """The plane with the profile's start and stop, in nanoseconds since 1970."""
    end_ps = max(steps[-1].end_ps for steps in timelines)
    writer = PlaneWriter(space, 99, "Task Environment")
    writer.add_stat(writer.plane, "profile_start_time", _PROFILE_START_NS)
    writer.add_stat(writer.plane, "profile_stop_time", _PROFILE_START_NS + end_ps // 1000)
