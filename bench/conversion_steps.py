"""The steps of the conversion bench, one server and one crowd at a time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.accounting import settled_cpu_seconds
from bench.answers import Expected, Window
from bench.contenders import RUN, Contender
from bench.first_open import MOST_REPEATS, REST_SECONDS, enough
from bench.memory import PeakMemory
from bench.users import Answer, Opening, User, open_at_once
from loader.engine.rs import SERVED

SIDEBAR, OVERVIEW, TRACE, ZOOM = "sidebar", "overview", "trace", "zoom"
CACHED, TABLES = "cached trace", "fast tables"
SHARED, SHARED_OVERVIEW = "shared artifacts", "shared, overview"
RESOLUTION = 8000
_ZOOMS = 3
_OTHER_TOOL = "input_pipeline_analyzer"
"""Made from the same artifact as the overview."""


Start = Callable[[Path, Path], Contender]
"""Starts a server, given a session and a folder for it and all that comes after it."""


@dataclass(frozen=True)
class Measurement:
    """One step of one server with one crowd.

    Attributes:
        session: about the profiles.
        users: users who asked at once.
        what: one of the constants above.
        contender: the server.
        seconds: until the last user had everything.
        cpu_seconds: of the server's whole process tree, for all users together.
        peak_megabytes: most resident memory of the process tree.
        parent_megabytes: most resident memory of the process that has conversions made, since its start.
        conversions: engine runs.
        right: share of the users whose answers were right, 0 to 1.
    """

    session: str
    users: int
    what: str
    contender: str
    seconds: float
    cpu_seconds: float
    peak_megabytes: float
    parent_megabytes: float
    conversions: int
    right: float


@dataclass(frozen=True)
class Question:
    """Something that every user asks at once.

    Attributes:
        name: XProf's answer is kept under it.
        ask: asks it.
        window: of a zoom, whose answer may hold more than XProf's.
    """

    name: str
    ask: Callable[[User], list[Answer]]
    window: Window | None = None


@dataclass
class Bench:
    """One session with the answers that XProf gives.

    Attributes:
        about: names the session in the report.
        session: folder with the profile files.
        host: whose trace and tables are asked for.
        users: how many ask at once.
        expected: XProf's answers to one user.
    """

    about: str
    session: Path
    host: str
    users: int
    expected: Expected = field(default_factory=Expected)

    def open_session(self, start: Start, folder: Path) -> Iterator[Measurement]:
        """A cold session, then zooms, then repeats, then a fresh server beside the same artifacts."""
        overview, trace = Question(OVERVIEW, _overview), Question(TRACE, self._trace)
        with self._running(start, folder) as (contender, crowd):
            yield self._step(contender, crowd, SIDEBAR, [Question(SIDEBAR, User.open_sidebar)])
            yield self._step(contender, crowd, OVERVIEW, [overview])
            yield self._step(contender, crowd, TRACE, [trace])
            yield self._step(contender, crowd, ZOOM, self._zooms(), each=True)
            yield self._step(contender, crowd, CACHED, [trace], MOST_REPEATS)
        with self._running(start, folder) as (contender, crowd):
            yield self._step(contender, crowd, SHARED, [Question(_OTHER_TOOL, _other_tool), trace])
            # XProf reads the profile again for this one unless the session has a TPU.
            yield self._step(contender, crowd, SHARED_OVERVIEW, [overview])

    def open_tables(self, start: Start, folder: Path) -> Iterator[Measurement]:
        """The tools that the fast engine serves, cold."""
        questions = [self._table(tool) for tool in sorted(SERVED)]
        with self._running(start, folder) as (contender, crowd):
            yield self._step(contender, crowd, TABLES, questions)

    def _table(self, tool: str) -> Question:
        return Question(tool, lambda user: user.ask(tool, host=self.host))

    def _trace(self, user: User) -> list[Answer]:
        return user.open_trace(self.host)

    def _zooms(self) -> list[Question]:
        def question(number: int, window: Window) -> Question:
            def ask(user: User) -> list[Answer]:
                return user.ask("trace_viewer@", host=self.host, **window.query())

            return Question(f"{ZOOM} {number}", ask, window)

        windows = self.expected.windows(TRACE, _ZOOMS, RESOLUTION)
        return [question(number, window) for number, window in enumerate(windows)]

    @contextmanager
    def _running(self, start: Start, folder: Path) -> Iterator[tuple[Contender, list[User]]]:
        contender = start(self.session, folder)
        crowd = [User(contender.base, RUN) for _ in range(self.users)]
        try:
            time.sleep(REST_SECONDS)
            yield contender, crowd
        finally:
            for user in crowd:
                user.close()
            contender.stop()

    def _step(
        self,
        contender: Contender,
        crowd: list[User],
        what: str,
        questions: Sequence[Question],
        most: int = 1,
        each: bool = False,
    ) -> Measurement:
        """Asks the questions up to `most` times; costs are those of one time, or of one question (`each`)."""
        openings: list[tuple[Question, Opening]] = []
        conversions = contender.conversions()
        cpu = settled_cpu_seconds()
        begin = time.monotonic()
        with PeakMemory() as peak:
            while not enough(len(openings) // len(questions), most, time.monotonic() - begin):
                openings += [
                    (question, open_at_once(crowd, question.ask)) for question in questions
                ]
        parts = len(openings) if each else len(openings) // len(questions)
        return Measurement(
            session=self.about,
            users=self.users,
            what=what,
            contender=contender.name,
            seconds=sum(opening.seconds for _, opening in openings) / parts,
            cpu_seconds=(settled_cpu_seconds() - cpu) / parts,
            peak_megabytes=peak.megabytes,
            parent_megabytes=contender.parent_megabytes(),
            conversions=contender.conversions() - conversions,
            right=self._share_right(openings),
        )

    def _share_right(self, openings: Sequence[tuple[Question, Opening]]) -> float:
        """The worst share of users with right answers over all questions; the same bytes are read once."""
        worst = 1.0
        judged: dict[tuple[str, tuple[bytes, ...]], bool] = {}
        for question, opening in openings:
            right = 0
            for answers in opening.answers:
                known = (question.name, tuple(answer.body for answer in answers))
                if known not in judged:
                    judged[known] = self.expected.is_right(question.name, answers, question.window)
                    if not judged[known]:
                        print(f"wrong: {question.name}: {_beginning(answers)}", file=sys.stderr)
                right += judged[known]
            worst = min(worst, right / len(opening.answers))
        return worst


def _beginning(answers: Sequence[Answer]) -> str:
    """Status and first words of the first answer that is none, or else of the last."""
    shown = next((answer for answer in answers if answer.status != 200), answers[-1])
    return f"{shown.status} {shown.data[:300].decode(errors='replace')}"


def _other_tool(user: User) -> list[Answer]:
    return user.ask(_OTHER_TOOL, host="ALL_HOSTS")


def _overview(user: User) -> list[Answer]:
    return user.ask("overview_page", host="ALL_HOSTS")
