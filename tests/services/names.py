"""A name whose addresses change, as that of a headless service does.

The system's own resolver answers, out of a table of hosts that only the processes of one test see. The front
end asks it as it asks any other name's.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest


class ChangingName:
    """A name and its addresses.

    Args:
        name: what is looked up.
        table: a file for this test alone; it becomes `/etc/hosts` of what is started with `through`.
    """

    def __init__(self, name: str, table: Path) -> None:
        self.name = name
        self._table = table
        self.set([])

    def set(self, addresses: Sequence[str]) -> None:
        """From now on the name stands for these addresses."""
        lines = ["127.0.0.1 localhost", *(f"{address} {self.name}" for address in addresses)]
        # In place: the mount is of this very file.
        self._table.write_text("\n".join(lines) + "\n")

    @property
    def through(self) -> list[str]:
        """A command that becomes another one, which sees the name; skips the test where nobody may mount."""
        apart = ["unshare", "--mount"]
        if os.geteuid() != 0:
            apart += ["--user", "--map-root-user"]
        shown = 'mount --bind "$0" /etc/hosts && exec "$@"'
        command = [*apart, "sh", "-c", shown, str(self._table)]
        probe = [*command, "getent", "hosts", "localhost"]
        if subprocess.run(probe, check=False, capture_output=True, timeout=20).returncode:
            pytest.skip("this machine lets nobody have an /etc/hosts of his own")
        return command
