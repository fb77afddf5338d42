"""What a front end loads: nothing that only a worker needs, neither its memory nor its packages."""

from __future__ import annotations

import subprocess
import sys


def test_a_front_end_loads_neither_the_engine_nor_numpy() -> None:
    code = (
        "import sys, server.app\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "print(sorted(loaded & {'xprof', 'numpy'}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"
