"""Whether a worker's engine can take jobs: started at the worker's start, asked again by every `/readyz`."""

from __future__ import annotations

import logging
from typing import Protocol

import anyio
import anyio.to_thread
from fastapi import Response
from fastapi.responses import JSONResponse

from loader.engine.sandbox import Layer
from loader.errors import LoaderError

ENGINE_FAILED = "engine"
"""Status of a worker whose engine can't be started."""
_PROBE_SECONDS = 2.0
_PROBES = 2
logger = logging.getLogger(__name__)


class LayeredEngine(Protocol):
    """An engine that says what confines its conversions."""

    def layers(self) -> tuple[Layer, ...]:
        """The sandbox's layers; starts the engine when it does not run, and waits for it.

        Raises:
            LoaderError: it can't be started.
        """


class Readiness:
    """Starts an engine and says whether it runs."""

    def __init__(self, engine: LayeredEngine) -> None:
        self._engine = engine
        self._probes = anyio.CapacityLimiter(_PROBES)

    def start(self) -> None:
        """Starts the engine, which takes a second or two, and logs which layers of its sandbox are missing.

        An engine that can't be started is only logged: the worker lives and is not ready.
        """
        try:
            layers = self._engine.layers()
        except LoaderError as problem:
            logger.error("the engine did not start: %s", problem.message)
            return
        for layer in layers:
            if not layer.holds:
                logger.warning(
                    "conversions run without the layer %s of the sandbox: %s",
                    layer.name,
                    layer.detail,
                )

    async def answer(self) -> Response:
        """What `/readyz` says: 200, or 503 with the reason; starts an engine that has died."""
        problem: str | None = None
        with anyio.move_on_after(_PROBE_SECONDS) as waiting:
            problem = await anyio.to_thread.run_sync(
                self._problem, limiter=self._probes, abandon_on_cancel=True
            )
        if waiting.cancelled_caught:
            return JSONResponse({"status": "starting"}, 503)
        if problem is not None:
            return JSONResponse({"status": ENGINE_FAILED, "message": problem}, 503)
        return JSONResponse({"status": "ok"})

    def _problem(self) -> str | None:
        try:
            self._engine.layers()
        except LoaderError as problem:
            return problem.message
        return None
