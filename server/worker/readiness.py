"""Whether a worker's engine may and can take jobs: asked at the worker's start and by every `/readyz`.

A worker whose sandbox is weaker than the setting demands does not start. One whose engine can't be loaded, or
whose disk is full, starts and is not ready.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

import anyio
import anyio.to_thread
from fastapi import Response
from fastapi.responses import JSONResponse

from loader.disk import DISK_FULL
from loader.engine.sandbox import REQUIREMENTS, Layer, mode_of, unmet, why_unmet
from loader.errors import LoaderError

ENGINE_FAILED = "engine"
"""Status of a worker whose engine can't be started."""
DISK_IS_FULL = "disk"
"""Status of a worker on whose disk no conversion can begin."""
_PROBE_SECONDS = 2.0
_PROBES = 2
logger = logging.getLogger(__name__)


class SandboxMissingError(RuntimeError):
    """This machine can't confine conversions as the setting demands; the message says what to do."""


class LayeredEngine(Protocol):
    """An engine that says what confines its conversions."""

    def layers(self) -> tuple[Layer, ...]:
        """The sandbox's layers; starts the engine when it does not run, and waits for it.

        Raises:
            LoaderError: it can't be started.
        """


def shortcomings(mode: str, layers: Sequence[Layer]) -> list[str]:
    """What keeps these layers from being enough for a mode, requirement by requirement."""
    held = {layer.name for layer in layers if layer.holds}
    return [why_unmet(requirement, layers) for requirement in unmet(REQUIREMENTS[mode], held)]


def advice(layers: Sequence[Layer]) -> str:
    """What to set on a machine whose layers are not enough for the mode."""
    possible = mode_of(layers)
    risk = " That is for profiles that you trust only." if possible == "reduced" else ""
    return (
        f"Run the worker where these layers hold, or set XPROF_HUB_SANDBOX={possible} to serve without them."
        f"{risk} docs/operations.md, “Sandbox”, says what each keeps out."
    )


class Readiness:
    """Starts an engine and says whether it runs, in the sandbox that the mode demands."""

    def __init__(
        self, engine: LayeredEngine, mode: str, has_room: Callable[[], bool] = lambda: True
    ) -> None:
        """Starts nothing yet.

        Args:
            engine: what converts.
            mode: one of `loader.engine.sandbox.REQUIREMENTS`.
            has_room: whether the disk has room for a conversion to begin.
        """
        self._engine = engine
        self._has_room = has_room
        self._mode = mode
        self._probes = anyio.CapacityLimiter(_PROBES)

    def start(self) -> None:
        """Starts the engine, which takes a second or two, and logs which layers of its sandbox are missing.

        An engine that can't be started is only logged: the worker lives and is not ready.

        Raises:
            SandboxMissingError: the sandbox is weaker than the mode demands.
        """
        try:
            layers = self._engine.layers()
        except LoaderError as problem:
            logger.error("the engine did not start: %s", problem.message)
            return
        if lacking := shortcomings(self._mode, layers):
            raise SandboxMissingError(
                f"This machine can't confine conversions as XPROF_HUB_SANDBOX={self._mode} demands. Missing: "
                f"{'; '.join(lacking)}. {advice(layers)}"
            )
        if shortcomings("standard", layers):
            logger.warning(
                "XPROF_HUB_SANDBOX=reduced: a profile that takes over XProf may read and change what this "
                "process may. Serve only profiles that you trust."
            )
        for layer in layers:
            if not layer.holds:
                logger.warning(
                    "conversions run without the layer %s of the sandbox: %s",
                    layer.name,
                    layer.detail,
                )

    async def answer(self) -> Response:
        """What `/readyz` says: 200, or 503 with the reason; starts an engine that has died."""
        problem: tuple[str, str] | None = None
        with anyio.move_on_after(_PROBE_SECONDS) as waiting:
            problem = await anyio.to_thread.run_sync(
                self._problem, limiter=self._probes, abandon_on_cancel=True
            )
        if waiting.cancelled_caught:
            return JSONResponse({"status": "starting"}, 503)
        if problem is not None:
            status, message = problem
            return JSONResponse({"status": status, "message": message}, 503)
        return JSONResponse({"status": "ok"})

    def _problem(self) -> tuple[str, str] | None:
        """Status and message of what is wrong."""
        try:
            layers = self._engine.layers()
        except LoaderError as problem:
            return ENGINE_FAILED, problem.message
        # An engine that was started again has tried them again.
        if lacking := shortcomings(self._mode, layers):
            return ENGINE_FAILED, f"The sandbox does not hold: {'; '.join(lacking)}."
        return None if self._has_room() else (DISK_IS_FULL, DISK_FULL)
