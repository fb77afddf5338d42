"""The bars of an upload: one for all hosts together, and one for each that is on its way."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from server.client.uploads import LocalProfile
from server.commands.upload_bars import UploadBars


def test_bars_show_what_the_hub_has(tmp_path: Path) -> None:
    profiles = []
    for host, size in (("a", 100), ("b", 300)):
        path = tmp_path / f"{host}.xplane.pb"
        path.write_bytes(b"x" * size)
        profiles.append(LocalProfile(host, path))
    progress = Progress(console=Console(file=StringIO(), force_terminal=True))
    bars = UploadBars(progress, profiles)
    first, second = bars.of(profiles[0]), bars.of(profiles[1])
    assert [(task.description, task.total, task.visible) for task in progress.tasks] == [
        ("2 hosts", 400, True),
        ("a", 100, False),
        ("b", 300, False),
    ]
    first(40)
    second(100)
    assert [(task.completed, task.visible) for task in progress.tasks] == [
        (140, True),
        (40, True),
        (100, True),
    ]
    # A hub that lost what was not on its disk yet says so, and the bar goes back.
    first(10)
    assert progress.tasks[0].completed == 110
    first(100)
    assert [(task.completed, task.visible) for task in progress.tasks][:2] == [
        (200, True),
        (100, False),
    ]
