"""The zygote's view of a child: what it says is read piece by piece, however much it is."""

from __future__ import annotations

import os
from pathlib import Path

from loader.engine.base import Job, Limits
from loader.engine.messages import Request
from loader.engine.watch import Watched


def test_a_child_that_never_stops_talking_does_not_keep_the_zygote(tmp_path: Path) -> None:
    """A file in place of a pipe that is filled as fast as it is read."""
    endless, silent = tmp_path / "endless", tmp_path / "silent"
    with endless.open("wb") as file:
        file.truncate(64 << 20)
    silent.touch()
    log, report = os.open(endless, os.O_RDONLY), os.open(silent, os.O_RDONLY)
    try:
        request = Request(1, Job(tmp_path, ("a",), "hlo_stats"), Limits())
        watched = Watched(os.getpid(), 0, request, report, log)
        assert watched.drain(log)
        assert os.lseek(log, 0, os.SEEK_CUR) <= 1 << 20
    finally:
        os.close(log)
        os.close(report)
