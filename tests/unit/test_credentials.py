"""Which hub and token a command uses, and how tokens are kept."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from server.commands.credentials import (
    CredentialsError,
    credentials_file,
    find_access,
    forget_tokens,
    keep_token,
    load_hubs,
)

ONE, OTHER = "https://one.example", "https://other.example/hub"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_nothing_is_kept_at_first() -> None:
    assert find_access("", "") == find_access("http://127.0.0.1:8080", "")
    assert find_access("", "").token == ""


def test_a_token_is_kept_for_its_owner_alone() -> None:
    path = keep_token(f"{ONE}/", "xpa_one")
    assert path == credentials_file()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {entry.name for entry in path.parent.iterdir()} == {"hubs.json", "hubs.json.lock"}
    assert {stat.S_IMODE(entry.stat().st_mode) for entry in path.parent.iterdir()} == {0o600}
    found = find_access("", "")
    assert (found.url, found.token, found.source) == (ONE, "xpa_one", str(path))


def test_a_token_goes_to_the_address_that_it_was_kept_for_and_to_no_other() -> None:
    keep_token(ONE, "xpa_one")
    keep_token(OTHER, "xpa_other")
    assert find_access("", "").token == "xpa_other"
    assert find_access(ONE, "").token == "xpa_one"
    for strange in (f"{ONE}.evil.example", "http://one.example", f"{ONE}:8443", f"{ONE}/x"):
        assert find_access(strange, "").token == ""


def test_what_is_said_wins_over_what_is_kept() -> None:
    keep_token(ONE, "xpa_one")
    assert find_access("", "xpa_said").token == "xpa_said"
    said = find_access(OTHER, "xpa_said")
    assert (said.url, said.token) == (OTHER, "xpa_said")


def test_a_hub_without_tokens_is_remembered_too() -> None:
    keep_token(ONE, "xpa_one")
    keep_token("http://127.0.0.1:9000", "")
    assert find_access("", "").url == "http://127.0.0.1:9000"
    assert load_hubs().tokens == {ONE: "xpa_one"}


def test_one_or_all_are_forgotten() -> None:
    keep_token(ONE, "xpa_one")
    keep_token(OTHER, "xpa_other")
    assert forget_tokens(f"{OTHER}/") == [OTHER]
    assert "xpa_other" not in credentials_file().read_text()
    assert find_access("", "").url == "http://127.0.0.1:8080"
    assert find_access(ONE, "").token == "xpa_one"
    assert forget_tokens(None) == [ONE]
    assert forget_tokens(None) == []


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_file_that_others_may_read_is_refused(mode: int) -> None:
    keep_token(ONE, "xpa_one").chmod(mode)
    with pytest.raises(CredentialsError, match="chmod 600"):
        find_access("", "")
    # Who names both needs no file.
    assert find_access(ONE, "xpa_said").token == "xpa_said"


@pytest.mark.parametrize("content", ["", "[]", "{", json.dumps({"tokens": 5})])
def test_a_damaged_file_is_named_and_shows_nothing(content: str) -> None:
    path = keep_token(ONE, "xpa_secret")
    path.write_text(content)
    with pytest.raises(CredentialsError, match="sign in again") as caught:
        find_access("", "")
    assert str(path) in str(caught.value)


def test_a_folder_that_cant_be_written_is_named(home: Path) -> None:
    (home / "config").write_text("a file in the way")
    with pytest.raises(CredentialsError, match="can't be"):
        keep_token(ONE, "xpa_one")


def test_a_relative_folder_of_configurations_is_ignored(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert credentials_file() == home / ".config" / "xprof-hub" / "hubs.json"
