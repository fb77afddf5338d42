"""What deploy/kubernetes/ keeps to itself: addresses of share links, and rights that a part does not need."""

from __future__ import annotations

import pytest

from tests.contract.rendered_manifests import OVERLAYS, at, rendered, table


@pytest.mark.parametrize("name", OVERLAYS)
def test_no_balancer_writes_addresses_of_share_links_down(name: str) -> None:
    """ingress-nginx and Google's load balancer log each request's address unless they are told not to."""
    overlay = rendered(name)
    notes = table(at(overlay.one("Ingress", "xprof-hub").content, "metadata.annotations"))
    if notes.get("kubernetes.io/ingress.class") == "gce":
        backend = overlay.one("BackendConfig", "front").content
        assert at(backend, "spec.logging.enable") is False
    else:
        assert notes["nginx.ingress.kubernetes.io/enable-access-log"] == "false"


def test_what_changes_tables_has_no_rights_on_buckets() -> None:
    overlay = rendered("gke")
    identity = at(overlay.one("Job", "migrate").pod, "spec.serviceAccountName")
    account = overlay.one("ServiceAccount", str(identity)).content
    assert at(account, "metadata.annotations") is None
