"""One fuzzing run: damaged profiles through every tool of a real worker, and what must hold after each."""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from loader.engine.base import CONTENT_TYPES, EngineName
from loader.errors import ErrorCode
from loader.tools import HEALTH, MODULE_LIST, RUN_TOOLS, TOOLS
from tests.hostile.fuzz.arena import FILE, Arena, Reply, decoded
from tests.hostile.fuzz.mutations import mutate
from tests.hostile.fuzz.seeds import real_profile, seeds

EXPECTED = frozenset(
    {
        "ok",
        ErrorCode.MALFORMED.value,
        ErrorCode.TOO_LARGE.value,
        ErrorCode.ENGINE_REFUSED.value,
        ErrorCode.ENGINE_CRASHED.value,
        ErrorCode.OUT_OF_MEMORY.value,
        ErrorCode.TIMED_OUT.value,
        ErrorCode.NOT_FOUND.value,
    }
)
"""All that may be said about a damaged profile; `not_found` of its modules only."""
_UNUSABLE = frozenset({ErrorCode.MALFORMED.value, ErrorCode.TOO_LARGE.value})
_WITH_MODULE = frozenset({"memory_viewer", "graph_viewer"})
_AT_ONCE = 8
_TRIES = 20
_GOOD_TOOLS = ("trace_viewer@", "op_profile", "hlo_stats", "roofline_model", RUN_TOOLS)
"""Tools whose answer is always the same; XProf's overview_page has one of two shares of time by chance."""
_MOST_FINDINGS = 20


@dataclass(frozen=True)
class Finding:
    """One thing that must not be.

    Attributes:
        case: which profile; `""` when none is to blame.
        what: what happened.
    """

    case: str
    what: str


@dataclass
class Summary:
    """What a run did and found."""

    seed: int
    cases: int = 0
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    worker_megabytes: float = 0.0

    def text(self) -> str:
        """For a person."""
        asked = sum(self.outcomes.values())
        lines = [
            f"seed {self.seed}: {self.cases} profiles, {asked} answers in {self.seconds:.0f} s "
            f"({60 * asked / max(self.seconds, 1e-9):.0f} a minute); worker {self.worker_megabytes:.0f} MB",
            ", ".join(f"{code} {count}" for code, count in self.outcomes.most_common()),
        ]
        lines += [f"FOUND {finding.case}: {finding.what}" for finding in self.findings]
        return "\n".join(lines)


def cases(seed: int) -> Iterator[tuple[str, bytes]]:
    """Endless damaged profiles with their names; each depends on the seed and its number only."""
    start = seeds()
    number = 0
    while True:
        yield f"{seed}-{number}", mutate(random.Random(f"{seed}-{number}"), start)
        number += 1


def fuzz(
    seconds: float,
    seed: int,
    given: Sequence[tuple[str, bytes]] = (),
    keep: Path | None = None,
    engine: EngineName = "xprof",
) -> Summary:
    """Runs until the time is up, or through the given profiles.

    Args:
        seconds: how long; the case under way is finished.
        seed: of the damage.
        given: names and bytes of profiles to try instead.
        keep: folder for profiles with a finding.
        engine: the worker's.
    """
    summary = Summary(seed)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, Arena(Path(folder), engine) as arena:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            trial = _Trial(arena, pool, summary)
            trial.learn()
            for name, data in given or cases(seed):
                if not given and time.monotonic() - start > seconds:
                    break
                found = trial.run(name, data)
                if found and keep is not None:
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"{name}.xplane.pb").write_bytes(data)
                if len(summary.findings) >= _MOST_FINDINGS:
                    break
        summary.worker_megabytes = arena.worker_megabytes()
    summary.seconds = time.monotonic() - start
    return summary


class _Trial:
    """The cases of one run."""

    def __init__(self, arena: Arena, pool: ThreadPoolExecutor, summary: Summary) -> None:
        self._arena = arena
        self._pool = pool
        self._summary = summary
        self._right: dict[str, object] = {}

    def learn(self) -> None:
        """Remembers the right answers of the good profile."""
        location = self._arena.place("good", real_profile())
        for tool in _GOOD_TOOLS:
            reply = self._arena.ask(location, tool)
            if reply.code != "ok":
                raise RuntimeError(f"the good profile has no {tool}: {reply.message}")
            self._right[tool] = decoded(reply)
        self._arena.remove(location)

    def run(self, name: str, data: bytes) -> bool:
        """One profile through every tool; whether something was found."""
        before = len(self._summary.findings)
        self._summary.cases += 1
        location = self._arena.place(name, data)
        for reply in self._ask_all(location):
            self._summary.outcomes[reply.code] += 1
            for what in self._wrong(reply):
                self._found(name, f"{reply.tool}: {what}")
        self._arena.remove(location)
        for what in [*self._wrong_good(name), *self._arena.problems()]:
            self._found(name, what)
        return len(self._summary.findings) > before

    def _found(self, case: str, what: str) -> None:
        self._summary.findings.append(Finding(case, what))

    def _ask_all(self, location: str) -> list[Reply]:
        first = [self._arena.ask(location, HEALTH), self._arena.ask(location, MODULE_LIST)]
        modules = first[1].body.decode(errors="replace") if first[1].code == "ok" else ""
        module = {"module_name": modules.split(",")[0]} if modules else {}
        questions: list[tuple[str, dict[str, str]]] = [(RUN_TOOLS, {})]
        questions += [(tool, module if tool in _WITH_MODULE else {}) for tool in TOOLS]
        questions.append(
            ("trace_viewer@", {"format": "pb", "start_time_ms": "0", "end_time_ms": "1"})
        )
        questions.append(("memory_viewer", {**module, "view_memory_allocation_timeline": "1"}))
        questions.append(("graph_viewer", {**module, "type": "graph", "node_name": "fusion.1"}))
        if first[1].code in _UNUSABLE and b'"usable": false' in first[0].body:
            questions = questions[:2]  # refused before any tool could differ
        return first + list(
            self._pool.map(lambda question: self._ask(location, *question), questions)
        )

    def _ask(self, location: str, tool: str, query: dict[str, str]) -> Reply:
        """One question; asked again when other conversions of a slow profile took all the time there was."""
        for _ in range(_TRIES):
            reply = self._arena.ask(location, tool, query)
            if reply.code != ErrorCode.BUSY.value:
                break
            self._summary.outcomes[reply.code] += 1
        return reply

    def _wrong(self, reply: Reply) -> list[str]:
        """What is wrong with an answer."""
        if reply.code == "ok":
            return self._wrong_answer(reply)
        found = []
        if reply.code not in EXPECTED or (
            reply.code == "not_found" and reply.tool not in _WITH_MODULE
        ):
            found.append(f"unexpected {reply.code}: {reply.message}")
        elif reply.file != FILE and reply.code != "not_found":
            found.append(f"{reply.code} names the file {reply.file}: {reply.message}")
        if str(self._arena.folder) in reply.message or "/scratch/" in reply.message:
            found.append(f"a path of the server is told: {reply.message}")
        if not reply.message or not reply.message.isprintable():
            found.append(f"no sentence for a person: {reply.message!r}")
        return found

    @staticmethod
    def _wrong_answer(reply: Reply) -> list[str]:
        if reply.content_type not in CONTENT_TYPES:
            return [f"an answer of type {reply.content_type}"]
        if reply.content_type == "application/json":
            try:
                json.loads(reply.body)
            except ValueError as problem:
                return [f"an answer that is no JSON: {problem}"]
        return []

    def _wrong_good(self, name: str) -> list[str]:
        """Whether the next good question has the right answer, made anew."""
        tool = _GOOD_TOOLS[self._summary.cases % len(_GOOD_TOOLS)]
        location = self._arena.place(f"{name}-good", real_profile())
        reply = self._arena.ask(location, tool)
        self._arena.remove(location)
        if reply.code != "ok":
            return [f"the next good question failed: {tool}: {reply.code} {reply.message}"]
        return [] if decoded(reply) == self._right[tool] else [f"the next good {tool} is wrong"]
