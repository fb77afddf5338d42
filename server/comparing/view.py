"""What the Compare page shows: texts and addresses, so that its templates hold no logic. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote, urlencode

from server.comparing import words
from server.comparing.addresses import Addresses
from server.comparing.configs import ConfigComparison
from server.comparing.sides import Compared, Side
from server.comparing.values import Basis, Comparison, OpChange, OpStanding
from server.comparing.words import Row
from server.figures.freshness import Standing
from server.ui.sparkline import Sparkline, sparkline

_CURVE_SIZE = 480, 56
FIRST_OPS = 50
"""Operations that a page shows at first."""
_STANDINGS = {
    OpStanding.BOTH: "",
    OpStanding.ADDED: "new",
    OpStanding.REMOVED: "gone",
    OpStanding.UNLISTED: "below the list",
}
_BASES = {
    Basis.STEP: "of one step on one core",
    Basis.PROFILE: "of the whole profile on one core",
}


@dataclass(frozen=True)
class SideCard:
    """One session at the head of the page.

    Attributes:
        place: `left` or `right`.
        run: name of its run for people.
        session: its own.
        created: when it came here.
        facts: devices and hosts, short.
        problem: why there are no figures; may be empty.
        gaps: what XProf could not say.
        run_href: its run's page.
        session_href: its own page.
        xprof_href: its XProf.
        change_href: where another is chosen in its place.
        steps: its step times as a curve, on one scale with the other side's; None without one.
    """

    place: str
    run: str
    session: str
    created: datetime
    facts: tuple[str, ...]
    problem: str
    gaps: tuple[str, ...]
    run_href: str
    session_href: str
    xprof_href: str
    change_href: str
    steps: Sparkline | None


@dataclass(frozen=True)
class OpLine:
    """One operation of the table."""

    name: str
    category: str
    standing: str
    left: str
    right: str
    difference: str
    percent: str
    mood: str
    left_share: str
    right_share: str


@dataclass(frozen=True)
class Result:
    """What differs, as tables.

    Attributes:
        headline: the most telling sentence; may be empty.
        mood: of the headline: `good`, `bad` or `quiet`.
        steps: rows about step times.
        devices: rows about devices and memory.
        ops: the operations that changed most.
        op_count: how many were compared.
        all_ops_href: where all are shown; empty when they are.
        basis: what their times are of.
        total: the row of all operations together, or None.
    """

    headline: str
    mood: str
    steps: tuple[Row, ...]
    devices: tuple[Row, ...]
    ops: tuple[OpLine, ...]
    op_count: int
    all_ops_href: str
    basis: str
    total: Row | None


@dataclass(frozen=True)
class CompareView:
    """The page of two chosen sessions.

    Attributes:
        state: `pending`, `ready` or `failed`.
        here: address of this comparison.
        swap_href: the same with the sides changed.
        api_path: path of the same in the API.
        waiting: what is still to come of the sides that are pending, in words.
    """

    state: str
    left: SideCard
    right: SideCard
    warnings: tuple[str, ...]
    result: Result | None
    configs: ConfigComparison
    here: str
    swap_href: str
    api_path: str
    waiting: tuple[str, ...] = ()

    @property
    def sides(self) -> tuple[SideCard, SideCard]:
        """Both."""
        return self.left, self.right


def compare_view(compared: Compared, addresses: Addresses, most_ops: int) -> CompareView:
    """The page of a comparison, with at most so many operations."""
    left, right = compared.left.ref, compared.right.ref
    longest = max(
        (time for side in (compared.left, compared.right) for time in _times(side)), default=0.0
    )
    query = urlencode({"left": str(left), "right": str(right)}, quote_via=quote, safe="/")
    return CompareView(
        state=compared.standing.name.lower(),
        left=_card("left", compared.left, addresses, addresses.compare(None, right), longest),
        right=_card("right", compared.right, addresses, addresses.compare(left, None), longest),
        warnings=compared.warnings,
        result=_result(compared, addresses, most_ops),
        configs=compared.configs,
        here=addresses.compare(left, right),
        swap_href=addresses.compare(right, left),
        api_path=f"/v1/comparisons?{query}",
        waiting=_waiting(compared),
    )


def _waiting(compared: Compared) -> tuple[str, ...]:
    named = (("left", compared.left), ("right", compared.right))
    return tuple(
        f"The {place} session has no figures yet. {side.problem}".strip()
        for place, side in named
        if side.standing is Standing.PENDING
    )


def _times(side: Side) -> Sequence[float]:
    return side.figures.step_times_ms if side.figures else ()


def _card(
    place: str, side: Side, addresses: Addresses, change_href: str, longest: float
) -> SideCard:
    figures = side.figures
    average = figures.average_step_ms if figures else None
    spoken = f"{len(_times(side))} step times of the {place} session"
    if average is not None:
        spoken = f"{spoken}, {words.milliseconds(average, average)} on average"
    return SideCard(
        place=place,
        run=side.run.display_name or side.run.id,
        session=side.session.display_name or side.session.id,
        created=side.session.created,
        facts=_facts(side),
        problem=side.problem if side.standing is Standing.FAILED else "",
        gaps=figures.gaps if figures else (),
        run_href=addresses.run(side.ref),
        session_href=addresses.session(side.ref),
        xprof_href=addresses.xprof(side.ref),
        change_href=change_href,
        steps=sparkline(_times(side), spoken, *_CURVE_SIZE, greatest=longest),
    )


def _facts(side: Side) -> tuple[str, ...]:
    figures = side.figures
    if figures is None:
        return ()
    cores = f"{figures.device_count} cores" if figures.device_count else ""
    hosts = f"{figures.host_count} hosts" if figures.host_count else ""
    found = (figures.device_type, cores, "1 host" if figures.host_count == 1 else hosts)
    return tuple(fact for fact in found if fact)


def _result(compared: Compared, addresses: Addresses, most_ops: int) -> Result | None:
    found = compared.comparison
    if found is None:
        return None
    all_ops = addresses.compare(compared.left.ref, compared.right.ref, ops=len(found.ops))
    total = words.row("All operations", found.ops_us, words.microseconds, better=-1)
    headline, mood = _headline(found)
    return Result(
        headline=headline,
        mood=mood,
        steps=_step_rows(found),
        devices=_device_rows(found),
        ops=tuple(_op_line(op) for op in found.ops[:most_ops]),
        op_count=len(found.ops),
        all_ops_href=f"{all_ops}#operations" if len(found.ops) > most_ops else "",
        basis=_BASES[found.basis],
        total=total,
    )


def _headline(found: Comparison) -> tuple[str, str]:
    """The change of the average step in a sentence, and whether it is good or bad news."""
    change = found.steps.average
    percent = change.percent
    if percent is None:
        return "", "quiet"
    mood = words.mood_of(change, -1)
    if mood == "quiet":
        return "Steps take as long on both sides.", mood
    than = "longer" if percent > 0 else "less time"
    return f"Steps take {abs(percent):.1f} % {than} on the right.", mood


def _step_rows(found: Comparison) -> tuple[Row, ...]:
    steps, read = found.steps, words.milliseconds
    rows = (
        words.row("Average", steps.average, read, better=-1),
        words.row("Median", steps.median, read, better=-1),
        words.row("90th percentile", steps.ninetieth, read, better=-1),
        words.row("Shortest", steps.shortest, read, better=-1),
        words.row("Longest", steps.longest, read, better=-1),
        words.row("Standard deviation", steps.deviation, read, better=-1),
        words.row("Steps in the profile", steps.count, words.count),
    )
    return tuple(row for row in rows if row)


def _device_rows(found: Comparison) -> tuple[Row, ...]:
    use, read = found.use, words.percentage
    rows = (
        words.row(
            "Duty cycle", use.duty_cycle, read, better=1, note="time in which a device works"
        ),
        words.row("Idle", use.idle, read, better=-1, note="time in which no operation runs"),
        words.row("Matrix units", use.matrix_units, read, better=1, note="of their peak"),
        words.row("FLOPS", use.flops_of_roofline, read, better=1, note="of the program's best"),
        words.row("HBM bandwidth", use.memory_bandwidth, read, note="of its peak"),
        words.row("Peak memory", use.peak_memory_bytes, words.size, better=-1, note="first host"),
        words.row("Memory of a device", use.memory_capacity_bytes, words.size),
        words.row("Device cores", found.devices, words.count),
        words.row("Hosts", found.hosts, words.count),
    )
    return tuple(row for row in rows if row)


def _op_line(op: OpChange) -> OpLine:
    time = op.time_us
    scale = words.scale_of(time)
    left, right = (
        words.microseconds(side, scale) if side else "" for side in (time.left, time.right)
    )
    return OpLine(
        name=op.name,
        category=op.category,
        standing=_STANDINGS[op.standing],
        left=left or words.NOTHING,
        right=right or words.NOTHING,
        difference=words.signed(time.difference, words.microseconds, scale),
        percent=words.percent_text(time.percent) if op.standing is OpStanding.BOTH else "",
        mood=words.mood_of(time, -1),
        left_share=words.share(op.share.left) if op.share.left else "",
        right_share=words.share(op.share.right) if op.share.right else "",
    )
