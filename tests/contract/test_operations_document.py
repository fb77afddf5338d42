"""docs/operations.md lists every setting with its default, and every metric, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from server.metrics.process import Metrics
from server.settings import Settings

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "operations.md").read_text()
SETTING_ROW = re.compile(r"^\| `XPROF_HUB_(\w+)` \| (?:`([^`]*)`)? ?\| (.+) \|$", re.MULTILINE)
METRIC_ROW = re.compile(r"^\| `(xprof_hub_\w+)` \| .+ \|$", re.MULTILINE)


def as_documented(default: object) -> str:
    """How the table writes a default."""
    if default is None or default == ():
        return ""
    if isinstance(default, Path):
        return f"~/{default.relative_to(Path.home())}"
    return str(default)


def test_every_setting_is_listed_with_its_default() -> None:
    rows = SETTING_ROW.findall(DOCUMENT)
    documented = {name.lower(): default for name, default, _ in rows}
    assert len(rows) == len(documented), "a setting is listed twice"
    real = {
        name: as_documented(field.get_default(call_default_factory=True))
        for name, field in Settings.model_fields.items()
    }
    assert documented == real


def test_every_metric_is_listed() -> None:
    families = text_string_to_metric_families(Metrics().text().decode())
    real = {
        family.name + ("_total" if family.type == "counter" else "")
        for family in families
        # When each counter began; the client library adds these on its own.
        if not family.name.endswith("_created")
    }
    assert set(METRIC_ROW.findall(DOCUMENT)) == real
