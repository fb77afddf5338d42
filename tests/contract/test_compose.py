"""deploy/compose.yaml has the shape of a deployment, and every setting in it is real."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from server.serve import check_start
from server.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
GIVEN = {"XPROF_HUB_SECRET_KEY": "a-long-random-value"}
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
    assert set(services) == {"front", "worker", "prune", "redis", "postgres", "gcs"}
    assert services["worker"]["deploy"]["replicas"] == 2  # type: ignore[index]


def test_health_is_asked_of_those_alone_that_answer_requests(
    services: dict[str, dict[str, object]],
) -> None:
    for name in ("front", "worker", "prune"):
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
    for shared in ("secret_key", "redis_url", "database_url", "storage_roots", "cache_root"):
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
        depends_on = services[name]["depends_on"]
        assert isinstance(depends_on, dict)
        for other, condition in depends_on.items():
            assert condition == {"condition": "service_healthy"}
            assert "healthcheck" in services[other]


def test_both_parts_get_the_time_that_they_need_to_stop(
    services: dict[str, dict[str, object]],
) -> None:
    for name in ("front", "worker"):
        assert services[name]["stop_grace_period"] == "30s"


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


def test_every_volume_in_use_is_declared() -> None:
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
    used = {
        volume.partition(":")[0]
        for service in compose["services"].values()
        for volume in service.get("volumes", [])
        if ":" in volume
    }
    assert used == set(compose["volumes"])
