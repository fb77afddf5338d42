"""In a cluster Redis is asked through TLS, and its certificate checked against its own authority."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
import redis

from loader.caches.redis_results import connect
from tests.contract.rendered_manifests import FOLDER, OVERLAYS, at, rendered, rows

TOLD = (FOLDER.parents[1] / "docs" / "kubernetes.md").read_text()


@pytest.mark.parametrize("name", OVERLAYS)
def test_whoever_asks_redis_finds_its_authority_where_the_address_says(name: str) -> None:
    """Memorystore's is no public one: without it every connection would be refused by Python."""
    address = re.search(r"redis-url='(rediss://[^']+)'", TOLD)
    assert address is not None
    connection = connect(address[1]).connection_pool.make_connection()
    assert isinstance(connection, redis.SSLConnection)
    assert connection.cert_reqs.name == "CERT_REQUIRED"
    (file,) = parse_qs(urlsplit(address[1]).query)["ssl_ca_certs"]
    assert "--from-file=redis-ca=" in TOLD

    asking = 0
    for manifest in rendered(name).of_the_hub:
        volumes = {str(row["name"]): row for row in rows(at(manifest.pod, "spec.volumes"))}
        asks = "XPROF_HUB_REDIS_URL" in {
            str(row["name"]) for row in rows(manifest.container.get("env"))
        }
        assert ("redis-ca" in volumes) == asks, manifest.name
        if not asks:
            continue
        (folder,) = [
            str(row["mountPath"])
            for row in rows(manifest.container["volumeMounts"])
            if row["name"] == "redis-ca"
        ]
        secret = volumes["redis-ca"]
        assert at(secret, "secret.secretName") == "xprof-hub"
        assert at(secret, "secret.optional") is True, "not every Redis has one"
        (item,) = rows(at(secret, "secret.items"))
        assert (item["key"], f"{folder}/{item['path']}") == ("redis-ca", file)
        asking += 1
    assert asking >= 3
