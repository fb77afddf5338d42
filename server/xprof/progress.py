"""How far an answer is, as JSON: for XProf's page and for callers of the API who come back for an answer."""

from __future__ import annotations

from fastapi.responses import JSONResponse

from loader.coordination.progress import Phase, Progress
from server.http.preferences import APPLIED_HEADER, RESPOND_ASYNC
from server.schemas.progress import AnswerProgress

_RETRY_AFTER_SECONDS = 1


IDLE = AnswerProgress(state="idle")
READY = AnswerProgress(state="ready")
BEGUN = AnswerProgress(state="running", phase=Phase.WAIT)
"""A worker was asked and has not said anything yet."""


def running(progress: Progress, now: float) -> AnswerProgress:
    """What a worker has posted, at a time in Unix seconds."""
    return AnswerProgress(
        state="running",
        phase=progress.phase,
        # The clocks of two machines may differ.
        seconds=round(max(0.0, now - progress.started), 1),
        ahead=progress.ahead,
        done_bytes=progress.done_bytes,
        total_bytes=progress.total_bytes,
    )


def progress_response(progress: AnswerProgress) -> JSONResponse:
    """The answer to a question about progress."""
    return JSONResponse(progress.model_dump(mode="json"), headers={"Cache-Control": "no-store"})


def accepted_response(progress: AnswerProgress) -> JSONResponse:
    """The 202 for a caller who would rather come back than wait."""
    headers = {
        "Cache-Control": "no-store",
        "Retry-After": str(_RETRY_AFTER_SECONDS),
        "Vary": "Prefer",
        APPLIED_HEADER: RESPOND_ASYNC,
    }
    return JSONResponse(progress.model_dump(mode="json"), 202, headers)
