"""Whoever may name a file in a bucket, or runs a hub, must not steer the terminals of those who list it."""

from __future__ import annotations

import json
import webbrowser

import pytest

from server.client.errors import HubError
from server.commands import browser
from server.commands.console import fail
from server.commands.tables import print_fields, print_json, print_list, print_table
from server.schemas import Run

NASTY = "a\x1b[2J\x1b]0;title\x07b\x9b31mc\u202ed\u2066e\x7f\r"
SHOWN = "a\ufffd[2J\ufffd]0;title\ufffdb\ufffd31mc\ufffdd\ufffde\ufffd\ufffd"


def only_harmless(text: str) -> bool:
    return not set(NASTY) & set(text) - set("a[2J]0;titleb31mcde")


def test_tables_fields_and_problems_show_what_they_do_not_obey(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(("HOST", "FILE"), [(NASTY, "f")])
    print_fields([("Host", NASTY)])
    fail(str(HubError(NASTY)), hints=[NASTY])
    printed, said = capsys.readouterr()
    assert [line.split()[0] for line in printed.splitlines()[1:]] == [SHOWN, "Host"]
    assert said == f"xprof-hub: {SHOWN}\n  {SHOWN}\n"
    assert only_harmless(printed + said)


def test_json_means_the_same_and_shows_nothing_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run.model_construct(_fields_set={"display_name"}, display_name=f"{NASTY} m\u00fc")
    print_json(run)
    print_list([run], False, (), lambda _: (), as_lines=True)
    printed = capsys.readouterr().out
    first, second = printed[: printed.index("}\n") + 2], printed[printed.index("}\n") + 2 :]
    for text in (first, second):
        assert json.loads(text) == {"displayName": f"{NASTY} m\u00fc"}
        assert only_harmless(text)
        assert "m\u00fc" in text


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "--remote-debugging-port=1", "javascript:alert(1)", ""]
)
def test_only_web_pages_are_opened(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    opened: list[str] = []
    monkeypatch.setenv("DISPLAY", ":0")

    def note(one: str) -> bool:
        opened.append(one)
        return True

    monkeypatch.setattr(webbrowser, "open", note)
    assert not browser.show_page(address)
    assert browser.show_page("https://hub.example.com/runs")
    assert opened == ["https://hub.example.com/runs"]
