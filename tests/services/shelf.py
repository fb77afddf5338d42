"""One hub for sessions of single tests: to start a hub for each of them would take most of their time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from tests.services.hub import HubFactory, HubProcess, copy_of, share


@dataclass(frozen=True)
class Shelf:
    """A hub that tests leave as it is, and a place for sessions that they may change.

    Attributes:
        hub: the hub.
        root: its storage root.
    """

    hub: HubProcess
    root: Path

    @property
    def url(self) -> str:
        """The hub's address."""
        return self.hub.url

    def new_folder(self) -> Path:
        """Where a folder may be made; its name is no other run's."""
        return self.root / uuid4().hex[:8]

    def place(self, session: Path) -> Path:
        """A folder of its own with copies of the session's profiles."""
        return copy_of(session, self.new_folder())

    def share(self, folder: Path) -> str:
        """A link to the folder as the session `session` of a new run of the folder's name."""
        return share(self.url, folder.name, "session", folder)


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """The hub, for all tests."""
    root = tmp_path_factory.mktemp("shelf")
    factory = HubFactory(tmp_path_factory.mktemp("shelf-hub"))
    try:
        yield Shelf(factory.start({"XPROF_HUB_STORAGE_ROOTS": str(root)}), root)
    finally:
        factory.stop_all()
