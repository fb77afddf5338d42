"""A real provider of OpenID Connect (npm `oidc-provider`), and a person who signs in there by its forms."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin

import httpx2

from tests.services.hub import KEPT_VARIABLES
from tests.services.missing import find_program, missing
from tests.services.processes import Process, free_port, http_status

_FOLDER = Path(__file__).parents[1] / "clients" / "node"
_MOST_STEPS = 12
_LEAST_NODE = 20
"""With 18, oidc-provider 9 does not load."""
CLIENT_ID = "hub"
CLIENT_SECRET = "with: signs+that/need=encoding"


@dataclass(frozen=True)
class OidcServer:
    """A running provider.

    Attributes:
        issuer: its address.
        process: itself.
    """

    issuer: str
    process: Process

    def settings(self) -> dict[str, object]:
        """What a hub is told of it."""
        return {
            "auth": "oidc",
            "oidc_issuer": self.issuer,
            "oidc_client_id": CLIENT_ID,
            "oidc_client_secret": CLIENT_SECRET,
            "oidc_scopes": "openid email profile groups",
        }


@contextmanager
def serve_oidc(
    folder: Path,
    redirect_uri: str,
    accounts: Mapping[str, Mapping[str, object]],
    port: int = 0,
    signed_out_uri: str = "",
) -> Iterator[OidcServer]:
    """Runs the provider with these accounts: claims by login, any password; on a free port unless told.

    `signed_out_uri` is where it may lead back to after signing out; empty for nowhere.
    """
    node = find_program(("node", "nodejs"))
    is_installed = (_FOLDER / "node_modules" / "oidc-provider").is_dir()
    if node is None or not is_installed or _major_version(node) < _LEAST_NODE:
        missing(f"A provider of OpenID Connect for Node.js {_LEAST_NODE} or later", "nodejs npm")
    issuer = f"http://127.0.0.1:{port or free_port()}"
    variables = {key: os.environ[key] for key in KEPT_VARIABLES if key in os.environ}
    variables |= {
        "ISSUER": issuer,
        "CLIENT_ID": CLIENT_ID,
        "CLIENT_SECRET": CLIENT_SECRET,
        "REDIRECT_URI": redirect_uri,
        "SIGNED_OUT_URI": signed_out_uri,
        "ACCOUNTS": json.dumps(accounts),
    }
    command = [node, _FOLDER / "oidc_provider.mjs"]
    process = Process.start("oidc-provider", command, folder / "oidc.log", variables)
    try:
        discovery = f"{issuer}/.well-known/openid-configuration"
        process.wait_for(lambda: http_status(discovery) == 200)
        yield OidcServer(issuer, process)
    finally:
        process.stop()


def _major_version(node: Path) -> int:
    asked = subprocess.run(
        [node, "--version"], capture_output=True, text=True, check=True, timeout=60
    )
    return int(asked.stdout.removeprefix("v").partition(".")[0])


def sign_in_at_provider(
    address: str, login: str, *, consents: bool = True, browser: httpx2.Client | None = None
) -> str:
    """Goes through the provider's forms in a browser of its own.

    Args:
        address: where the hub leads.
        login: whose name is typed.
        consents: whether the person agrees to what the hub asks for.
        browser: one that keeps its cookies for later.

    Returns:
        The address on the hub that the provider leads back to.
    """
    with ExitStack() as stack:
        used = browser or stack.enter_context(httpx2.Client(trust_env=False))
        return _walk(used, address, lambda page: _answer_form(used, page, login, consents=consents))


def sign_out_at_provider(browser: httpx2.Client, address: str) -> str:
    """Signs a browser out at the provider, and says yes there; where it leads back to."""

    def agree(page: httpx2.Response) -> httpx2.Response:
        action = re.search(r'action="([^"]+)"', page.text)
        secret = re.search(r'name="xsrf" value="([^"]+)"', page.text)
        assert action is not None, page.text
        assert secret is not None, page.text
        fields = {"xsrf": secret[1], "logout": "yes"}
        return browser.post(urljoin(str(page.url), action[1]), data=fields)

    return _walk(browser, address, agree)


def _walk(
    browser: httpx2.Client, address: str, answer_page: Callable[[httpx2.Response], httpx2.Response]
) -> str:
    """Follows the provider, answers its pages, and tells where it leads out of itself."""
    issuer = "/".join(address.split("/")[:3])
    answer = browser.get(address)
    for _ in range(_MOST_STEPS):
        if answer.is_redirect:
            target = urljoin(str(answer.url), answer.headers["location"])
            if not target.startswith(f"{issuer}/"):
                return target
            answer = browser.get(target)
        else:
            answer = answer_page(answer)
    raise AssertionError(f"the provider leads nowhere: {answer.status_code} {answer.text[:500]}")


def _answer_form(
    browser: httpx2.Client, page: httpx2.Response, login: str, *, consents: bool
) -> httpx2.Response:
    assert page.status_code == 200, page.text
    action = re.search(r'action="([^"]+)"', page.text)
    prompt = re.search(r'name="prompt" value="([^"]+)"', page.text)
    assert action is not None, page.text
    assert prompt is not None, page.text
    target = urljoin(str(page.url), action[1])
    if prompt[1] == "login":
        return browser.post(target, data={"prompt": "login", "login": login, "password": "any"})
    return (
        browser.post(target, data={"prompt": "consent"})
        if consents
        else browser.get(f"{target}/abort")
    )
