"""Puts pruning together after the settings of an installation, and lets one at a time do it.

The lease saves work, and keeps two reports from sharing one set of numbers; `prune` is right without it.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

from loader.storage.roots import open_storage
from server.fleet.shared_results import open_shared
from server.lifecycle.originals import Originals
from server.lifecycle.prune import Places, Pruner, PruneReport, PruneRules
from server.registry.database import Database
from server.registry.leases import give_lease_back, take_lease
from server.settings import Settings
from server.worker.app import open_artifacts

LEASE = "prune"
LASTING = timedelta(minutes=2)
"""After so long without a sign of life another may begin; between two signs lies one page of work."""


def open_places(settings: Settings) -> Places:
    """What is in storage of sessions that are gone.

    Raises:
        LoaderError: there are no credentials for a bucket, or a root is none.
    """
    results, _ = open_shared(settings)
    originals = None
    if settings.delete_profiles:
        originals = Originals(open_storage(settings.readable_roots), settings.readable_roots)
    return Places((results, open_artifacts(settings)), originals)


def prune_once(settings: Settings, *, is_dry: bool = False) -> PruneReport | None:
    """One pass over everything; None when another process is at it.

    Raises:
        RegistryUnusableError, sqlalchemy.exc.SQLAlchemyError: the database can't be used.
        LoaderError: as `open_places`.
    """
    settings = settings.with_local_uploads()
    database = Database(settings.resolved_database_url, settings.database_connections)
    holder = uuid.uuid4().hex

    def keep_on() -> bool:
        now = datetime.now(UTC)
        return is_dry or take_lease(database, LEASE, holder, now=now, lasting=LASTING)

    try:
        database.make_ready(may_migrate=settings.migrate)
        places = open_places(settings)
        if not keep_on():
            return None
        rules = PruneRules(
            timedelta(days=settings.delete_grace_days), timedelta(days=settings.audit_days)
        )
        pruner = Pruner(database, places, rules, keep_on, is_dry=is_dry)
        try:
            return pruner.run(datetime.now(UTC))
        finally:
            if not is_dry:
                give_lease_back(database, LEASE, holder)
    finally:
        database.close()
