"""A Redis that speaks TLS with a certificate of an authority of its own, as Memorystore does."""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import redis
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from loader.caches.redis_results import RedisGuard, RedisResults, connect, hedged_reads
from loader.caches.results import ResultHeader
from loader.coordination.redis_leases import RedisLeases
from tests.services.processes import ServiceError, free_port
from tests.services.redis import RedisServer, redis_program

PASSWORD = "a password of this test"
BODY = b"x" * 3_000_000


def name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def certificate(
    subject: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    issuer_key: ec.EllipticCurvePrivateKey,
) -> bytes:
    """A certificate for this machine's loopback address, or of an authority if it signs itself."""
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    is_authority = subject == issuer
    made = (
        x509.CertificateBuilder()
        .subject_name(name(subject))
        .issuer_name(name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()),
            critical=False,
        )
        .sign(issuer_key, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM)


def write_certificates(folder: Path) -> None:
    """An authority, the server's certificate by it, and another authority."""
    authority, server, stranger = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
    (folder / "ca.pem").write_bytes(certificate("ca", authority, "ca", authority))
    (folder / "server.pem").write_bytes(certificate("redis", server, "ca", authority))
    (folder / "other.pem").write_bytes(certificate("other", stranger, "other", stranger))
    (folder / "server.key").write_bytes(
        server.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tls")
    write_certificates(made)
    return made


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    """Where a Redis listens with TLS and a password; without the authority's file."""
    port = free_port()
    server = RedisServer(
        redis_program(),
        folder,
        *("--tls-port", str(port), "--requirepass", PASSWORD, "--tls-auth-clients", "no"),
        *("--tls-ca-cert-file", str(folder / "ca.pem")),
        *("--tls-cert-file", str(folder / "server.pem")),
        *("--tls-key-file", str(folder / "server.key")),
    )
    try:
        server.start()
    except ServiceError as problem:
        if "Bad directive" in str(problem):
            pytest.skip("this redis-server was built without TLS")
        raise
    yield f"rediss://:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{port}/0"
    server.stop()


def with_authority(url: str, file: Path) -> str:
    return f"{url}?ssl_ca_certs={file}"


def test_answers_and_leases_go_through_tls(url: str, folder: Path, tmp_path: Path) -> None:
    trusted = with_authority(url, folder / "ca.pem")
    client, guard = connect(trusted), RedisGuard()
    used: list[str] = []
    results = RedisResults(client, guard, hedged_reads(client, trusted, trusted, used.append))
    key, body = uuid4().hex * 2, tmp_path / "body"
    body.write_bytes(BODY)
    results.put(key, ResultHeader("a/b", len(BODY), 7), body, 60)
    for _ in range(3):
        found = results.open(key)
        assert found is not None
        assert b"".join(found.pieces) == BODY
    lease = RedisLeases(client, guard).acquire("work", lambda: False)
    assert lease is not None
    assert list(client.scan_iter("xprof-hub:lease:*")) == [b"xprof-hub:lease:work"]
    lease.release()
    assert list(client.scan_iter("xprof-hub:lease:*")) == []
    assert guard.failures == 0


def test_a_server_that_another_authority_vouches_for_is_not_trusted(url: str, folder: Path) -> None:
    for address in (url, with_authority(url, folder / "other.pem")):
        with pytest.raises(redis.ConnectionError, match="CERTIFICATE_VERIFY_FAILED"):
            connect(address).ping()


def test_without_tls_or_the_password_there_is_no_answer(url: str, folder: Path) -> None:
    with pytest.raises(redis.RedisError):
        connect(url.replace("rediss://", "redis://")).ping()
    stranger = with_authority(url.replace(PASSWORD.replace(" ", "%20"), "wrong"), folder / "ca.pem")
    with pytest.raises(redis.AuthenticationError):
        connect(stranger).ping()
