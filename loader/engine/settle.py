"""What every forked process of the engine does first: leave behind what it has of the zygote's."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Sequence

_HIGH_FD = 64
"""Where descriptors wait while the low numbers are filled."""
_ALL_FDS = 1 << 16
_CLEAN_SIGNALS = (signal.SIGXFSZ, signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)


def settle(descriptors: Sequence[int]) -> None:
    """Keeps these descriptors, as numbers 0, 1, 2 and so on, and default signals; nothing else.

    Raises:
        OSError: no more descriptors can be made.
    """
    for kind in _CLEAN_SIGNALS:
        signal.signal(kind, signal.SIG_DFL)
    os.umask(0o022)
    waiting = [
        fcntl.fcntl(descriptor, fcntl.F_DUPFD, _HIGH_FD + len(descriptors))
        for descriptor in descriptors
    ]
    for number, descriptor in enumerate(waiting):
        os.dup2(descriptor, number)
    os.closerange(len(waiting), _ALL_FDS)
