"""What `kubectl kustomize` makes of deploy/kubernetes/, as typed pieces; it needs no cluster."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "kubernetes"
OVERLAYS = ("gke", "small")

Table = dict[str, object]


def table(value: object) -> Table:
    """A value that has to be an object; none is an empty one."""
    assert value is None or isinstance(value, dict), value
    return value or {}


def rows(value: object) -> list[Table]:
    """A value that has to be a list of objects; none is an empty one."""
    assert value is None or isinstance(value, list), value
    return [table(row) for row in value or []]


def at(value: object, path: str) -> object:
    """What lies at a path such as `spec.template`, None where something on the way is missing."""
    for name in path.split("."):
        value = table(value).get(name)
    return value


@dataclass(frozen=True)
class Manifest:
    """One object as the cluster would get it."""

    content: Table

    @property
    def kind(self) -> str:
        return str(self.content["kind"])

    @property
    def name(self) -> str:
        return str(at(self.content, "metadata.name"))

    @property
    def pod(self) -> Table:
        """The template of the pods that it makes; empty for what makes none."""
        for path in ("spec.jobTemplate.spec.template", "spec.template"):
            if found := at(self.content, path):
                return table(found)
        return {}

    @property
    def labels(self) -> Table:
        """Labels of its pods."""
        return table(at(self.pod, "metadata.labels"))

    @property
    def containers(self) -> list[Table]:
        return rows(at(self.pod, "spec.containers"))

    @property
    def container(self) -> Table:
        """The only one."""
        (only,) = self.containers
        return only


@dataclass(frozen=True)
class Rendered:
    """All objects of one overlay."""

    manifests: tuple[Manifest, ...]

    def of(self, kind: str) -> list[Manifest]:
        return [manifest for manifest in self.manifests if manifest.kind == kind]

    def one(self, kind: str, name: str) -> Manifest:
        (found,) = [manifest for manifest in self.of(kind) if manifest.name == name]
        return found

    @property
    def with_pods(self) -> list[Manifest]:
        return [manifest for manifest in self.manifests if manifest.pod]

    @property
    def of_the_hub(self) -> list[Manifest]:
        """Those whose pods run our image."""
        return [
            manifest
            for manifest in self.with_pods
            if manifest.labels["app.kubernetes.io/name"] == "xprof-hub"
        ]

    def settings(self, manifest: Manifest) -> dict[str, str]:
        """Variables of a container as far as they are no secrets; its own win over a ConfigMap's."""
        found: dict[str, str] = {}
        for source in rows(manifest.container.get("envFrom")):
            config = self.one("ConfigMap", str(at(source, "configMapRef.name")))
            found |= {name: str(value) for name, value in table(config.content["data"]).items()}
        for row in rows(manifest.container.get("env")):
            if "value" in row:
                found[str(row["name"])] = str(row["value"])
        return found


@cache
def rendered(overlay: str) -> Rendered:
    """One overlay; the test is skipped where there is no kubectl."""
    return Rendered(
        tuple(Manifest(table(content)) for content in yaml.safe_load_all(manifest_text(overlay)))
    )


@cache
def manifest_text(overlay: str) -> str:
    """An overlay's objects as YAML; it is one of ours, or a folder."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("kubectl, which renders the manifests, is not installed")
    done = subprocess.run(
        [kubectl, "kustomize", str(FOLDER / "overlays" / overlay)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr  # Kustomize warns there of what will not work for long.
    return done.stdout


def secrets(manifest: Manifest) -> Iterator[tuple[str, str, str]]:
    """Variable, Secret and key of each secret that a container gets."""
    for container in manifest.containers:
        for row in rows(container.get("env")):
            if reference := at(row, "valueFrom.secretKeyRef"):
                yield str(row["name"]), str(at(reference, "name")), str(at(reference, "key"))


def selects(selector: object, labels: Table) -> bool:
    """Whether a label selector (`matchLabels`, `matchExpressions` with In) means these labels."""
    wanted = table(at(selector, "matchLabels"))
    if not wanted.items() <= labels.items():
        return False
    for row in rows(at(selector, "matchExpressions")):
        values = row["values"]
        assert row["operator"] == "In"
        assert isinstance(values, list)
        if labels.get(str(row["key"])) not in values:
            return False
    return True
