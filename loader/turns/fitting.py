"""Which hosts a conversion leaves out for their size alone, before anything is fetched.

One enormous file must not hide the hosts beside it. What can be known only by looking into a file is found
later (`loader.conversion.bounded_intake`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from loader.errors import LoaderError
from loader.inspection.limits import DEFAULT_LIMITS
from loader.inspection.refusals import too_long
from loader.keys import key_without
from loader.plan import LeftOut, Plan
from loader.tools import HEALTH
from loader.turns.room import Room


def fit(plan: Plan, room: Room, has_set: Callable[[Plan], bool]) -> Plan:
    """The plan without hosts that are too large whatever is in their files, if others are left.

    Memory is a matter only where no larger worker is asked, and no artifact set makes it needless. A set that
    is made without a host for want of memory has a key of its own: a worker with more memory makes the whole.

    Args:
        plan: what is asked.
        room: knows what fits.
        has_set: whether the tool's artifact set is there; asked only when it matters, for it may be far away.

    Raises:
        LoaderError: TOO_LARGE, no host is left, or one that was asked for is more than XProf reads.
    """
    fitted = _without(plan, _too_long(plan))
    if plan.tool.name == HEALTH:
        return fitted
    if fitted.left_out and (plan.are_chosen or not fitted.files):
        raise fitted.left_out[0].problem
    if plan.are_chosen or not plan.is_last:
        return fitted
    lacking = room.too_large_alone(fitted)
    if not 0 < len(lacking) < len(fitted.files) or has_set(fitted):
        return fitted
    key = fitted.artifact_key
    smaller = None if key is None else key_without(key, lacking)
    return replace(_without(fitted, lacking), artifact_key=smaller, is_for_now=True)


def _too_long(plan: Plan) -> dict[str, LoaderError]:
    """Hosts whose files have more bytes than XProf reads, with the reason of each."""
    most = DEFAULT_LIMITS.file_bytes
    problems = {}
    for entry in plan.files:
        if entry.file.size > most:
            reason = too_long(entry.file.size, most)
            problems[entry.host] = LoaderError(reason.code, reason.message, entry.file.name)
    return problems


def _without(plan: Plan, problems: Mapping[str, LoaderError]) -> Plan:
    files = tuple(entry for entry in plan.files if entry.host not in problems)
    more = tuple(
        LeftOut(entry, problems[entry.host]) for entry in plan.files if entry.host in problems
    )
    return replace(plan, files=files, left_out=plan.left_out + more)
