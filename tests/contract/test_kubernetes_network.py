"""Who may speak to whom in deploy/kubernetes/, worked out from its network policies.

A connection is allowed when a policy of its origin lets it out and one of its destination lets it in
(https://kubernetes.io/docs/concepts/services-networking/network-policies/); a pod that no policy means is
open, so the first test is that there is none.
"""

from __future__ import annotations

import ipaddress

import pytest

from tests.contract.rendered_manifests import (
    OVERLAYS,
    Manifest,
    Rendered,
    Table,
    at,
    rendered,
    rows,
    selects,
    table,
)

GOOGLE = "142.250.0.1"


@pytest.fixture(params=OVERLAYS)
def overlay(request: pytest.FixtureRequest) -> Rendered:
    return rendered(str(request.param))


def is_allowed(
    overlay: Rendered, pod: Manifest, direction: str, other: Manifest | str, port: int
) -> bool:
    """Whether a pod's policies let it speak to (`egress`), or hear (`ingress`), a pod or an address."""
    side = "to" if direction == "egress" else "from"
    return any(
        port in {row["port"] for row in rows(rule["ports"])}
        and any(is_meant(peer, other) for peer in rows(rule[side]))
        for policy in overlay.of("NetworkPolicy")
        if selects(at(policy.content, "spec.podSelector"), pod.labels)
        for rule in rows(at(policy.content, f"spec.{direction}"))
    )


def is_meant(peer: Table, other: Manifest | str) -> bool:
    """Whether one entry of a rule means a pod of this namespace, or an address outside."""
    if isinstance(other, str):
        block = table(peer.get("ipBlock"))
        address = ipaddress.ip_address(other)
        excepted = block.get("except") or []
        assert isinstance(excepted, list)
        return (
            bool(block)
            and any(address in ipaddress.ip_network(str(cidr)) for cidr in [block["cidr"]])
            and not any(address in ipaddress.ip_network(str(cidr)) for cidr in excepted)
        )
    return "podSelector" in peer and selects(peer["podSelector"], other.labels)


def reaches(overlay: Rendered, origin: Manifest, goal: Manifest, port: int) -> bool:
    return is_allowed(overlay, origin, "egress", goal, port) and is_allowed(
        overlay, goal, "ingress", origin, port
    )


def test_nothing_is_allowed_unless_said(overlay: Rendered) -> None:
    default = overlay.one("NetworkPolicy", "nothing-by-default")
    assert default.content["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_only_front_ends_reach_workers(overlay: Rendered) -> None:
    workers = [m for m in overlay.of("Deployment") if "worker" in m.name]
    assert workers
    for worker in workers:
        reaching = {m.name for m in overlay.with_pods if reaches(overlay, m, worker, 8080)}
        assert reaching == {"front"}
        assert not is_allowed(overlay, worker, "ingress", GOOGLE, 8080)


def test_metrics_are_for_the_monitoring_alone(overlay: Rendered) -> None:
    for manifest in overlay.of_the_hub:
        if manifest.kind != "Deployment":
            continue
        port = int(overlay.settings(manifest)["XPROF_HUB_METRICS_PORT"])
        assert port != 8080
        assert not [m.name for m in overlay.with_pods if reaches(overlay, m, manifest, port)]
        assert not is_allowed(overlay, manifest, "ingress", GOOGLE, port)
        assert namespaces(overlay, manifest, port) >= {"monitoring"}
        # Who reads them gets no further.
        assert "monitoring" not in namespaces(overlay, manifest, 8080)


def namespaces(overlay: Rendered, pod: Manifest, port: int) -> set[object]:
    """From which namespaces a pod may be asked on a port."""
    return {
        table(at(peer, "namespaceSelector.matchLabels"))["kubernetes.io/metadata.name"]
        for policy in overlay.of("NetworkPolicy")
        if selects(at(policy.content, "spec.podSelector"), pod.labels)
        for rule in rows(at(policy.content, "spec.ingress"))
        if port in {row["port"] for row in rows(rule["ports"])}
        for peer in rows(rule["from"])
        if "namespaceSelector" in peer
    }


def test_no_pod_of_ours_reaches_a_front_end(overlay: Rendered) -> None:
    front = overlay.one("Deployment", "front")
    assert not [m.name for m in overlay.with_pods if reaches(overlay, m, front, 8080)]


def test_workers_reach_buckets_and_redis_and_no_database(overlay: Rendered) -> None:
    for manifest in overlay.of_the_hub:
        assert is_allowed(overlay, manifest, "egress", GOOGLE, 443), manifest.name
        assert not is_allowed(overlay, manifest, "egress", GOOGLE, 80), manifest.name
        assert not is_allowed(overlay, manifest, "egress", "10.0.0.1", 443), manifest.name


def test_names_are_found_wherever_gke_answers_for_them() -> None:
    """The cache of names on the node, or its metadata server (Cloud DNS for GKE), which no pod stands for."""
    overlay = rendered("gke")
    for manifest in overlay.of_the_hub:
        for address in ("169.254.20.10", "169.254.169.254"):
            assert is_allowed(overlay, manifest, "egress", address, 53), manifest.name


def test_stores_on_google_are_reached_by_one_address_each() -> None:
    overlay = rendered("gke")
    for manifest in overlay.of_the_hub:
        is_worker = "worker" in manifest.name
        assert is_allowed(overlay, manifest, "egress", "10.20.0.3", 6378), manifest.name
        assert is_allowed(overlay, manifest, "egress", "10.20.0.4", 5432) != is_worker
        assert not is_allowed(overlay, manifest, "egress", "10.20.0.5", 5432), manifest.name
        # Credentials of the pod's identity.
        assert is_allowed(overlay, manifest, "egress", "169.254.169.254", 80), manifest.name


def test_stores_in_the_cluster_are_reached_by_those_who_need_them() -> None:
    overlay = rendered("small")
    database, redis = (overlay.one("Deployment", name) for name in ("postgres", "redis"))
    reaching = {m.name for m in overlay.with_pods if reaches(overlay, m, database, 5432)}
    assert reaching == {"front", "migrate", "prune"}
    reaching = {m.name for m in overlay.with_pods if reaches(overlay, m, redis, 6379)}
    assert reaching == {"front", "worker", "migrate", "prune"}
    for store in (database, redis):
        assert not is_allowed(overlay, store, "egress", GOOGLE, 443)
