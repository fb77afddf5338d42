"""Asking workers for what nobody waits for: who is sent away because they are busy comes again.

Ends with an answer, or another failure; how long that may take is the caller's matter.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from loader.errors import COMES_BACK, LoaderError
from loader.keys import ToolRequest
from loader.turns.admission import Urgency
from server.fleet.workers import WorkerAnswer
from server.http.coming_back import seconds_of_page


class Asked(Protocol):
    """Who is asked (`server.fleet.workers.Workers`)."""

    async def get(self, request: ToolRequest, urgency: Urgency = Urgency.PERSON) -> WorkerAnswer:
        """The answer, which the caller closes; raises `LoaderError`."""


async def ask_patiently(
    workers: Asked,
    request: ToolRequest,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> WorkerAnswer:
    """An answer that is made ahead of time, once a worker has a place for it.

    Raises:
        LoaderError: why there is none; one that passes only where no worker has said when to come again.
    """
    while True:
        try:
            return await workers.get(request, Urgency.PREWARM)
        except LoaderError as error:
            if error.code not in COMES_BACK or error.retry_after is None:
                raise
            await sleep(seconds_of_page(error.retry_after))
