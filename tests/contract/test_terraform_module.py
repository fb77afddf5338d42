"""deploy/terraform is what terraform accepts, plans what it promises, and its README tells what it takes."""

from __future__ import annotations

import re

import pytest

from server.settings import Settings
from tests.services.terraform import (
    MODULE,
    OfflineTerraform,
    declarations,
    offline_terraform,
    table,
)

__all__ = ["offline_terraform"]
README = (MODULE / "README.md").read_text()
METRIC = re.compile(r"\bxprof_hub_[a-z_]*[a-z]\b")
SETTING = re.compile(r"\bXPROF_HUB_[A-Z_]*[A-Z]\b")


def test_files_are_formatted(offline_terraform: OfflineTerraform) -> None:
    done = offline_terraform.check_format()
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_is_made_before_its_api_is_on(offline_terraform: OfflineTerraform) -> None:
    """In a new project most are off."""
    needs = offline_terraform.graph()
    assert len(needs) > 60
    ready = {"google_project_service.this"}
    while more := {name for name in set(needs) - ready if needs[name] & ready}:
        ready |= more
    assert {name for name in set(needs) - ready if name.startswith("google_")} == set()


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("google_compute_backend_service", "this"),
        ("google_compute_managed_ssl_certificate", "this"),
        ("google_monitoring_uptime_check_config", "links"),
        ("google_secret_manager_secret_version", "secret_key"),
    ],
)
def test_what_is_in_use_goes_last(kind: str, name: str) -> None:
    """Otherwise terraform deletes it first, while a URL map, proxy, alert or revision still names it."""
    text = "\n".join(file.read_text() for file in sorted(MODULE.glob("*.tf")))
    block = re.search(rf'^resource "{kind}" "{name}" .*?^\}}', text, re.MULTILINE | re.DOTALL)
    assert block is not None
    assert "create_before_destroy = true" in block[0]


def test_rights_are_old_when_they_are_used(offline_terraform: OfflineTerraform) -> None:
    """A right is known everywhere only minutes after it was given: the time that Redis and the database take.

    Whatever runs waits for those two, and the rights on secrets and buckets wait for neither.
    """
    needs = offline_terraform.graph()

    def all_needs(name: str) -> set[str]:
        found, left = set[str](), [name]
        while left:
            more = needs.get(left.pop(), set()) - found
            found |= more
            left += more
        return found

    slow = {"google_redis_instance.this", "google_sql_database_instance.this"}
    for part in ("service.front", "service.workers", "job.setup", "job.tasks"):
        assert all_needs(f"google_cloud_run_v2_{part}") & slow, part
    for grant in (
        "google_secret_manager_secret_iam_member.readers",
        "google_storage_bucket_iam_member.own",
        "google_storage_bucket_iam_member.profiles",
    ):
        assert not all_needs(grant) & slow, grant


def test_plans_are_as_they_should_be(offline_terraform: OfflineTerraform) -> None:
    done = offline_terraform.run("test", MODULE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 failed" in done.stdout


def test_every_setting_is_real() -> None:
    texts = [
        file.read_text() for file in MODULE.rglob("*") if file.suffix in {".tf", ".hcl", ".md"}
    ]
    names = {name for text in texts for name in SETTING.findall(text)}
    assert len(names) > 20
    known = {f"XPROF_HUB_{name.upper()}" for name in Settings.model_fields}
    assert names <= known, names - known


def test_every_metric_is_told_of() -> None:
    """docs/operations.md has a row for each metric of the hub that alerts and charts ask for."""
    texts = [(MODULE / name).read_text() for name in ("alert_rules.tf", "dashboard.tf")]
    asked = {
        re.sub(r"_(bucket|sum|count)$", "", name) for text in texts for name in METRIC.findall(text)
    }
    assert len(asked) > 10
    told = set(METRIC.findall((MODULE.parents[1] / "docs" / "operations.md").read_text()))
    assert asked <= told, asked - told


def test_everything_is_described() -> None:
    declared = declarations()
    assert {item.kind for item in declared} == {"variable", "output"}
    assert [item.name for item in declared if not item.description.endswith(".")] == []
    assert {item.name for item in declared if item.is_required} == {"project_id", "region"}


def test_every_variable_has_a_type() -> None:
    kinds = {"string", "number", "bool", "list", "map", "object"}
    assert {item.type for item in declarations() if item.kind == "variable"} <= kinds


@pytest.mark.parametrize("kind", ["variable", "output"])
def test_readme_is_in_step(kind: str) -> None:
    assert table(kind) in README, f"Put this into {MODULE.name}/README.md:\n{table(kind)}"


def test_minimal_example_asks_for_three_values() -> None:
    names = {item.name for item in declarations(MODULE / "examples" / "minimal")}
    assert {"project", "region", "domain"} <= names
    text = (MODULE / "examples" / "minimal" / "main.tf").read_text()
    assert text.count('variable "') == 3
