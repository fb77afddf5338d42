"""Makes the attempts of one layer of the sandbox without it: `python -m tests.hostile.unconfined LAYER`.

Prints the names of those that got through as a JSON list.
"""

from __future__ import annotations

import json
import sys

from loader.engine import selftest


def main() -> None:
    trial = selftest.try_once(None, (), [sys.argv[1]])
    sys.stdout.write(json.dumps(trial.through[sys.argv[1]]))


if __name__ == "__main__":
    main()
