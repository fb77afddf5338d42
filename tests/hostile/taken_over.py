"""A zygote whose engine has been taken over by a profile: `python -m tests.hostile.taken_over FIRST_UID ...`.

Where the sandbox lets it (see `tests.hostile.poorer_machine`) it leaves what must not leave its directory.
The option `event_name` of a job says how it ends then: by a `crash`, with a `linked answer`, or well.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from loader.engine import zygote
from loader.engine.base import OptionValue
from loader.engine.produced import ANSWER_FILE

GOOD = "ALL_HOSTS.op_stats_v2.pb"


class TakenOver:
    """Stands for XProf's converters."""

    def xspace_to_tools_data(
        self, xspace_paths: list[str], tool_name: str, options: Mapping[str, OptionValue]
    ) -> tuple[bytes, bool]:
        Path(GOOD).write_bytes(b"good")
        Path("ALL_HOSTS.linked.pb").symlink_to("/etc/passwd")
        Path("foreign.txt").write_bytes(b"x")
        Path("ALL_HOSTS.other_name.pb").hardlink_to("foreign.txt")
        Path("ALL_HOSTS.folder.pb").mkdir()
        os.mkfifo("module(1).hlo_proto.pb")
        Path("vm.SSTABLE").write_bytes(b"one")
        Path("vm.trie.SSTABLE").write_bytes(b"of three")
        end = options.get("event_name")
        if end == "crash":
            os.abort()
        if end == "linked answer":
            Path(ANSWER_FILE).symlink_to(GOOD)
        return b"{}", True


def main() -> None:
    zygote.load_engine = TakenOver
    zygote.main()


if __name__ == "__main__":
    main()
