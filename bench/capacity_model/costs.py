"""What the model is given: measured seconds and bytes, assumptions, and prices, each with its source.

`docs/performance.md` holds the measurements; an assumption says that it is one.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.visits import Habits

MEASURED = "measured, docs/performance.md"
ASSUMED = "assumed"
DEMO = "200 requests to `xprof-hub demo`, 2026-11-30; files took 0.7 to 2 ms"
SINGLE = "measured, `python -m bench.load --costs`"


@dataclass(frozen=True)
class Parameter:
    """One number that the model is given.

    Attributes:
        name: in words.
        value: in the unit.
        unit: of the value.
        source: where it is from, or that it is assumed.
    """

    name: str
    value: float
    unit: str
    source: str


@dataclass(frozen=True)
class Profile:
    """A class of sessions, and seconds of a worker's slot that its answers take.

    Attributes:
        name: in words.
        share: of all sessions, 0 to 1.
        megabytes: of all its hosts' profiles.
        overview: list of tools and overview, from the profile.
        overview_again: overview by a worker that finds the artifact.
        trace: first window, from the profile.
        trace_again: the same from the artifact.
        tool: another tool, from the artifact.
        zoom: another window, from the artifact.
        source: of the seconds.
    """

    name: str
    share: float
    megabytes: float
    overview: float
    overview_again: float
    trace: float
    trace_again: float
    tool: float
    zoom: float
    source: str


PROFILES = (
    Profile("4 hosts", 0.50, 19, 3.76, 0.07, 2.49, 1.30, 0.65, 0.08, MEASURED),
    Profile("16 hosts", 0.20, 76, 11.63, 0.08, 1.97, 1.35, 0.67, 0.06, MEASURED),
    Profile("1 host", 0.25, 71, 8.38, 0.10, 6.15, 0.16, 0.08, 0.11, MEASURED),
    Profile("1 large host", 0.05, 710, 83.8, 0.10, 61.5, 1.6, 0.8, 1.1, "ten times `1 host`"),
)
"""Seconds are those of one user, wall clock. An overview without TPUs takes the profile, so its answer is
kept beside the artifacts (`loader/conversion/kept_answers.py`), and 0.1 s for reading it there is assumed.
Half of *shared artifacts* (a trace and another tool) counts as the tool; the list of tools counts to the
overview. The shares are assumed."""

PAGE_CPU = Parameter(
    "processor time of a front end for the data of one opening", 0.016, "s", MEASURED
)
ANSWER_CPU = Parameter("the same for one more answer from the cache", 0.008, "s", MEASURED)
HTML_CPU = Parameter("the same for XProf's page itself", 0.009, "s", DEMO)
STATIC_CPU = Parameter("the same for a static file", 0.001, "s", DEMO)
SMALL_CPU = Parameter("the same for a small answer that it makes itself", 0.0033, "s", SINGLE)
SMALL_ANSWERS = Parameter(
    "small answers of an opening", 5, "answers", "XProf's page and ours ask so"
)
RELAY_CPU = Parameter("the same for handing on what a worker has made", 0.0041, "s", SINGLE)
FIRST_FILES = Parameter("static files of a first opening", 11, "answers", MEASURED)
AGAIN_FILES = Parameter("static files of a later opening", 1, "answers", MEASURED)
FIRST_BYTES = Parameter("bytes of a first opening", 1_702_000, "B", MEASURED)
AGAIN_BYTES = Parameter("bytes of a later opening", 530_000, "B", ASSUMED)
DOWNLOAD = Parameter("download from a bucket", 200, "MB/s", ASSUMED)
NEW_PEOPLE = Parameter("openings by somebody new", 0.2, "share", ASSUMED)
TRACE_SHARE = Parameter("openings that look at the trace", 0.6, "share", ASSUMED)
TOOL_SHARE = Parameter("openings that look at another tool", 0.5, "share", ASSUMED)
TOOLS = Parameter("tools among which they choose", 8, "tools", ASSUMED)
ZOOMS = Parameter("zooms of who looks at the trace", 2, "zooms", ASSUMED)
WINDOWS = Parameter("windows among which they choose", 50, "windows", ASSUMED)
RESULT_DAYS = Parameter("how long an answer is kept", 7, "days", "default of the settings")
FRONT_START = Parameter("start of a front end on Cloud Run", 5, "s", ASSUMED)
WORKER_START = Parameter("start of a worker on Cloud Run", 8, "s", ASSUMED)
POD_START = Parameter("start of a pod, with a new node now and then", 60, "s", ASSUMED)

PARAMETERS = (
    PAGE_CPU,
    ANSWER_CPU,
    HTML_CPU,
    STATIC_CPU,
    SMALL_CPU,
    SMALL_ANSWERS,
    RELAY_CPU,
    FIRST_FILES,
    AGAIN_FILES,
    FIRST_BYTES,
    AGAIN_BYTES,
    DOWNLOAD,
    NEW_PEOPLE,
    TRACE_SHARE,
    TOOL_SHARE,
    TOOLS,
    ZOOMS,
    WINDOWS,
    RESULT_DAYS,
    FRONT_START,
    WORKER_START,
    POD_START,
)

HABITS = Habits(
    NEW_PEOPLE.value,
    TRACE_SHARE.value,
    TOOL_SHARE.value,
    int(ZOOMS.value),
    int(WINDOWS.value),
    int(TOOLS.value),
)

RESULT_BYTES = {"overview": 10_000, "tool": 50_000, "trace": 530_000, "zoom": 300_000}
"""Bytes of an answer as it is kept; the trace's is measured (docs/performance.md), the others are assumed."""

ARTIFACT_SHARE = Parameter("artifacts, of the profiles' bytes", 0.3, "share", ASSUMED)
