"""The locks agree with each other, with pyproject.toml and with the engine, and name no registry."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from loader.engine.base import RS_VERSION, XPROF_VERSION

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ["requirements.lock", "requirements-demo.lock", "requirements-build.lock"]
CLIENTS = "requirements-clients.lock"
SCANNERS = "requirements-scanners.lock"
PACKAGE = re.compile(r"^([a-z0-9][a-z0-9._-]*)==(\S+)", re.MULTILINE)
REQUIREMENT = re.compile(r"^[A-Za-z0-9._-]+")


def versions(lock: str) -> dict[str, str]:
    return dict(PACKAGE.findall((ROOT / lock).read_text()))


def names(requirements: list[str]) -> set[str]:
    found = (REQUIREMENT.match(requirement) for requirement in requirements)
    return {match.group().lower().replace("_", "-") for match in found if match}


@pytest.mark.parametrize("lock", LOCKS[1:])
def test_smaller_locks_are_parts_of_the_full_one(lock: str) -> None:
    assert versions(lock).items() <= versions("requirements.lock").items()


def test_every_declared_dependency_is_locked_where_it_is_needed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    runs = names(project["project"]["dependencies"] + extras["engine"] + extras["otel"])
    builds = names(project["dependency-groups"]["build"])
    assert runs <= versions("requirements-demo.lock").keys()
    assert builds <= versions("requirements-build.lock").keys()
    assert runs | builds | names(extras["dev"]) <= versions("requirements.lock").keys()


def test_the_demo_installs_no_developers_tools() -> None:
    assert (
        not {"pytest", "playwright", "mypy", "ruff", "hatchling", "locust"}
        & versions("requirements-demo.lock").keys()
    )


def test_xprof_and_its_alias_are_the_version_that_the_engine_expects() -> None:
    for lock in LOCKS[:2]:
        locked = versions(lock)
        assert locked["xprof"] == locked["tensorboard-plugin-profile"] == XPROF_VERSION


def test_xprof_rs_is_the_version_whose_answers_are_compared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    (wanted,) = extras["fast"]
    assert wanted in extras["dev"]
    assert wanted.startswith(f"xprof-rs=={RS_VERSION};")
    assert versions("requirements.lock")["xprof-rs"] == RS_VERSION
    assert "xprof-rs" not in versions("requirements-demo.lock")


def test_the_clients_of_jobs_stay_out_of_the_product() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    clients = project["dependency-groups"]["clients"]
    assert "google-cloud-mldiagnostics==1.0.10" in clients
    assert names(clients) <= versions(CLIENTS).keys()
    for lock in LOCKS:
        assert not {"google-cloud-mldiagnostics", "jax", "jaxlib"} & versions(lock).keys()


def test_what_looks_for_mistakes_stays_out_of_the_product() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    scanners = names(project["dependency-groups"]["scanners"])
    assert scanners <= versions(SCANNERS).keys()
    for lock in LOCKS:
        assert not scanners & versions(lock).keys()


@pytest.mark.parametrize("lock", [*LOCKS, CLIENTS, SCANNERS])
def test_every_package_has_hashes_and_no_address_of_a_registry(lock: str) -> None:
    text = (ROOT / lock).read_text()
    assert "://" not in text
    blocks = re.split(r"\n(?=[a-z0-9])", text)[1:]
    assert blocks
    for block in blocks:
        assert "--hash=sha256:" in block, block.splitlines()[0]
