"""deploy/compose.yaml has the shape of a deployment, and every setting in it is real."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from server.serve import check_start
from server.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
GIVEN = {
    "XPROF_HUB_SECRET_KEY": "a-long-random-value-of-this-deployment",
    "XPROF_HUB_OLD_SECRET_KEYS": "a-former-one-that-is-as-long-as-it-has-to-be",
}
"""What the person who starts it sets."""
VARIABLE = re.compile(r"\$\{(\w+)(?:(:-|:\?)([^}]*))?\}")

Compose = dict[str, dict[str, dict[str, object]]]


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, object]]:
    compose: Compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
    return compose["services"]


def resolved(text: str) -> str:
    """A value with its `${NAME:-default}` filled in."""

    def value(match: re.Match[str]) -> str:
        name, kind, default = match.groups()
        if name in GIVEN:
            return GIVEN[name]
        assert kind == ":-", f"{name} has no default and nobody sets it"
        return str(default)

    return VARIABLE.sub(value, text)


def hub_environment(service: dict[str, object]) -> dict[str, str]:
    environment = service["environment"]
    assert isinstance(environment, dict)
    return {
        name: resolved(str(value))
        for name, value in environment.items()
        if name.startswith("XPROF_HUB_")
    }


def settings_of(service: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The settings that a container of this service gets: the image's, then its own."""
    monkeypatch.setenv("XPROF_HUB_ENVIRONMENT", "production")
    monkeypatch.setenv("XPROF_HUB_AUTH", "token")
    monkeypatch.setenv("XPROF_HUB_HOST", "0.0.0.0")
    for name, value in hub_environment(service).items():
        assert name.removeprefix("XPROF_HUB_").lower() in Settings.model_fields, name
        monkeypatch.setenv(name, value)
    return Settings()


def test_services_are_those_of_a_deployment(services: dict[str, dict[str, object]]) -> None:
    of_the_hub = {"migrate", "front", "worker", "large-worker", "prune"}
    assert set(services) == of_the_hub | {"redis", "postgres", "gcs"}
    assert {name for name, service in services.items() if "profiles" in service} == {"large-worker"}
    assert services["worker"]["deploy"]["replicas"] == 2  # type: ignore[index]


def test_health_is_asked_of_those_alone_that_answer_requests(
    services: dict[str, dict[str, object]],
) -> None:
    for name in ("migrate", "front", "worker", "large-worker", "prune"):
        command = services[name]["command"]
        assert isinstance(command, list)
        checks = services[name].get("healthcheck")
        assert checks == (None if command[0] == "serve" else {"disable": True}), name


@pytest.mark.parametrize("name", ["front", "worker"])
def test_settings_are_accepted_in_production(
    services: dict[str, dict[str, object]], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(services[name], monkeypatch)
    check_start(settings, "front" if name == "front" else "worker")


def test_front_and_worker_agree_on_what_they_share(
    services: dict[str, dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    front = settings_of(services["front"], monkeypatch)
    worker = settings_of(services["worker"], monkeypatch)
    keys = ("secret_key", "old_secret_keys")
    for shared in (*keys, "redis_url", "database_url", "storage_roots", "cache_root"):
        assert getattr(front, shared) == getattr(worker, shared), shared


def test_what_is_due_is_deleted_once_a_day_where_the_others_keep_it(
    services: dict[str, dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert services["prune"]["image"] == "xprof-hub"
    assert services["prune"]["command"] == ["prune", "--every", "24"]
    front = settings_of(services["front"], monkeypatch)
    prune = settings_of(services["prune"], monkeypatch)
    shared = ("redis_url", "database_url", "storage_roots", "upload_root", "cache_root")
    for name in (*shared, "delete_grace_days", "delete_profiles", "audit_days"):
        assert getattr(front, name) == getattr(prune, name), name


def test_addresses_name_services(services: dict[str, dict[str, object]]) -> None:
    environment = services["front"]["environment"]
    assert isinstance(environment, dict)
    text = " ".join(resolved(str(value)) for value in environment.values())
    hosts = set(re.findall(r"(?:@|//)([a-z]+):\d+", text))
    assert {"worker", "redis", "postgres", "gcs"} <= hosts
    assert hosts - {"localhost"} <= set(services)


def test_both_parts_run_the_image_and_wait_for_healthy_services(
    services: dict[str, dict[str, object]],
) -> None:
    for name in ("front", "worker"):
        assert services[name]["image"] == "xprof-hub"
        assert services[name]["command"] == ["serve", "--only", name]
        healthy = waited_for(services, name, "service_healthy")
        assert healthy == {"redis", "postgres", "gcs"}
        assert all("healthcheck" in services[other] for other in healthy)


def waited_for(services: dict[str, dict[str, object]], name: str, condition: str) -> set[str]:
    """Which services have to be in a condition before this one begins."""
    depends_on = services[name]["depends_on"]
    assert isinstance(depends_on, dict)
    return {other for other, row in depends_on.items() if row == {"condition": condition}}


def test_who_needs_the_tables_waits_for_them_and_makes_none(
    services: dict[str, dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("front", "prune"):
        assert waited_for(services, name, "service_completed_successfully") == {"migrate"}
        assert not settings_of(services[name], monkeypatch).migrate
    migrate = services["migrate"]
    assert (migrate["command"], migrate["restart"]) == (["migrate"], "no")
    assert waited_for(services, "migrate", "service_healthy") == {"postgres"}
    front = settings_of(services["front"], monkeypatch)
    assert settings_of(migrate, monkeypatch).database_url == front.database_url


def test_a_large_worker_is_found_where_it_is_started(
    services: dict[str, dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert settings_of(services["front"], monkeypatch).large_workers == ()
    told = (ROOT / "deploy" / "compose.yaml").read_text()
    assert "# XPROF_HUB_LARGE_WORKERS=http://large-worker:8080." in told
    settings = settings_of(services["large-worker"], monkeypatch)
    limit = services["large-worker"]["deploy"]["resources"]["limits"]["memory"]  # type: ignore[index]
    assert limit == "52G"
    assert settings.conversions * settings.conversion_memory_bytes < 0.85 * 52 * 10**9


def test_both_parts_get_the_time_that_they_need_to_stop(
    services: dict[str, dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("front", "worker", "large-worker"):
        grace = str(services[name]["stop_grace_period"])
        settings = settings_of(services[name], monkeypatch)
        assert float(grace.removesuffix("s")) >= settings.stop_seconds + 15


def test_a_workers_conversions_fit_into_its_memory(
    services: dict[str, dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(services["worker"], monkeypatch)
    limit = services["worker"]["deploy"]["resources"]["limits"]["memory"]  # type: ignore[index]
    assert limit == "12G"
    assert 0 < settings.conversions * settings.conversion_memory_bytes < 12 * 10**9


def test_only_the_front_end_is_reachable_from_outside(
    services: dict[str, dict[str, object]],
) -> None:
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert published == {"front": ["127.0.0.1:8080:8080"]}


def test_metrics_have_a_port_of_their_own(
    services: dict[str, dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("front", "worker", "large-worker"):
        assert settings_of(services[name], monkeypatch).metrics_port not in {0, 8080}


def test_every_volume_in_use_is_declared() -> None:
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
    used = {
        volume.partition(":")[0]
        for service in compose["services"].values()
        for volume in service.get("volumes", [])
        if ":" in volume
    }
    assert used == set(compose["volumes"])


def test_docker_understands_it_where_its_client_is() -> None:
    docker = shutil.which("docker")
    plugin = docker and subprocess.run(
        [docker, "compose", "version"], check=False, capture_output=True, timeout=20
    )
    if not docker or not plugin or plugin.returncode:
        pytest.skip("docker compose is not installed: the file is read as YAML only")
    done = subprocess.run(
        [docker, "compose", "-f", str(ROOT / "deploy" / "compose.yaml"), "config", "--quiet"],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **GIVEN},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
