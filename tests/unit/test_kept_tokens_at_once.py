"""Commands that change the kept tokens at the same time: none takes back what another has kept."""

from __future__ import annotations

import errno
import fcntl
import multiprocessing
import stat
import threading
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from server.commands.credentials import (
    CredentialsError,
    credentials_file,
    forget_tokens,
    keep_token,
    load_hubs,
)

HUBS = 8


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, for the processes that a test starts, too."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def keep_several(number: int) -> None:
    """What one of several logins at once does, again and again."""
    for _ in range(10):
        keep_token(f"https://hub-{number}.example", f"xpa_{number}")


def test_what_several_processes_keep_at_once_is_all_kept() -> None:
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(HUBS, mp_context=context) as pool:
        list(pool.map(keep_several, range(HUBS)))
    expected = {f"https://hub-{number}.example": f"xpa_{number}" for number in range(HUBS)}
    assert load_hubs().tokens == expected
    left = {entry.name for entry in credentials_file().parent.iterdir()}
    assert left == {"hubs.json", "hubs.json.lock"}


def test_who_changes_the_file_waits_for_the_one_that_does() -> None:
    """Forgetting reads and writes too, and would bring back an older file."""
    path = keep_token("https://one.example", "xpa_one")
    with path.with_name("hubs.json.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = threading.Thread(target=forget_tokens, args=(None,), daemon=True)
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()
        assert load_hubs().tokens == {"https://one.example": "xpa_one"}
    waiting.join(60)
    assert load_hubs().tokens == {}


def test_where_there_are_no_locks_tokens_are_kept_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(problem: int) -> None:
        def flock(_descriptor: int, _operation: int) -> None:
            raise OSError(problem, "no")

        monkeypatch.setattr(fcntl, "flock", flock)

    refuse(errno.ENOLCK)
    path = keep_token("https://one.example", "xpa_one")
    assert load_hubs().tokens == {"https://one.example": "xpa_one"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    refuse(errno.EIO)
    with pytest.raises(CredentialsError, match="can't be locked"):
        keep_token("https://two.example", "xpa_two")


def test_forgetting_makes_nothing_where_nothing_was_kept() -> None:
    assert forget_tokens(None) == []
    assert not credentials_file().parent.exists()
