"""The front end: authenticates links and API calls, answers from the cache, asks workers.

`create_app` is the only place that puts the front end's parts together. It never imports XProf's code; the
static files of XProf's UI are read from the installed package's folder.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import anyio
from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool

from auth.link_seals import LinkSeals
from loader.engine.base import engine_version
from loader.stopping import Stopping
from loader.storage.roots import open_storage
from server.all_routers import all_routers
from server.audit.log import AuditLog
from server.callers.sealing_secret import sealing_secrets
from server.callers.signed_in import open_sign_ins
from server.callers.turned_away import install_turned_away
from server.discovery.service import build_discovery
from server.figures.collecting import Collector
from server.figures.filling import Figures
from server.fleet.addresses import WorkerAddresses
from server.fleet.identity import google_identity
from server.fleet.protocol import worker_credential
from server.fleet.shared_results import open_shared
from server.fleet.workers import IDLE_SECONDS, Workers
from server.http.errors import install_error_handlers
from server.http.front_readiness import FrontReadiness
from server.http.job_path import JobPath
from server.http.middleware import (
    CollapseSlashes,
    Observe,
    PathPrefix,
    SecurityHeaders,
    security_headers,
)
from server.http.probes import METRICS_PATH, PROBE_PATHS, add_probes
from server.limits.middleware import LimitTraffic
from server.limits.service import open_limits
from server.links.answers import install_link_answers
from server.metrics.process import Metrics
from server.registry.database import Database
from server.routes.front_door import ROBOTS_PATH
from server.routes.xprof_progress import QUIET_ROUTES
from server.services import Services, Threads
from server.sessions.recent_listings import RecentListings
from server.settings import Settings
from server.site.content_host import ContentHost
from server.tracing.application import OWN_TELEMETRY_OFF, TracedApp
from server.tracing.spans import open_spans
from server.ui.assets import load_assets
from server.ui.policies import Policies
from server.ui.xprof_files import find_xprof_static
from server.uploads.opening import open_uploads
from server.xprof.deferred import Deferred
from server.xprof.lookups import FrontLookups
from server.xprof.prewarm import Prewarmer, PrewarmRules

_STORAGE_THREADS = 64
_CACHE_THREADS = 64
_PASSWORD_THREADS = 4


def connect_workers(settings: Settings, metrics: Metrics) -> Workers:
    """The front end's side of the workers.

    Raises:
        RuntimeError: they want an identity, and there is none.
    """

    def addresses(urls: Sequence[str]) -> WorkerAddresses:
        return WorkerAddresses(urls, on_eject=metrics.fleet.record_ejection)

    known = (*settings.workers, *settings.large_workers)
    return Workers(
        addresses(settings.workers),
        worker_credential(settings.secret_key),
        settings.request_seconds,
        metrics.worker_retries.inc,
        addresses(settings.large_workers) if settings.large_workers else None,
        idle_seconds=min(IDLE_SECONDS, settings.keep_alive_seconds / 2),
        identity=google_identity(known) if settings.worker_identity == "google" else None,
    )


def build_services(settings: Settings) -> Services:
    """Opens what the routes need; the database is brought up to date unless that is done elsewhere.

    Raises:
        XprofNotInstalledError, RegistryUnusableError: XProf's UI or the database can't be used.
    """
    database = Database(settings.resolved_database_url, settings.database_connections)
    database.make_ready(may_migrate=settings.migrate)
    metrics = Metrics()
    workers = connect_workers(settings, metrics)
    results, progress = open_shared(settings, metrics.fleet.record_hedged_read)
    rules = PrewarmRules(settings.prewarm, settings.prewarm_bytes)
    storage = open_storage(settings.readable_roots)
    version = engine_version(settings.engine)
    assets = load_assets(find_xprof_static(), settings.resolved_asset_cache, settings.path_prefix)
    threads = Threads(
        storage=anyio.CapacityLimiter(_STORAGE_THREADS),
        cache=anyio.CapacityLimiter(_CACHE_THREADS),
        passwords=anyio.CapacityLimiter(_PASSWORD_THREADS),
    )
    collector = Collector(results, workers, version, threads.cache)
    figures = Figures(database, storage, collector, rules, threads.storage)
    prewarmer = Prewarmer(
        database, results, workers, version, rules, metrics.record_prewarm, figures.ask
    )
    return Services(
        settings=settings,
        engine_version=version,
        database=database,
        audit=AuditLog(database),
        storage=storage,
        listings=RecentListings(),
        results=results,
        progress=progress,
        workers=workers,
        deferred=Deferred(),
        prewarmer=prewarmer,
        figures=figures,
        discovery=build_discovery(settings, database, storage, prewarmer, metrics.discovery),
        uploads=open_uploads(settings, database, storage, prewarmer),
        metrics=metrics,
        assets=assets,
        policies=Policies(settings.frame_ancestors, settings.content_url),
        sign_ins=open_sign_ins(settings),
        link_seals=LinkSeals(*sealing_secrets(settings)),
        limits=open_limits(settings, metrics.record_refused_request),
        threads=threads,
        spans=open_spans(settings, "front"),
        lookups=FrontLookups(results, metrics.parts.looked_up),
    )


def create_app(settings: Settings) -> FastAPI:
    """The front end's HTTP application."""
    services = build_services(settings)
    app = TracedApp(
        telemetry=OWN_TELEMETRY_OFF,
        title="XProf Hub",
        summary="Runs, profiler sessions and share links.",
        docs_url=None,
        redoc_url=None,
        lifespan=lambda _app: _running(services),
        # Such a redirect comes before any check of the caller and leads wherever the Host header says.
        redirect_slashes=False,
        separate_input_output_schemas=False,
        servers=[{"url": settings.base_url.rstrip("/") + settings.path_prefix or "/"}],
    )
    app.spans = services.spans
    app.state.services = services
    app.state.stopping = Stopping()
    app.state.stopping.when_letting_go(services.workers.give_up)
    install_error_handlers(app, security_headers(settings.is_tls))
    install_link_answers(app)
    install_turned_away(app)
    _add_probes(app, services)
    for router in all_routers():
        app.include_router(router)
    _add_middleware(app, services)
    return app


@asynccontextmanager
async def _running(services: Services) -> AsyncIterator[None]:
    """Starts what works in the background, and ends it with the application."""
    services.figures.start()
    if services.uploads is not None:
        services.uploads.start_cleaning()
    if services.settings.scan_seconds:
        services.discovery.scanner.start()
    yield
    await services.discovery.scanner.aclose()
    if services.uploads is not None:
        await services.uploads.aclose()
    await services.prewarmer.aclose()
    await services.figures.aclose()
    await services.deferred.aclose()
    await services.workers.aclose()
    services.limits.traffic.close()
    await run_in_threadpool(services.database.close)
    await run_in_threadpool(services.spans.close)


def _add_middleware(app: FastAPI, services: Services) -> None:
    """Outermost last: the prefix is taken off first, then slashes are collapsed, then all is observed."""
    settings = services.settings
    app.add_middleware(
        ContentHost, content_url=settings.content_url, path_prefix=settings.path_prefix
    )
    app.add_middleware(LimitTraffic, limits=services.limits, policies=services.policies)
    app.add_middleware(Observe, metrics=services.metrics, quiet=(*PROBE_PATHS, *QUIET_ROUTES))
    app.add_middleware(JobPath)
    app.add_middleware(CollapseSlashes)
    app.add_middleware(
        PathPrefix,
        prefix=settings.path_prefix,
        always=(*PROBE_PATHS, ROBOTS_PATH),
        private=(METRICS_PATH,),
    )
    app.add_middleware(SecurityHeaders, is_tls=settings.is_tls)


def _add_probes(app: FastAPI, services: Services) -> None:
    metrics = None if services.settings.metrics_port else services.metrics
    readiness = FrontReadiness(services.database)
    add_probes(app, readiness.answer, app.state.stopping, metrics)
