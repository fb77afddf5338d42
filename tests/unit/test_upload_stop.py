"""Whoever ends an upload does not wait for the rest of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from server.client import HubClient
from server.client.uploads import LocalProfile
from server.commands.upload import _send_all


class Uploads:
    """Stands for the client's: one host is interrupted while another has a hundred parts to go."""

    def __init__(self) -> None:
        self.parts = 0
        self.has_begun = threading.Event()

    def send(
        self,
        _run: str,
        _session: str,
        profile: LocalProfile,
        *,
        expected_hosts: int | None,
        replace: bool,
        advance: Callable[[int], None],
    ) -> None:
        assert (expected_hosts, replace) == (None, False)
        if profile.host == "a":
            self.has_begun.wait(10)
            raise KeyboardInterrupt
        for part in range(100):
            self.has_begun.set()
            self.parts += 1
            threading.Event().wait(0.05)
            advance(part)


class Client:
    """Has uploads and nothing else."""

    def __init__(self, uploads: Uploads) -> None:
        self.uploads = uploads


def test_an_upload_that_is_interrupted_ends_with_the_parts_under_way(tmp_path: Path) -> None:
    profiles = []
    for host in ("a", "b"):
        path = tmp_path / f"{host}.xplane.pb"
        path.write_bytes(b"x")
        profiles.append(LocalProfile(host, path))
    uploads = Uploads()
    with pytest.raises(KeyboardInterrupt):
        _send_all(cast("HubClient", Client(uploads)), "r", "s", profiles, None, False, 2)
    assert uploads.parts < 100
