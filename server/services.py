"""What a front end's routes are given: made once in `server.app`, passed in, never global."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import anyio
from fastapi import Depends, Request

from auth.link_seals import LinkSeals
from loader.caches.results import ResultStore
from loader.coordination.progress import ProgressBoard
from loader.storage.base import Storage
from server.audit.log import AuditLog
from server.callers.sign_ins import SignIns
from server.discovery.service import Discovery
from server.figures.filling import Figures
from server.fleet.workers import Workers
from server.limits.service import Limits
from server.metrics.process import Metrics
from server.registry.database import Database
from server.sessions.recent_listings import RecentListings
from server.settings import Settings
from server.tracing.spans import Spans
from server.ui.assets import Assets
from server.ui.policies import Policies
from server.uploads.service import Uploads
from server.xprof.deferred import Deferred
from server.xprof.lookups import FrontLookups
from server.xprof.prewarm import Prewarmer


@dataclass(frozen=True)
class Threads:
    """How many threads may wait for each kind of thing, so that a slow bucket stops nothing else."""

    storage: anyio.CapacityLimiter
    cache: anyio.CapacityLimiter
    passwords: anyio.CapacityLimiter


@dataclass(frozen=True)
class Services:
    """The parts that routes work with.

    Attributes:
        engine_version: names the workers' engine in every answer's key.
        figures: makes sessions' summaries in the background; pages that miss one ask for it.
        uploads: takes them in, or None when there is no place for them.
    """

    settings: Settings
    engine_version: str
    database: Database
    audit: AuditLog
    storage: Storage
    listings: RecentListings
    results: ResultStore
    progress: ProgressBoard
    workers: Workers
    deferred: Deferred
    prewarmer: Prewarmer
    figures: Figures
    discovery: Discovery
    uploads: Uploads | None
    metrics: Metrics
    assets: Assets
    policies: Policies
    sign_ins: SignIns
    link_seals: LinkSeals
    limits: Limits
    threads: Threads
    spans: Spans
    lookups: FrontLookups


def get_services(request: Request) -> Services:
    """The services of the app that serves this request."""
    services = request.app.state.services
    if not isinstance(services, Services):
        raise TypeError("create_app must set app.state.services")
    return services


async def _services_of(request: Request) -> Services:
    # A dependency that is no coroutine gets a thread, which costs each request more than this does.
    return get_services(request)


ServicesDependency = Annotated[Services, Depends(_services_of)]
