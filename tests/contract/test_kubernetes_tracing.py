"""The component that sends spans to a collector: the setting, and a way out of the namespace for it."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from server.settings import Settings
from tests.contract.rendered_manifests import FOLDER, at, rendered, rows, selects


def test_front_ends_and_workers_reach_the_collector_that_they_are_told_of(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    kustomization = {
        "resources": [os.path.relpath(FOLDER / "overlays" / "small", folder)],
        "components": [os.path.relpath(FOLDER / "components" / "tracing", folder)],
        "namespace": "xprof-hub",
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    overlay = rendered(str(folder))
    (policy,) = [p for p in overlay.of("NetworkPolicy") if p.name == "spans"]
    (rule,) = rows(at(policy.content, "spec.egress"))
    (peer,), (port,) = rows(rule["to"]), rows(rule["ports"])
    for name in ("front", "worker"):
        pod = overlay.one("Deployment", name)
        assert selects(at(policy.content, "spec.podSelector"), pod.labels)
        goal = urlsplit(overlay.settings(pod)["XPROF_HUB_OTLP_ENDPOINT"])
        assert goal.port == port["port"]
        _, namespace = str(goal.hostname).split(".")
        assert peer == {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
        }
    assert "otlp_endpoint" in Settings.model_fields
