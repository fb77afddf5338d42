"""`xprof-hub doctor --link` opens a link like a reader, and tells where the time goes and no secret."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import Result

from loader.coordination.progress import Phase
from tests.contract.commands import Commands
from tests.contract.link_visits import PASSWORD, make_link
from tests.services.api import Api, ApiServers
from tests.services.pair import until
from tests.services.shelf import Shelf

_LINE = re.compile(r"(ok|FAIL) +(\d+\.\d{3}) s  ([^:]+)(?:: (.*))?")

_SEEN = rf"({'|'.join(phase.value for phase in Phase)}|begin) \d+\.\d s"


def examined(link: str) -> tuple[Result, dict[str, tuple[str, float, str]]]:
    """The result, and each step's mark, seconds and remark by its name."""
    result = Commands("").run("doctor", "--link", link)
    token = re.search(r"xph_([\w-]+)", link)
    assert token is not None
    assert token[1] not in result.output
    found = [_LINE.fullmatch(line) for line in result.stdout.splitlines()]
    steps = {
        step[3]: (step[1], float(step[2]), step[4] or "") for step in found if step is not None
    }
    assert len(steps) == len(found), result.output
    return result, steps


def test_every_step_of_a_first_opening_is_told(shelf: Shelf, small_session: Path) -> None:
    result, steps = examined(shelf.share(shelf.place(small_session)))
    assert result.exit_code == 0, result.output
    assert list(steps) == [
        *("name", "connection", "page", "list of tools", "hosts of overview_page"),
        *("overview_page", "the same again"),
    ]
    first, again = steps["overview_page"], steps["the same again"]
    # Which of its phases are seen between two looks is up to how quick the machine is.
    work = first[2].partition(";")[0]
    assert re.fullmatch(rf"made at once|{_SEEN}(, {_SEEN})*", work)
    assert "cache;desc=hit" in again[2]
    # What its line in the log is found by.
    request = re.search(r"request id ([0-9a-f]{32})", first[2])
    assert request is not None
    # It is logged when its last byte has gone, which its reader may see sooner.
    until(lambda: request[1] in shelf.hub.log_text())
    assert again[1] < first[1]


def test_a_link_that_asks_for_a_password_says_so(api_with_link: tuple[Api, str]) -> None:
    result, steps = examined(api_with_link[1])
    assert result.exit_code == 1
    assert list(steps) == ["name", "connection", "page"]
    assert steps["page"][0] == "FAIL"
    assert "asks for a password" in steps["page"][2]
    assert "docs/operations.md" in result.stderr


def test_a_link_that_is_none_fails_with_its_status(api_with_link: tuple[Api, str]) -> None:
    result, steps = examined(f"{api_with_link[0].url}/s/xph_{'a' * 43}")
    assert result.exit_code == 1
    assert "status 404" in steps["page"][2]


def test_a_hub_that_is_not_there_is_told() -> None:
    result, steps = examined(f"http://127.0.0.1:9/s/xph_{'a' * 43}")
    assert result.exit_code == 1
    assert steps["page"][2] == "no answer (ConnectError)"


@pytest.mark.parametrize("link", ["xph_" + "a" * 43, "http://hub.example/runs", "nonsense"])
def test_what_is_no_link_is_refused(link: str) -> None:
    complaint = Commands("").complaint("doctor", "--link", link, status=2)
    assert "whole address" in complaint
    assert "aaaa" not in complaint


@pytest.fixture
def api_with_link(api_servers: ApiServers) -> tuple[Api, str]:
    api = api_servers.get("sqlite", "dev")
    return api, make_link(api, password=PASSWORD)["uri"]
