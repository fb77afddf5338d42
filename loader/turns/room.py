"""How much memory a conversion is given, and the refusal of one that this worker can never fit.

Puts what is estimated (`loader.turns.estimates`) and what the worker has (`loader.turns.admission`) side by
side; it runs and admits nothing itself.
"""

from __future__ import annotations

from loader.engine.base import Limits
from loader.errors import ErrorCode, HostTooLargeError, LoaderError
from loader.inspection.result import Inspection
from loader.intake.profiles import Usable
from loader.plan import Plan
from loader.storage.base import StoredFile
from loader.tools import HEALTH
from loader.turns.admission import Admission
from loader.turns.estimates import CHILD_BYTES, Estimate, Estimates, Reading

PROFILE, ARTIFACT = "profile", "artifact"
"""What a conversion reads, as `Reading.source` and metrics name it."""
_MB, _GB = 1e6, 1e9
_SLACK_BYTES = 1 << 30
"""By so much any estimate may be wrong: XProf's own tables, of few bytes that tell little."""
_LOOK_BYTES = 256 << 20
"""So much is fetched and looked at in two seconds or so, without memory."""


class Room:
    """Says how many bytes to set aside for conversions. Thread-safe.

    Args:
        admission: bounds all conversions together, and counts refusals.
        limits: what one conversion may use.
        estimates: what conversions need.
    """

    def __init__(self, admission: Admission, limits: Limits, estimates: Estimates) -> None:
        self._admission = admission
        self._estimates = estimates
        self.memory_bytes = min(limits.memory_bytes, admission.memory_bytes)

    def to_begin(self, plan: Plan, has_set: bool) -> int:
        """Bytes to wait for before anything is known but sizes on the store.

        Raises:
            LoaderError: NEEDS_LARGER_WORKER.
        """
        if plan.tool.name == HEALTH:
            return CHILD_BYTES
        if has_set:  # How large it is, is known when it was fetched.
            return self._estimates.of(Reading(plan.request.tool, ARTIFACT, plan.profile_sizes)).high
        return self.by_size(plan)

    def by_size(self, plan: Plan) -> int:
        """Bytes for the profiles, by their sizes on the store.

        What is small enough to be looked at is no matter for a refusal yet if no larger worker is asked then:
        it may be no profile at all, which says more than how much memory is missing.

        Raises:
            LoaderError: NEEDS_LARGER_WORKER.
        """
        estimate = self._estimates.of(Reading(plan.heaviest, PROFILE, plan.profile_sizes))
        is_too_much = estimate.low > self.memory_bytes
        if is_too_much and plan.is_last and sum(plan.profile_sizes) <= _LOOK_BYTES:
            return CHILD_BYTES
        return self._require(estimate)

    def for_profiles(self, plan: Plan, usable: Usable) -> int:
        """Bytes for the profiles that were found usable.

        Raises:
            LoaderError: NEEDS_LARGER_WORKER.
        """
        return self._require(self._estimates.of(_reading(plan.heaviest, PROFILE, usable)))

    def for_set(self, plan: Plan, usable: Usable) -> int:
        """Bytes for an artifact set that was fetched."""
        return self._estimates.of(_reading(plan.request.tool, ARTIFACT, usable)).high

    def most_for(self, set_aside: int) -> int:
        """Bytes that a conversion may use for which so many were set aside.

        Estimates may be wrong by some; one that is wrong by much must not take what others were promised.
        """
        return min(max(2 * set_aside, set_aside + _SLACK_BYTES), self.memory_bytes)

    def require_each(self, plan: Plan, file: StoredFile, found: Inspection) -> None:
        """Refuses a host that can't be converted even alone, where it may be left out.

        Raises:
            HostTooLargeError: with the sizes.
        """
        if plan.may_leave_out:
            problem = self._alone(plan, file.name, found.size, (found.events,))
            if problem is not None:
                raise problem

    def require_unpacked(self, size: int) -> None:
        """Refuses profiles that have become more bytes than could be converted.

        Raises:
            LoaderError: NEEDS_LARGER_WORKER.
        """
        if size > self.memory_bytes:
            raise self._admission.refuse(
                f"Unpacked, the chosen profiles have more than {_size(self.memory_bytes)}, the memory "
                "that this worker may use. Choose fewer hosts, or ask for a worker with more memory."
            )

    def too_large_alone(self, plan: Plan) -> dict[str, LoaderError]:
        """Hosts whose files are too large to be converted even alone, with the reason of each."""
        problems = {
            entry.host: self._alone(plan, entry.file.name, entry.file.size) for entry in plan.files
        }
        return {host: problem for host, problem in problems.items() if problem is not None}

    def _alone(
        self, plan: Plan, name: str, size: int, events: tuple[int, ...] = ()
    ) -> LoaderError | None:
        low = self._estimates.of(Reading(plan.heaviest, PROFILE, (size,), events)).low
        if low <= self.memory_bytes:
            return None
        return HostTooLargeError(ErrorCode.NEEDS_LARGER_WORKER, self._too_little(low), name)

    def learn(self, tool: str, source: str, usable: Usable, peak_bytes: int) -> None:
        """Takes in what a conversion needed at most."""
        self._estimates.learn(_reading(tool, source, usable), peak_bytes)

    def _require(self, estimate: Estimate) -> int:
        """The bytes, unless no conversion may use so many here."""
        if estimate.low <= self.memory_bytes:
            return estimate.high
        raise self._admission.refuse(self._too_little(estimate.low))

    def _too_little(self, needed: int) -> str:
        return (
            f"This needs about {_size(needed)} of memory; this worker may use {_size(self.memory_bytes)}. "
            "Choose fewer hosts, capture a shorter profile, or ask for a worker with more memory."
        )


def _reading(tool: str, source: str, usable: Usable) -> Reading:
    return Reading(tool, source, usable.sizes, usable.events)


def _size(number: int) -> str:
    """Memory for a person, to two digits or so."""
    if number < _GB:
        return f"{number / _MB:,.0f} MB"
    return f"{number / _GB:,.0f} GB" if number >= 10 * _GB else f"{number / _GB:.1f} GB"
