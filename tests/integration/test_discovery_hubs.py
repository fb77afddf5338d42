"""Discovery in real hubs: a bucket's emulator, several front ends, and what follows what is found."""

from __future__ import annotations

import json
import os
import time
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import update

from server.discovery.scanner import LEASE
from server.registry.database import Database
from server.registry.models import LeaseRow
from tests.services.cluster import SECRET
from tests.services.gcs import GcsEmulator
from tests.services.hub import HubFactory, HubProcess, copy_of
from tests.services.pair import until

NAMES = ("2025_01_01_12_00_00", "2025_02_01_12_00_00")


def read(hub: HubProcess, path: str) -> dict[str, object]:
    try:
        with urllib.request.urlopen(f"{hub.url}/v1/machineLearningRuns{path}") as answer:
            found: dict[str, object] = json.load(answer)
            return found
    except urllib.error.HTTPError as problem:
        if problem.code == 404:
            return {}
        raise


def sessions_of(hub: HubProcess, run: str) -> list[str]:
    found = read(hub, f"/{run}/profilerSessions").get("profilerSessions", [])
    assert isinstance(found, list)
    return sorted(session["name"].rpartition("/")[2] for session in found)


def runs_of(hub: HubProcess) -> list[str]:
    found = read(hub, "").get("machineLearningRuns", [])
    assert isinstance(found, list)
    return sorted(run["name"].rpartition("/")[2] for run in found)


def metric(hub: HubProcess, name: str) -> float:
    """Sum of a metric over its labels."""
    with urllib.request.urlopen(f"{hub.url}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))


def end_lease(url: str) -> None:
    """Lets the time of the lease be over, which a front end that died would hold for half a minute."""
    database = Database(url)
    with database.writing() as session:
        over = datetime(2026, 1, 1, tzinfo=UTC)
        session.execute(update(LeaseRow).where(LeaseRow.name == LEASE).values(until=over))
    database.close()


def test_front_ends_find_a_buckets_runs_once_and_take_over(
    hubs: HubFactory, gcs_emulator: GcsEmulator, registry_url: str
) -> None:
    bucket = f"found-{time.monotonic_ns()}"
    gcs_emulator.create_bucket(bucket)
    root = f"gs://{bucket}/team"
    env = {
        "XPROF_HUB_STORAGE_ROOTS": root,
        "XPROF_HUB_SCAN_ROOTS": f"{root}/",
        "XPROF_HUB_SCAN_SECONDS": "1",
        "XPROF_HUB_AUTO_REGISTER": "true",
        "XPROF_HUB_DATABASE_URL": registry_url,
        "XPROF_HUB_SECRET_KEY": SECRET,
        "XPROF_HUB_WORKERS": "http://127.0.0.1:9",
        "STORAGE_EMULATOR_HOST": gcs_emulator.url,
    }
    for run in ("r1", "r2"):
        for name in NAMES:
            gcs_emulator.upload(bucket, f"team/{run}/plugins/profile/{name}/h0.xplane.pb", b"p")
        gcs_emulator.upload(bucket, f"team/{run}/checkpoints/1/weights", b"w")
    first, second = hubs.start(env, only="front"), hubs.start(env, only="front")
    until(lambda: runs_of(second) == ["r1", "r2"])
    until(lambda: [sessions_of(second, run) for run in ("r1", "r2")] == [sorted(NAMES)] * 2)
    looks = [metric(hub, "xprof_hub_scan_looks_total") for hub in (first, second)]
    assert min(looks) == 0, "one front end looks at a time"
    holder, other = (first, second) if looks[0] else (second, first)
    assert metric(holder, "xprof_hub_scan_listings_total") > 0
    holder.kill()
    end_lease(registry_url)
    gcs_emulator.upload(bucket, f"team/r3/plugins/profile/{NAMES[0]}/h0.xplane.pb", b"p")
    until(lambda: sessions_of(other, "r3") == [NAMES[0]])
    assert runs_of(other) == ["r1", "r2", "r3"]


def test_a_found_session_is_converted_before_anybody_opens_it(
    hubs: HubFactory, small_session: Path, tmp_path: Path
) -> None:
    root = tmp_path / "profiles"
    folder = copy_of(small_session, root / "job" / "plugins" / "profile" / NAMES[0])
    written = time.time() - 2 * 3600  # as if nothing had been written for two hours
    for path in folder.iterdir():
        os.utime(path, (written, written))
    hub = hubs.start(
        {
            "XPROF_HUB_STORAGE_ROOTS": str(root),
            "XPROF_HUB_SCAN_ROOTS": str(root),
            "XPROF_HUB_AUTO_REGISTER": "true",
            "XPROF_HUB_PREWARM": "true",
        }
    )
    session = f"/job/profilerSessions/{NAMES[0]}"
    until(lambda: read(hub, session).get("prewarm") == "done", 150)
    found = read(hub, session)
    assert (found["kind"], found["state"]) == ("SCANNED", "COMPLETE")
    assert metric(hub, "xprof_hub_scan_last_pass_timestamp_seconds") > time.time() - 300
