"""What is asked of a process itself: whether it lives, whether it can work, and its metrics.

Front end and worker answer under the same paths. Google answers paths that end in z on Cloud Run itself, so
each probe has a second name.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Response
from fastapi.responses import JSONResponse

from loader.stopping import Stopping
from server.http.error_table import PASSING, SOON_SECONDS
from server.metrics.process import CONTENT_TYPE, Metrics

METRICS_PATH = "/metrics"
LIVE_PATHS = ("/healthz", "/health")
READY_PATHS = ("/readyz", "/ready")
PROBE_PATHS = (*LIVE_PATHS, *READY_PATHS, METRICS_PATH)


def add_probes(
    app: FastAPI,
    ready: Callable[[], Awaitable[Response]],
    stopping: Stopping,
    metrics: Metrics | None,
) -> None:
    """Adds the probes' routes.

    Args:
        app: gets them.
        ready: says whether the process can do its work: 200, or 503 and what is missing.
        stopping: whether it was told to end, and is to be given nothing more.
        metrics: what is shown; None when they have a port of their own, and none are found here.
    """

    async def live() -> dict[str, str]:
        return {"status": "ok"}

    for path in LIVE_PATHS:
        app.add_api_route(path, live, include_in_schema=False)

    async def ready_or_when() -> Response:
        is_ending = stopping.has_begun
        response = JSONResponse({"status": "stopping"}, 503) if is_ending else await ready()
        if response.status_code in PASSING:
            response.headers.setdefault("Retry-After", str(SOON_SECONDS))
        return response

    for path in READY_PATHS:
        app.add_api_route(path, ready_or_when, include_in_schema=False, response_model=None)
    if metrics is not None:
        text = metrics.text

        async def show_metrics() -> Response:
            return Response(text(), media_type=CONTENT_TYPE)

        app.add_api_route(METRICS_PATH, show_metrics, include_in_schema=False)
