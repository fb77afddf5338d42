"""The worker: converts profiles for front ends, and decides nothing about who may see them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread
from fastapi import FastAPI

from loader.caches.artifacts import ArtifactStore, DirectoryArtifacts
from loader.caches.counted_looks import Look, counted
from loader.caches.hedged_reads import ReadObserver
from loader.caches.redis_results import MOST_BYTES, RedisGuard, RedisResults, connect, hedged_reads
from loader.caches.results import DirectoryResults, ResultStore, TieredResults
from loader.caches.returned_answers import ReturnedAnswers
from loader.conversion.conversion import Converter
from loader.conversion.shadow import ShadowComparisons
from loader.coordination.leases import Leases, ProcessLeases
from loader.coordination.progress import PROGRESS_FOLDER, DirectoryProgress, ProgressBoard
from loader.coordination.redis_leases import RedisLeases
from loader.coordination.redis_progress import RedisProgress
from loader.engine.base import Engine, Limits
from loader.engine.fast import FastEngine
from loader.engine.produced import produced_files
from loader.engine.rs import find_program
from loader.engine.sandbox import REQUIREMENTS
from loader.engine.xprof import XprofEngine, check_pinned
from loader.inspection.limits import InspectionLimits
from loader.intake.remembered import RememberedIntake
from loader.intake.scratch import Scratch
from loader.observing import CacheLayer, ConversionObserver
from loader.redaction.intake import RedactedIntake
from loader.redaction.pseudonyms import Pseudonyms
from loader.service import Retention, ToolDataService
from loader.storage.roots import open_storage
from loader.turns.admission import Admission
from server.fleet.protocol import TOOL_DATA_PATH, worker_credentials
from server.http.middleware import Observe
from server.http.probes import PROBE_PATHS, add_probes
from server.machine.cores import usable_cores
from server.machine.memory import memory_for_conversions
from server.metrics.process import Metrics
from server.settings import Settings
from server.tracing.application import OWN_TELEMETRY_OFF, TracedApp
from server.tracing.conversions import ObservedConversions
from server.tracing.spans import NoSpans, Spans, open_spans
from server.worker.endpoint import answer_with
from server.worker.readiness import Readiness, SandboxMissingError

if TYPE_CHECKING:
    from loader.caches.gcs_artifacts import GcsArtifacts


@dataclass(frozen=True)
class WorkerParts:
    """What one worker consists of."""

    service: ToolDataService
    engine: XprofEngine | FastEngine
    scratch: Scratch

    def close(self) -> None:
        """Ends conversions, then downloads; returns when nothing is under way any more."""
        self.service.stopping.let_go()
        self.engine.close()
        self.scratch.close()


@dataclass(frozen=True)
class Shared:
    """What workers and front ends have in common.

    Attributes:
        results: finished answers.
        first_look: into the same, counted.
        give_way: frees so many bytes of this machine's disk, if that many are kept there.
        leases: who makes which answer.
        progress: how far the work on an answer is.
    """

    results: ResultStore
    first_look: Look
    give_way: Callable[[int], None]
    leases: Leases
    progress: ProgressBoard


def open_shared(
    settings: Settings, observer: ConversionObserver, on_hedged_read: ReadObserver
) -> Shared:
    """Results in the directory on this machine, in front of Redis when there is one; the rest in Redis, too.

    All use one connection and one guard, so that a stopped Redis is noticed once.
    """
    near = DirectoryResults(settings.data_dir / "results", settings.cache_bytes)
    look_near = counted(near.open, CacheLayer.DISK, observer.looked_up)
    if not settings.redis_url:
        board = DirectoryProgress(settings.data_dir / PROGRESS_FOLDER)
        return Shared(near, look_near, near.give_way, ProcessLeases(), board)
    client, guard = connect(settings.redis_url), RedisGuard()
    reads = hedged_reads(client, settings.redis_url, settings.redis_replica_url, on_hedged_read)
    far = RedisResults(client, guard, reads)
    returned = ReturnedAnswers(near, far, lambda: guard.is_paused, MOST_BYTES)
    look_near = returned.looking(look_near)
    look_far = counted(far.open, CacheLayer.REDIS, observer.looked_up, lambda: guard.is_paused)
    return Shared(
        TieredResults(near, far),
        lambda key: look_near(key) or look_far(key),
        near.give_way,
        RedisLeases(client, guard),
        RedisProgress(client, guard),
    )


def open_artifacts(settings: Settings) -> DirectoryArtifacts | GcsArtifacts:
    """The shared artifacts, in a bucket or a directory.

    Raises:
        LoaderError: there are no credentials for the bucket, or it has no name.
    """
    root = settings.resolved_cache_root
    if root.startswith("gs://"):
        # Google's client takes 30 MB of memory, which a process without a bucket can spare.
        from loader.caches.gcs_artifacts import connect_gcs_artifacts

        return connect_gcs_artifacts(root)
    return DirectoryArtifacts(Path(root), settings.artifact_bytes)


def build_parts(settings: Settings, metrics: Metrics, spans: Spans | None = None) -> WorkerParts:
    """Puts a worker together.

    Args:
        settings: its configuration.
        metrics: told of what it does.
        spans: likewise; None makes none.

    Raises:
        RuntimeError: the installed xprof is not the pinned one, or xprof-rs is needed and not installed.
        LoaderError: a storage root or the cache root can't be used.
    """
    check_pinned()
    storage = open_storage(settings.readable_roots)
    artifacts = open_artifacts(settings)
    observer = ObservedConversions(metrics.parts, spans or NoSpans())
    shared = open_shared(settings, observer, metrics.fleet.record_hedged_read)
    scratch = Scratch(
        settings.data_dir / "scratch", settings.scratch_bytes, storage, give_way=shared.give_way
    )
    admission = Admission(
        slots=settings.conversions or usable_cores(),
        memory_bytes=settings.memory_bytes or memory_for_conversions(),
        seconds=settings.conversion_seconds,
        observer=metrics.admission,
        most_waiting=settings.most_waiting,
    )
    metrics.admission.watch(admission.line)
    metrics.fleet.watch_disk(scratch.has_room)
    engine = _build_engine(settings, metrics, scratch, admission)
    service = ToolDataService(
        storage=storage,
        results=shared.results,
        first_look=shared.first_look,
        artifacts=artifacts,
        leases=shared.leases,
        converter=_build_converter(
            settings, metrics, observer, engine, scratch, artifacts, admission
        ),
        retention=Retention(settings.result_ttl_seconds, settings.error_ttl_seconds),
        progress=shared.progress,
    )
    return WorkerParts(service, engine, scratch)


def _build_engine(
    settings: Settings, metrics: Metrics, scratch: Scratch, admission: Admission
) -> XprofEngine | FastEngine:
    layers = REQUIREMENTS[settings.sandbox]
    if settings.engine == "xprof":
        return XprofEngine(required_layers=layers)
    xprof = XprofEngine(required_layers=layers, program=find_program())
    shadow = ShadowComparisons(
        xprof, scratch, admission, settings.shadow_fraction, metrics.record_shadow_comparison
    )
    return FastEngine(xprof, metrics.record_fast_attempt, shadow)


def _build_converter(
    settings: Settings,
    metrics: Metrics,
    observer: ConversionObserver,
    engine: Engine,
    scratch: Scratch,
    artifacts: ArtifactStore,
    admission: Admission,
) -> Converter:
    inspection = _inspection_limits(settings)
    intake = RememberedIntake(inspection)
    # One for each key: a front end that has not changed it yet asks for the pseudonyms of the old one.
    redacted = [
        RedactedIntake(intake, Pseudonyms(key), scratch, inspection)
        for key in (settings.secret_key, *settings.accepted_secret_keys)
    ]
    return Converter(
        engine=engine,
        workspace=scratch,
        artifacts=artifacts,
        intake=intake,
        redacted_intakes=redacted,
        limits=Limits(settings.conversion_seconds, settings.conversion_memory_bytes),
        admission=admission,
        record=metrics.conversions.record,
        produced_files=produced_files,
        observer=observer,
    )


def _inspection_limits(settings: Settings) -> InspectionLimits:
    return InspectionLimits(
        planes=settings.most_planes,
        device_planes=settings.most_device_planes,
        lines=settings.most_lines,
        events=settings.most_events,
        name_bytes=settings.longest_name_bytes,
        modules=settings.most_modules,
        unpacked_bytes=settings.unpacked_bytes,
    )


def create_worker_app(settings: Settings) -> FastAPI:
    """The worker's HTTP application, with an engine that has started or said why it can't.

    Raises:
        SandboxMissingError: this machine can't confine conversions as the settings demand.
        RuntimeError: the installed xprof is not the pinned one.
        LoaderError: a storage root or the cache root can't be used.
    """
    metrics, spans = Metrics(), open_spans(settings, "worker")
    parts = build_parts(settings, metrics, spans)
    readiness = Readiness(parts.engine, settings.sandbox, parts.scratch.has_room)
    try:
        readiness.start()
    except SandboxMissingError:
        parts.close()
        raise

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        await anyio.to_thread.run_sync(parts.close)
        await anyio.to_thread.run_sync(spans.close)

    app = TracedApp(
        telemetry=OWN_TELEMETRY_OFF,
        title="XProf Hub worker",
        lifespan=lifespan,
        docs_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    app.add_middleware(Observe, metrics=metrics, quiet=PROBE_PATHS)
    app.spans = spans
    app.state.metrics = metrics
    app.state.stopping = parts.service.stopping
    add_probes(
        app, readiness.answer, parts.service.stopping, None if settings.metrics_port else metrics
    )
    keys = (settings.secret_key, *settings.accepted_secret_keys)
    answer = answer_with(parts.service, worker_credentials(keys))
    app.add_api_route(TOOL_DATA_PATH, answer, methods=["POST"], response_model=None)
    return app
