"""What deploy/terraform tells the hub's parts is what they start with, seen in the production example."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from server.serve import check_start
from server.settings import Settings
from tests.services.terraform import MODULE, OfflineTerraform, offline_terraform

__all__ = ["offline_terraform"]
PREFIX = "XPROF_HUB_"
KNOWN_AFTER_APPLY = {
    "XPROF_HUB_WORKERS": "https://worker.example.run.app",
    "XPROF_HUB_LARGE_WORKERS": "https://large-worker.example.run.app",
    "XPROF_HUB_IAP_AUDIENCE": "/projects/1/global/backendServices/2",
    "XPROF_HUB_SECRET_KEY": "a-long-random-value-of-this-deployment",
    "XPROF_HUB_REDIS_URL": "rediss://:secret@10.0.0.3:6378/0",
    "XPROF_HUB_REDIS_REPLICA_URL": "rediss://:secret@10.0.0.4:6378/0",
}
"""What a plan can't say: addresses that Google chooses, and secrets."""


def resources(module: object) -> Iterator[dict[str, object]]:
    """All resources of a planned module and of those in it."""
    assert isinstance(module, dict)
    yield from module.get("resources", [])
    for child in module.get("child_modules", []):
        yield from resources(child)


def cpus(limit: str) -> float:
    """CPUs of a limit such as `2` or `500m`."""
    return float(limit[:-1]) / 1000 if limit.endswith("m") else float(limit)


def gibs(limit: str) -> float:
    """GiB of a limit such as `2Gi` or `512Mi`."""
    return float(limit[:-2]) / (1024 if limit.endswith("Mi") else 1)


def environment_of(resource: dict[str, object]) -> dict[str, str]:
    """The hub's settings of a service's or job's first container."""
    values = resource["values"]
    assert isinstance(values, dict)
    template = values["template"][0]
    template = template["template"][0] if "template" in template else template
    pairs = {env["name"]: env.get("value") for env in template["containers"][0]["env"]}
    return {
        name: value or KNOWN_AFTER_APPLY[name]
        for name, value in pairs.items()
        if name.startswith(PREFIX)
    }


@pytest.fixture(scope="module")
def planned(
    offline_terraform: OfflineTerraform, tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, object]]:
    """Everything that the production example would make."""
    folder = MODULE / "examples" / "production"
    plan = offline_terraform.plan(folder, tmp_path_factory.mktemp("plan"))
    return list(resources(plan["planned_values"]["root_module"]))


@pytest.fixture(scope="module")
def environments(planned: list[dict[str, object]]) -> dict[str, dict[str, str]]:
    """The settings of every part of the production example, by the part's name."""
    kinds = {"google_cloud_run_v2_service", "google_cloud_run_v2_job"}
    found = {}
    for resource in planned:
        values = resource["values"]
        assert isinstance(values, dict)
        if resource["type"] in kinds and values["name"] != "xprof-hub-setup":
            found[values["name"]] = environment_of(resource)
    return found


def settings_of(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> Settings:
    """What a part reads; the image sets the host, and a folder that can be written."""
    for name, value in {
        **environment,
        "XPROF_HUB_HOST": "0.0.0.0",
        "XPROF_HUB_DATA_DIR": str(folder),
    }.items():
        monkeypatch.setenv(name, value)
    return Settings()


def test_the_smallest_example_fits_into_a_new_project(
    offline_terraform: OfflineTerraform, tmp_path: Path
) -> None:
    """Cloud Run refuses a service whose `max_instances` could take more than the quota: 20 CPUs, 40 GiB."""
    options = ["-var=project=example-project", "-var=region=europe-west4"]
    plan = offline_terraform.plan(MODULE / "examples" / "minimal", tmp_path, options)
    services = 0
    for resource in resources(plan["planned_values"]["root_module"]):
        values = resource["values"]
        assert isinstance(values, dict)
        if resource["type"] != "google_cloud_run_v2_service":
            continue
        template = values["template"][0]
        limits = [container["resources"][0]["limits"] for container in template["containers"]]
        most = template["scaling"][0]["max_instance_count"]
        assert most * sum(cpus(limit["cpu"]) for limit in limits) <= 20
        assert most * sum(gibs(limit["memory"]) for limit in limits) <= 40
        services += 1
    assert services == 3


def test_all_parts_are_told_real_settings(environments: dict[str, dict[str, str]]) -> None:
    workers = {"xprof-hub-worker", "xprof-hub-large-worker"}
    jobs = {"xprof-hub-migrate", "xprof-hub-prune"}
    assert set(environments) == {"xprof-hub-front"} | jobs | workers
    for environment in environments.values():
        assert {name.removeprefix(PREFIX).lower() for name in environment} <= set(
            Settings.model_fields
        )


def test_a_front_end_starts_with_them_in_production(
    environments: dict[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = settings_of(environments["xprof-hub-front"], monkeypatch, tmp_path)
    check_start(settings, "front")
    assert settings.environment == "production"
    assert settings.advice_for_production() == []
    assert settings.admins == ("user:ann@example.org",)
    assert settings.storage_roots == ("gs://example-research", "gs://example-training/runs")
    assert settings.scan_roots == settings.storage_roots
    assert settings.link_days == 14
    assert not settings.migrate, "a job does that, before"
    assert settings.worker_identity == "google"
    assert settings.redis_replica_url


@pytest.mark.parametrize(
    ("part", "gib"),
    [("xprof-hub-worker", 24 - 0.5 - 6 - 1 - 1), ("xprof-hub-large-worker", 32 - 4 - 1 - 1)],
)
def test_workers_start_with_them_in_production(
    environments: dict[str, dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    part: str,
    gib: float,
) -> None:
    settings = settings_of(environments[part], monkeypatch, tmp_path)
    check_start(settings, "worker")
    assert settings.environment == "production"
    assert settings.memory_bytes == settings.conversion_memory_bytes == gib * 2**30
    assert settings.database_url == ""
    assert settings.redis_replica_url


@pytest.mark.parametrize("part", ["front", "worker", "large-worker"])
def test_services_end_in_time_and_hide_their_metrics(
    environments: dict[str, dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    part: str,
) -> None:
    """Cloud Run kills after 10 s, of which a worker needs 3 to end; its proxies keep connections 600 s."""
    settings = settings_of(environments[f"xprof-hub-{part}"], monkeypatch, tmp_path)
    assert settings.stop_seconds + 3 < 10
    assert settings.keep_alive_seconds > 600
    assert settings.metrics_port == 9464 != settings.port
    assert settings.google_project == "example-xprof"


@pytest.mark.parametrize(("part", "user"), [("migrate", "migrate"), ("prune", "jobs")])
def test_jobs_reach_the_same_database(
    environments: dict[str, dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    part: str,
    user: str,
) -> None:
    settings = settings_of(environments[f"xprof-hub-{part}"], monkeypatch, tmp_path)
    front = environments["xprof-hub-front"]["XPROF_HUB_DATABASE_URL"]
    assert settings.database_url == front.replace("xprof-hub-front", f"xprof-hub-{user}")
    assert not settings.migrate
    assert settings.problems_with_people() == [], "so that a doctor that runs there finds none"


def test_memory_of_an_instance_fits_its_cpus(planned: list[dict[str, object]]) -> None:
    """Google's table: at most 4 GiB for each CPU, and at least 2 GiB for 4 CPUs, 4 GiB for 6 and 8.

    It does not say whether sidecars count, so all containers together have to fit the CPUs of the first, too.
    """
    least = {1: 0.5, 2: 0.5, 4: 2, 6: 4, 8: 4}
    services = 0
    for resource in planned:
        values = resource["values"]
        assert isinstance(values, dict)
        if resource["type"] != "google_cloud_run_v2_service":
            continue
        containers = values["template"][0]["containers"]
        limits = [container["resources"][0]["limits"] for container in containers]
        first = cpus(limits[0]["cpu"])
        assert least[int(first)] <= gibs(limits[0]["memory"])
        assert sum(gibs(limit["memory"]) for limit in limits) <= 4 * first
        services += 1
    assert services == 3


def test_everything_that_takes_labels_has_them(planned: list[dict[str, object]]) -> None:
    own = {"app": "xprof-hub", "managed-by": "terraform", "team": "ml-performance"}
    labelled = 0
    for resource in planned:
        values = resource["values"]
        assert isinstance(values, dict)
        if resource["type"] == "google_monitoring_notification_channel":
            continue  # the example's own; these labels are its address
        for name in {"labels", "user_labels"} & set(values):
            assert own.items() <= (values[name] or {}).items(), resource["address"]
            labelled += 1
    assert labelled > 30


def test_parts_share_buckets(environments: dict[str, dict[str, str]]) -> None:
    for name in ("CACHE_ROOT", "UPLOAD_ROOT", "STORAGE_ROOTS"):
        assert len({environment[PREFIX + name] for environment in environments.values()}) == 1
