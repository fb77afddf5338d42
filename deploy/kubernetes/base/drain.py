"""What a pod does before it is told to end: it goes on answering until nobody waits for it any more.

Kubernetes takes a pod out of its Service when it begins to delete it, but those who know its address ask on
until they look it up again. So this stays `--least` seconds in any case, then until no request is in flight,
and at most `--most` seconds; then comes SIGTERM. It runs in the image, as a preStop hook, and uses nothing
but Python's own library.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import urllib.request

IN_FLIGHT = "xprof_hub_requests_in_flight "
OWN_REQUESTS = 1
"""The question for the metrics is a request in flight itself."""


def in_flight(url: str) -> int:
    """Requests that the process answers at this moment, besides our own.

    Raises:
        OSError: it does not answer.
        ValueError: it does not say so.
    """
    with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - an address of this pod
        for line in answer.read().decode().splitlines():
            if line.startswith(IN_FLIGHT):
                return int(float(line.removeprefix(IN_FLIGHT))) - OWN_REQUESTS
    raise ValueError(f"{url} does not say how many requests are in flight")


def drain(url: str, least: float, most: float, pause: float = 1.0) -> bool:
    """Waits until nobody is being answered.

    Args:
        url: of the process's metrics.
        least: seconds to stay in any case.
        most: seconds to stay at most.
        pause: seconds between two looks.

    Returns:
        Whether nobody was being answered at the end.
    """
    start = time.monotonic()
    time.sleep(least)
    while True:
        try:
            if in_flight(url) <= 0:
                return True
        except (OSError, ValueError) as problem:
            # Without a process nobody waits; one that is too busy to say is asked again.
            print(f"drain: {problem}", file=sys.stderr)  # noqa: T201 - the kubelet shows it
            if isinstance(getattr(problem, "reason", problem), ConnectionRefusedError):
                return True
        if time.monotonic() - start + pause > most:
            return False
        time.sleep(pause)


def main() -> None:
    """Reads the arguments, and waits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--least", type=float, required=True)
    parser.add_argument("--most", type=float, required=True)
    arguments = parser.parse_args()
    port = os.environ.get("XPROF_HUB_PORT", "8080")
    drain(f"http://127.0.0.1:{port}/metrics", arguments.least, arguments.most)


if __name__ == "__main__":
    main()
