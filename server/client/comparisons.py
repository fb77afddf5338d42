"""Comparisons of two sessions of a hub."""

from __future__ import annotations

import time
from collections.abc import Callable

from server.client.transport import Call, Transport
from server.schemas.comparisons import Comparison, ComparisonState

_LOOK_SECONDS = 1.0


class Comparisons:
    """Compares sessions; every method raises `HubError`."""

    def __init__(
        self,
        transport: Transport,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transport = transport
        self._sleep = sleep
        self._clock = clock

    def get(
        self,
        left: str,
        right: str,
        *,
        op_limit: int = 50,
        wait_seconds: float = 0.0,
        on_wait: Callable[[Comparison], None] | None = None,
    ) -> Comparison:
        """Compares two sessions, as far as their figures are made.

        Args:
            left: `RUN/SESSION`, what the right one is compared with.
            right: `RUN/SESSION`.
            op_limit: at most so many operations.
            wait_seconds: how long to wait for figures that are being made.
            on_wait: hears about once a second that they are.

        Returns:
            A comparison that is still `PENDING` when the figures were not made in that time.
        """
        parameters = {"left": left, "right": right, "opLimit": str(op_limit)}
        call = Call("GET", "/comparisons", parameters, is_repeatable=True)
        end = self._clock() + wait_seconds
        while True:
            found = self._transport.send(call, Comparison)
            if found.state is not ComparisonState.PENDING or self._clock() >= end:
                return found
            if on_wait is not None:
                on_wait(found)
            self._sleep(_LOOK_SECONDS)
