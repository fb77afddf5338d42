"""deploy/kubernetes/ holds what the API of Kubernetes allows, and what belongs together fits together."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

import jsonschema_rs
import pytest
import typer
import yaml

from server.cli import app
from server.http.probes import METRICS_PATH, READY_PATHS
from server.metrics.process import Metrics
from server.serve import check_start
from server.settings import Settings
from server.start_checks import Part
from tests.contract.dockerfile import read_stages
from tests.contract.rendered_manifests import (
    FOLDER,
    OVERLAYS,
    Manifest,
    Rendered,
    at,
    rendered,
    rows,
    secrets,
    selects,
    table,
)

ROOT = FOLDER.parents[1]
GKE_ONLY = {"BackendConfig", "FrontendConfig"}
"""Google's own kinds, which the API of Kubernetes does not have."""
GIB = 1 << 30
UNITS = {"": 1, "m": 0.001, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": GIB}


@pytest.fixture(params=OVERLAYS)
def overlay(request: pytest.FixtureRequest) -> Rendered:
    return rendered(str(request.param))


def quantity(text: object) -> float:
    """A number as Kubernetes writes it: `500m` is 0.5, `2Gi` is 2 << 30."""
    match = re.fullmatch(r"([\d.]+)(m|Ki|Mi|Gi|)", str(text))
    assert match, text
    return float(match[1]) * UNITS[match[2]]


def test_every_object_is_what_the_api_allows(overlay: Rendered) -> None:
    document = json.loads((FOLDER / "schemas" / "kubernetes-1.34.json").read_text())
    for manifest in overlay.manifests:
        if manifest.kind in GKE_ONLY:
            continue
        schema = {**document["kinds"][manifest.kind], "$defs": document["$defs"]}
        problems = [
            f"{manifest.kind} {manifest.name}: {problem.instance_path} {problem.message}"
            for problem in jsonschema_rs.validator_for(schema).iter_errors(manifest.content)
        ]
        assert not problems


def test_the_schemas_refuse_what_the_api_does_not_know() -> None:
    document = json.loads((FOLDER / "schemas" / "kubernetes-1.34.json").read_text())
    validator = jsonschema_rs.validator_for(
        {**document["kinds"]["Service"], "$defs": document["$defs"]}
    )
    good = {"apiVersion": "v1", "kind": "Service", "spec": {"ports": [{"port": 80}]}}
    assert validator.is_valid(good)
    assert not validator.is_valid({**good, "spec": {"port": 80}})
    assert not validator.is_valid({**good, "spec": {"ports": [{"port": "http"}]}})
    assert not validator.is_valid({**good, "apiVersion": "v2"})


def test_every_pod_is_what_pod_security_calls_restricted(overlay: Rendered) -> None:
    namespace = overlay.one("Namespace", "xprof-hub")
    labels = table(at(namespace.content, "metadata.labels"))
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    for manifest in overlay.with_pods:
        spec = table(manifest.pod["spec"])
        assert at(spec, "securityContext.runAsNonRoot") is True, manifest.name
        assert at(spec, "securityContext.runAsUser"), manifest.name
        assert at(spec, "securityContext.seccompProfile.type") == "RuntimeDefault", manifest.name
        assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers"} & spec.keys()
        for volume in rows(spec.get("volumes")):
            assert volume.keys() - {"name"} <= {"emptyDir", "configMap", "secret"}, manifest.name
        for container in manifest.containers:
            context = table(container["securityContext"])
            assert context["allowPrivilegeEscalation"] is False, manifest.name
            assert context["capabilities"] == {"drop": ["ALL"]}, manifest.name
            assert context.keys() <= {
                "allowPrivilegeEscalation",
                "capabilities",
                "readOnlyRootFilesystem",
            }


def test_nothing_writes_into_the_image_or_speaks_to_the_cluster(overlay: Rendered) -> None:
    for manifest in overlay.with_pods:
        assert at(manifest.pod, "spec.automountServiceAccountToken") is False, manifest.name
        # With links a Service called xprof-hub would set XPROF_HUB_PORT to an address.
        assert at(manifest.pod, "spec.enableServiceLinks") is False, manifest.name
        for container in manifest.containers:
            assert at(container, "securityContext.readOnlyRootFilesystem") is True, manifest.name
    image = read_stages(ROOT / "Dockerfile")[-1]
    for manifest in overlay.of_the_hub:
        mounts = {str(row["mountPath"]) for row in rows(manifest.container["volumeMounts"])}
        assert {image.environment["XPROF_HUB_DATA_DIR"], "/tmp"} <= mounts
        user = image.last("USER").text
        context = table(at(manifest.pod, "spec.securityContext"))
        assert user == f"{context['runAsUser']}:{context['runAsGroup']}"


def test_mounts_name_volumes_and_identities_exist(overlay: Rendered) -> None:
    configs = {manifest.name for manifest in overlay.of("ConfigMap")}
    accounts = {manifest.name for manifest in overlay.of("ServiceAccount")}
    for manifest in overlay.with_pods:
        volumes = {str(row["name"]): row for row in rows(at(manifest.pod, "spec.volumes"))}
        for container in manifest.containers:
            mounted = {str(row["name"]) for row in rows(container.get("volumeMounts"))}
            assert mounted == volumes.keys(), manifest.name
        for volume in volumes.values():
            if name := at(volume, "configMap.name"):
                assert name in configs
    assert {at(manifest.pod, "spec.serviceAccountName") for manifest in overlay.of_the_hub} == (
        accounts
    )


def test_services_budgets_and_autoscalers_mean_pods_that_exist(overlay: Rendered) -> None:
    for manifest in overlay.of("Deployment"):
        assert selects(at(manifest.content, "spec.selector"), manifest.labels), manifest.name
        others = [other for other in overlay.with_pods if other is not manifest]
        assert not any(
            selects(at(manifest.content, "spec.selector"), other.labels) for other in others
        ), manifest.name
    for service in overlay.of("Service"):
        chosen = list(behind(service, overlay))
        assert len(chosen) == 1, service.name
        for port in rows(at(service.content, "spec.ports")):
            for manifest in chosen:
                assert port["targetPort"] in {
                    row["name"] for row in rows(manifest.container["ports"])
                }
    for budget in overlay.of("PodDisruptionBudget"):
        selector = at(budget.content, "spec.selector")
        assert [m.name for m in overlay.with_pods if selects(selector, m.labels)] == [budget.name]
    for scaler in overlay.of("HorizontalPodAutoscaler"):
        target = overlay.one("Deployment", str(at(scaler.content, "spec.scaleTargetRef.name")))
        assert "replicas" not in table(target.content["spec"])
        assert target.name == scaler.name


def behind(service: Manifest, overlay: Rendered) -> Iterator[Manifest]:
    selector = {"matchLabels": at(service.content, "spec.selector")}
    return (manifest for manifest in overlay.with_pods if selects(selector, manifest.labels))


def test_the_ports_and_paths_are_the_images(overlay: Rendered) -> None:
    port = int(read_stages(ROOT / "Dockerfile")[-1].environment["XPROF_HUB_PORT"])
    for manifest in overlay.of_the_hub:
        if manifest.kind != "Deployment":
            continue
        metrics = overlay.settings(manifest)["XPROF_HUB_METRICS_PORT"]
        ports = {row["name"]: row["containerPort"] for row in rows(manifest.container["ports"])}
        assert ports == {"http": port, "metrics": int(metrics)}
        annotations = table(at(manifest.pod, "metadata.annotations"))
        assert annotations["prometheus.io/port"] == metrics
        assert annotations["prometheus.io/path"] == METRICS_PATH
        paths = {
            probe: at(manifest.container, f"{probe}.httpGet.path")
            for probe in ("startupProbe", "livenessProbe", "readinessProbe")
        }
        assert paths == {
            "startupProbe": "/readyz",
            "livenessProbe": "/healthz",
            "readinessProbe": "/readyz",
        }


def test_every_command_is_one_of_the_image(overlay: Rendered) -> None:
    assert read_stages(ROOT / "Dockerfile")[-1].last("ENTRYPOINT").words == ["xprof-hub"]
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    seen = set()
    for manifest in overlay.of_the_hub:
        arguments = manifest.container["args"]
        assert isinstance(arguments, list)
        command = group.commands[arguments[0]]
        command.make_context(arguments[0], list(arguments[1:]))
        seen.add(tuple(arguments))
    assert seen == {
        ("serve", "--only", "front"),
        ("serve", "--only", "worker"),
        ("migrate",),
        ("prune", "--json"),
    }


def settings_of(overlay: Rendered, manifest: Manifest, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """What the process in this pod reads: the image's variables, the overlay's, and secrets."""
    values = {
        "secret-key": "a-long-random-value-of-this-cluster",
        "old-secret-keys": "another-long-random-value-of-this-cluster",
        "database-url": "postgresql+psycopg://hub@10.20.0.4/hub",
        "redis-url": "rediss://10.20.0.3:6378/0",
    }
    variables = {
        **read_stages(ROOT / "Dockerfile")[-1].environment,
        **overlay.settings(manifest),
        **{name: values[key] for name, _, key in secrets(manifest)},
    }
    for name, value in variables.items():
        if name.startswith("XPROF_HUB_"):
            assert name.removeprefix("XPROF_HUB_").lower() in Settings.model_fields, name
            monkeypatch.setenv(name, value)
    return Settings()


@pytest.mark.parametrize("name", ["front", "worker"])
def test_settings_are_accepted_in_a_cluster(
    overlay: Rendered, name: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(overlay, overlay.one("Deployment", name), monkeypatch)
    assert settings.environment == "production"
    assert settings.sandbox == "standard"
    check_start(settings, name)


def test_each_part_gets_the_secrets_that_it_needs_and_no_others(overlay: Rendered) -> None:
    told = (ROOT / "docs" / "kubernetes.md").read_text()
    for manifest in overlay.of_the_hub:
        found = {name for name, _, _ in secrets(manifest)}
        part = str(manifest.labels["app.kubernetes.io/component"])
        needed = set() if part == "migrate" else {"XPROF_HUB_SECRET_KEY", "XPROF_HUB_REDIS_URL"}
        if part == "front" or part.endswith("worker"):
            needed.add("XPROF_HUB_OLD_SECRET_KEYS")
        if not part.endswith("worker"):
            needed.add("XPROF_HUB_DATABASE_URL")
        assert found == needed, part
    for manifest in overlay.with_pods:
        for _, secret, key in secrets(manifest):
            assert secret == "xprof-hub"
            assert f"--from-literal={key}=" in told or f'"{key}": ' in told
    assert not overlay.of("Secret")  # They are made beside the repository.


def test_front_ends_find_the_workers_by_a_name_with_all_their_addresses(
    overlay: Rendered, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(overlay, overlay.one("Deployment", "front"), monkeypatch)
    for url in (*settings.workers, *settings.large_workers):
        match = re.fullmatch(r"http://([a-z-]+):(\d+)", str(url))
        assert match
        service = overlay.one("Service", match[1])
        assert at(service.content, "spec.clusterIP") == "None"
        (port,) = rows(at(service.content, "spec.ports"))
        assert str(port["port"]) == match[2]
        (workers,) = behind(service, overlay)
        assert workers.container["args"] == ["serve", "--only", "worker"]


def test_conversions_fit_into_a_workers_memory_and_disk(
    overlay: Rendered, monkeypatch: pytest.MonkeyPatch
) -> None:
    for manifest in overlay.of("Deployment"):
        if manifest.container.get("args") != ["serve", "--only", "worker"]:
            continue
        settings = settings_of(overlay, manifest, monkeypatch)
        requests, limits = (
            table(at(manifest.container, f"resources.{which}")) for which in ("requests", "limits")
        )
        # Half a core would count as one conversion, and another worker's memory can't be lent.
        assert quantity(limits["cpu"]) == quantity(requests["cpu"]) >= 1
        assert limits["memory"] == requests["memory"]
        # server/machine/memory.py: four fifths are for conversions.
        assert settings.conversion_memory_bytes <= 0.8 * quantity(limits["memory"])
        volumes = {row["name"]: row for row in rows(at(manifest.pod, "spec.volumes"))}
        disk = quantity(at(volumes["data"], "emptyDir.sizeLimit"))
        unpacked = (settings.conversions or quantity(limits["cpu"])) * settings.unpacked_bytes
        assert settings.scratch_bytes + settings.cache_bytes + unpacked <= disk
        assert disk <= quantity(requests["ephemeral-storage"])


def test_a_pod_that_goes_lets_a_conversion_finish(
    overlay: Rendered, monkeypatch: pytest.MonkeyPatch
) -> None:
    for manifest in overlay.of("Deployment"):
        if manifest not in overlay.of_the_hub:
            continue
        settings = settings_of(overlay, manifest, monkeypatch)
        assert settings.stop_seconds >= settings.conversion_seconds
        # A name is looked up every 5 s (server/fleet/addresses.py), and CoreDNS keeps it for up to 30.
        pause = at(manifest.container, "lifecycle.preStop.sleep.seconds")
        assert isinstance(pause, int)
        assert pause >= (35 if "worker" in manifest.name else 10)
        grace = at(manifest.pod, "spec.terminationGracePeriodSeconds")
        assert isinstance(grace, int)
        assert grace >= pause + settings.stop_seconds + 15
        scaler = overlay.one("HorizontalPodAutoscaler", manifest.name)
        assert at(scaler.content, "spec.behavior.scaleDown.stabilizationWindowSeconds")


def test_googles_balancer_waits_for_answers_and_closes_connections_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    overlay = rendered("gke")
    settings = settings_of(overlay, overlay.one("Deployment", "front"), monkeypatch)
    backend = table(overlay.one("BackendConfig", "front").content["spec"])
    draining = at(backend, "connectionDraining.drainingTimeoutSec")
    assert isinstance(draining, int)
    assert draining >= settings.stop_seconds
    assert isinstance(backend["timeoutSec"], int)
    assert backend["timeoutSec"] >= settings.conversion_seconds
    # https://cloud.google.com/load-balancing/docs/https: its own idle connections end after 600 s.
    assert settings.keep_alive_seconds > 600


def test_googles_balancer_asks_for_readiness_and_has_time_to_hear_that_a_pod_goes() -> None:
    overlay = rendered("gke")
    front = overlay.one("Deployment", "front")
    check = table(at(overlay.one("BackendConfig", "front").content, "spec.healthCheck"))
    ports = {row["containerPort"] for row in rows(front.container["ports"])}
    assert check["requestPath"] in READY_PATHS
    assert check["port"] in ports
    noticed = [check["checkIntervalSec"], check["unhealthyThreshold"]]
    pause = at(front.container, "lifecycle.preStop.sleep.seconds")
    assert isinstance(pause, int)
    assert pause >= 30 + math.prod(int(str(number)) for number in noticed)


def test_plain_http_leads_to_https_at_google() -> None:
    overlay = rendered("gke")
    notes = table(at(overlay.one("Ingress", "xprof-hub").content, "metadata.annotations"))
    named = str(notes["networking.gke.io/v1beta1.FrontendConfig"])
    assert at(overlay.one("FrontendConfig", named).content, "spec.redirectToHttps.enabled") is True


def test_a_front_end_leaves_the_database_to_the_job(
    overlay: Rendered, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not settings_of(overlay, overlay.one("Deployment", "front"), monkeypatch).migrate
    job = overlay.one("Job", "migrate")
    assert job.container["args"] == ["migrate"]
    assert "XPROF_HUB_DATABASE_URL" in {name for name, _, _ in secrets(job)}


def test_autoscalers_ask_for_metrics_that_exist() -> None:
    rules = yaml.safe_load((FOLDER / "prometheus-adapter.yaml").read_text())["rules"]["custom"]
    exposed = Metrics().text().decode()
    for rule in rules:
        for series in re.findall(r"xprof_hub_\w+", rule["seriesQuery"] + rule["metricsQuery"]):
            assert f"# TYPE {series} gauge" in exposed, series
        # One series of another name may have the same labels, which `or` would take for the same.
        assert not re.search(r"\bor\b", rule["metricsQuery"])
    offered = {rule["name"]["as"] for rule in rules}
    asked = {
        str(at(metric, "pods.metric.name"))
        for overlay in map(rendered, OVERLAYS)
        for scaler in overlay.of("HorizontalPodAutoscaler")
        for metric in rows(at(scaler.content, "spec.metrics"))
        if metric["type"] == "Pods"
    }
    assert asked == offered


def test_both_hosts_lead_to_the_front_end(
    overlay: Rendered, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(overlay, overlay.one("Deployment", "front"), monkeypatch)
    ingress = overlay.one("Ingress", "xprof-hub")
    hosts = {str(rule["host"]) for rule in rows(at(ingress.content, "spec.rules"))}
    assert {f"https://{host}" for host in hosts} == {settings.base_url, settings.content_url}
    for rule in rows(at(ingress.content, "spec.rules")):
        paths = {
            (row["path"], row["pathType"]): at(row, "backend.service.name")
            for row in rows(at(rule, "http.paths"))
        }
        assert paths == {("/", "Prefix"): "front"}
    (tls,) = rows(at(ingress.content, "spec.tls"))
    assert set(tls["hosts"]) == hosts  # type: ignore[call-overload]
