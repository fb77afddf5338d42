"""xprof-rs: which of XProf's answers it may give, how it is asked, and what its answer must look like.

The PyPI package of that name is one program without Python code: a server with XProf's addresses, and
commands whose output has other shapes than the server's. So the server is asked, once, by a process beside
it (`loader.engine.rs_steps`). Nothing here starts it.

A tool is in the table only when a test of this repository compares it with XProf on sessions where it has
something to say (tests/integration/test_fast_answers.py). docs/adr/015-fast-engine.md lists the others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from urllib.parse import quote

from loader.engine.base import RS_VERSION, Job
from loader.engine.produced import is_plain_file
from loader.storage.base import XPLANE_SUFFIX
from loader.tools import ALL_HOSTS

PACKAGE = "xprof-rs"
_ADVICE = "Install it with: pip install 'xprof-hub[fast]', or set XPROF_HUB_ENGINE=xprof."

SERVED: Mapping[str, bool] = {"hlo_stats": True, "memory_profile": False}
"""Tools that xprof-rs may answer, and whether for several hosts together; none of them takes an option."""

ALLOCATORS = "memoryProfilePerAllocator"
"""Field of a memory profile: allocator's name to its profile."""

_HLO_STATS_COLUMNS = (
    "rank",
    "program_id",
    "category",
    "hlo_op_name",
    "hlo_op_expression",
    "tf_op_name",
    "occurrences",
    "total_time",
    "avg_time",
    "total_self_time",
    "avg_self_time",
    "total_self_time_percent",
    "cumulative_total_self_time_percent",
    "dma_stall_percent",
    "model_flop_rate",
    "normalized_flop_rate",
    "measured_memory_bw",
    "hbm_bw",
    "cmem_read_bw",
    "cmem_write_bw",
    "operational_intensity",
    "bound_by",
    "hlo_rematerialization",
    "outside_compilation",
    "autotuned",
    "source_info",
    "core_type",
    "parent_op_name",
    "vdd_energy",
)
"""The columns of XProf's table (xprof 2.24.2)."""


_MOST_BANDWIDTH = 1e9
"""GiB/s; no chip reaches a thousandth of it."""


class UnsureError(Exception):
    """An answer that is not taken; XProf is asked instead."""


def find_program() -> Path:
    """The installed program.

    Raises:
        RuntimeError: it is not installed, or in another version; the message says what to install.
    """
    try:
        package = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError as error:
        raise RuntimeError(
            f"XPROF_HUB_ENGINE is fast, and {PACKAGE} is not installed. {_ADVICE}"
        ) from error
    if package.version != RS_VERSION:
        raise RuntimeError(
            f"XPROF_HUB_ENGINE is fast, and {PACKAGE} {package.version} is installed, but XProf Hub's "
            f"answers are compared for {RS_VERSION}. {_ADVICE}"
        )
    for entry in package.files or ():
        path = Path(str(package.locate_file(entry)))
        if entry.name == PACKAGE and is_plain_file(path):
            return path.resolve()
    raise RuntimeError(
        f"XPROF_HUB_ENGINE is fast, and the program of {PACKAGE} is missing. {_ADVICE}"
    )


def serves(job: Job) -> bool:
    """Whether the job is one that xprof-rs may do: a proven tool, whole profiles, no doubt about them."""
    may_be_several = SERVED.get(job.tool)
    if may_be_several is None or job.options or job.as_csv:
        return False
    if not job.is_plain or (len(job.hosts) != 1 and not may_be_several):
        return False
    return all(is_plain_file(job.directory / f"{host}{XPLANE_SUFFIX}") for host in job.hosts)


def request_for(job: Job) -> bytes:
    """The HTTP request for a job whose directory is the server's working directory.

    The server is asked for `/proc/self/cwd`: a path of its own process, which leads to the directory
    whatever the folders above allow. HTTP/1.0, so that the answer ends with the connection.

    Raises:
        UnsureError: a host's name has no text form that both sides agree on.
    """
    host = job.hosts[0] if len(job.hosts) == 1 else ALL_HOSTS
    try:
        name = quote(host, safe="")
    except UnicodeEncodeError as error:
        raise UnsureError("a host's name is not text") from error
    query = f"session_path=%2Fproc%2Fself%2Fcwd&run=cwd&tag={quote(job.tool)}&host={name}"
    return f"GET /data?{query} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode()


def body_of(response: bytes) -> bytes:
    """The body of a complete and successful HTTP response.

    Raises:
        UnsureError: it is something else.
    """
    head, separator, body = response.partition(b"\r\n\r\n")
    status, *lines = head.split(b"\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(b":")
        headers[name.strip().lower()] = value.strip()
    if not separator or status.split(b" ")[1:2] != [b"200"]:
        raise UnsureError("it refused")
    if headers.get(b"content-type") != b"application/json":
        raise UnsureError("it answered something else than JSON")
    if headers.get(b"content-length") != str(len(body)).encode():
        raise UnsureError("its answer broke off")
    return body


def check_answer(tool: str, body: bytes) -> None:
    """Makes sure that the bytes are an answer of XProf's shape.

    Raises:
        UnsureError: they are not.
    """
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UnsureError("its answer is not JSON") from error
    has_shape = _is_memory_profile if tool == "memory_profile" else _is_hlo_stats
    if not has_shape(answer):
        raise UnsureError("its answer has another shape than XProf's")


def _is_memory_profile(answer: object) -> bool:
    """Whether it is a memory profile that lists every allocator, and that knows of no steps.

    xprof-rs leaves out of the list those of which no allocation is alive at the peak; XProf lists them. Which
    step an allocation belongs to is found otherwise by XProf, and only allocations of one step are shown.
    """
    if not isinstance(answer, dict):
        return False
    allocators, listed = answer.get(ALLOCATORS), answer.get("memoryIds")
    if not isinstance(allocators, dict) or not isinstance(listed, list):
        return False
    if sorted(map(str, listed)) != sorted(allocators):
        return False
    return all(_is_of_first_step(profile) for profile in allocators.values())


def _is_of_first_step(profile: object) -> bool:
    """Whether all that is shown of an allocator is of step 0, as everything is without steps."""
    snapshots = profile.get("sampledTimelineSnapshots") if isinstance(profile, dict) else None
    if not isinstance(snapshots, list):
        return False
    activities = [
        row.get("activityMetadata") if isinstance(row, dict) else None for row in snapshots
    ]
    return all(isinstance(one, dict) and one.get("stepId") == "0" for one in activities)


def _is_hlo_stats(answer: object) -> bool:
    """Whether it is a table with the tool's columns, and every row as wide as the table."""
    if not isinstance(answer, dict):
        return False
    columns, rows = answer.get("cols"), answer.get("rows")
    if not isinstance(columns, list) or not isinstance(rows, list):
        return False
    names = [column.get("id") if isinstance(column, dict) else None for column in columns]
    return names == list(_HLO_STATS_COLUMNS) and all(map(_is_sure, rows))


def _is_sure(row: object) -> bool:
    """Whether it is a row of the table that XProf would show, too.

    Where an operation has no name XProf may show one of its own, and its count of bytes ends at 2^63.
    """
    cells = row.get("c") if isinstance(row, dict) else None
    if not isinstance(cells, list) or len(cells) != len(_HLO_STATS_COLUMNS):
        return False
    values = {
        name: cell.get("v") if isinstance(cell, dict) else None
        for name, cell in zip(_HLO_STATS_COLUMNS, cells, strict=True)
    }
    name, bandwidth = values["hlo_op_name"], values["measured_memory_bw"]
    if not isinstance(name, str) or not name or name.endswith("/"):
        return False
    return isinstance(bandwidth, int | float) and 0 <= bandwidth < _MOST_BANDWIDTH
