"""The identity that a front end shows to the platform before workers: fetched seldom, sent, never logged."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from server.fleet.addresses import WorkerAddresses
from server.fleet.identity import IdentityToken, IdentityTokens, audience_of
from server.fleet.workers import Workers
from tests.services.processes import free_port
from tests.worker_servers import GOOD, HANG_UP, REQUEST, run, two_servers

URL = "https://worker-abc.a.run.app/base"
ASK = f"""
import asyncio, json
from server.fleet.identity import google_identity
tokens = google_identity(("{URL}",))
print(json.dumps(dict(asyncio.run(tokens.headers("{URL}")))))
"""


class Platform:
    """Gives tokens that are good for an hour, as the metadata server does."""

    def __init__(self) -> None:
        self.now = 1_000_000.0
        self.asked: list[str] = []
        self.is_down = False

    def fetch(self, audience: str) -> IdentityToken:
        self.asked.append(audience)
        if self.is_down:
            raise OSError("no answer")
        return IdentityToken(f"token {len(self.asked)}", self.now + 3600)

    def tokens(self) -> IdentityTokens:
        return IdentityTokens(self.fetch, lambda: self.now)


def text_of(headers: object) -> str:
    assert isinstance(headers, dict)
    assert list(headers) == ["X-Serverless-Authorization"]
    return str(headers["X-Serverless-Authorization"])


def test_the_audience_is_the_scheme_and_host_of_the_worker() -> None:
    assert audience_of(URL) == "https://worker-abc.a.run.app"
    assert audience_of("https://workers.example.org:8443") == "https://workers.example.org:8443"


def test_a_token_is_fetched_once_for_all_and_again_shortly_before_its_end() -> None:
    platform = Platform()

    async def test() -> None:
        tokens = platform.tokens()
        many = await asyncio.gather(*(tokens.headers(URL) for _ in range(20)))
        assert {text_of(one) for one in many} == {"Bearer token 1"}
        platform.now += 3600 - 241
        assert text_of(await tokens.headers(URL)) == "Bearer token 1"
        platform.now += 1
        assert text_of(await tokens.headers(URL)) == "Bearer token 2"
        assert platform.asked == ["https://worker-abc.a.run.app"] * 2
        await tokens.headers("https://large-abc.a.run.app")
        assert platform.asked[2:] == ["https://large-abc.a.run.app"]

    asyncio.run(test())


def test_a_token_that_cannot_be_renewed_is_used_to_its_end() -> None:
    platform = Platform()

    async def test() -> None:
        tokens = platform.tokens()
        await tokens.headers(URL)
        platform.is_down = True
        platform.now += 3400
        for _ in range(5):
            assert text_of(await tokens.headers(URL)) == "Bearer token 1"
        assert len(platform.asked) == 2  # Not by every request.
        platform.now += 200
        with pytest.raises(ConnectionError):
            await tokens.headers(URL)
        platform.is_down = False
        assert text_of(await tokens.headers(URL)).startswith("Bearer token")

    asyncio.run(test())


def test_it_goes_to_workers_beside_the_credential_and_into_no_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    platform = Platform()

    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            first.answer, second.answer = HANG_UP, GOOD
            workers = Workers(
                WorkerAddresses([first.url, second.url]),
                "credential",
                30.0,
                lambda: None,
                identity=platform.tokens(),
            )
            answer = await workers.get(REQUEST)
            await answer.close()
            await workers.aclose()
            (head,) = second.heads
            assert "Authorization: Bearer credential\r\n" in head
            # An audience for each address.
            assert "X-Serverless-Authorization: Bearer token 2\r\n" in head
            assert platform.asked == [first.url, second.url]

    run(test)
    assert "token 1" not in caplog.text
    assert "token 2" not in caplog.text


def signed(audience: str) -> str:
    """What looks like a token of Google's."""
    parts = ({"alg": "RS256"}, {"aud": audience, "exp": int(time.time()) + 3600})
    texts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode() for part in parts]
    return ".".join(text.rstrip("=") for text in (*texts, "c2lnbmF0dXJl"))


@contextmanager
def metadata_server() -> Iterator[str]:
    """Answers like the metadata server of Google Cloud; its host and port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            is_ours = self.headers.get("Metadata-Flavor") == "Google"
            body, kind = b"", "text/html"
            if parts.path.endswith("/instance/service-accounts/default/identity"):
                (audience,) = parse_qs(parts.query)["audience"]
                body = signed(audience).encode()
            elif parts.path.endswith("/instance/service-accounts/default/"):
                body, kind = b'{"email": "front@project.example"}', "application/json"
            self.send_response(200 if is_ours else 403)
            self.send_header("Metadata-Flavor", "Google")
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def ask_google(host: str) -> subprocess.CompletedProcess[str]:
    """Asks the metadata server at this place, in a process that has read no other place yet."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    env = {**kept, "GCE_METADATA_HOST": host, "GCE_METADATA_IP": host}
    env |= {"GCE_METADATA_TIMEOUT": "1", "GCE_METADATA_DETECT_RETRIES": "1"}
    return subprocess.run(
        [sys.executable, "-c", ASK],
        env=env,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_googles_metadata_server_gives_the_token() -> None:
    with metadata_server() as host:
        done = ask_google(host)
    assert done.returncode == 0, done.stderr
    scheme, token = text_of(json.loads(done.stdout)).split(" ")
    assert scheme == "Bearer"
    payload = token.split(".")[1]
    said = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    assert said["aud"] == "https://worker-abc.a.run.app"


def test_without_a_service_account_it_is_said_what_to_do() -> None:
    done = ask_google(f"127.0.0.1:{free_port()}")
    assert done.returncode != 0
    assert "XPROF_HUB_WORKER_IDENTITY is google, but no service account" in done.stderr
    assert "GOOGLE_APPLICATION_CREDENTIALS" in done.stderr
