"""Other secret keys that are accepted: read by every seal, heard by a worker, never what is written with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from auth.browser_sessions import BrowserSeals, BrowserSession, HandOver, SessionPass, SignInMethod
from auth.link_seals import LinkSeals
from auth.links import RunTarget, ShareLink
from auth.oidc import AttemptSeal, new_attempt
from auth.sealing import Seal
from server.callers.sealing_secret import sealing_secrets
from server.fleet.protocol import worker_credential, worker_credentials
from server.settings import Settings

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)
SESSION = BrowserSession("b", SignInMethod.TOKEN, "t", None, NOW, NOW + timedelta(hours=1))
PASS = SessionPass("b", "s", NOW + timedelta(hours=1))
ATTEMPT = new_attempt("/runs", "/runs", NOW)
LINK = ShareLink("l", RunTarget("r", "u"), NOW, None, None, 0, "", "me", password_hash="scrypt$a")

Carry = Callable[[Sequence[str], Sequence[str]], bool]
"""Whether what a process writes with its keys is good for another one with other keys."""


def carry_session(writer: Sequence[str], reader: Sequence[str]) -> bool:
    text = seals(writer).write_session(SESSION)
    return seals(reader).read_session(text, LATER) == "b"


def carry_pass(writer: Sequence[str], reader: Sequence[str]) -> bool:
    text = seals(writer).write_pass(PASS)
    return seals(reader).read_pass(text, LATER) == PASS


def carry_hand_over(writer: Sequence[str], reader: Sequence[str]) -> bool:
    text = seals(writer).write_hand_over(HandOver(PASS, NOW + timedelta(minutes=2)))
    found = seals(reader).read_hand_over(text, LATER)
    return found is not None and found.granted == PASS


def carry_attempt(writer: Sequence[str], reader: Sequence[str]) -> bool:
    text = AttemptSeal(writer[0], writer[1:]).write(ATTEMPT)
    return AttemptSeal(reader[0], reader[1:]).read(text, LATER) == ATTEMPT


def carry_link_key(writer: Sequence[str], reader: Sequence[str]) -> bool:
    text = LinkSeals(writer[0], writer[1:]).write_key(LINK, NOW).text
    return LinkSeals(reader[0], reader[1:]).is_key(text, LINK, LATER)


def carry_opening(writer: Sequence[str], reader: Sequence[str]) -> bool:
    text = LinkSeals(writer[0], writer[1:]).write_opening(LINK, NOW).text
    return LinkSeals(reader[0], reader[1:]).is_opening(text, LINK, LATER)


def carry_credential(writer: Sequence[str], reader: Sequence[str]) -> bool:
    return worker_credential(writer[0]) in worker_credentials(reader)


def seals(keys: Sequence[str]) -> BrowserSeals:
    return BrowserSeals(keys[0], keys[1:])


CARRIES: tuple[Carry, ...] = (
    carry_session,
    carry_pass,
    carry_hand_over,
    carry_attempt,
    carry_link_key,
    carry_opening,
    carry_credential,
)
STEPS = (("old",), ("old", "new"), ("new", "old"), ("new",))
"""Keys of a process in each step of a change, the one that it uses first."""


@pytest.mark.parametrize("carry", CARRIES)
def test_processes_one_step_apart_understand_each_other(carry: Carry) -> None:
    for before, after in pairwise(STEPS):
        assert carry(before, after), (before, after)
        assert carry(after, before), (after, before)


@pytest.mark.parametrize("carry", CARRIES)
def test_processes_two_steps_apart_do_not(carry: Carry) -> None:
    assert not carry(("old", "new"), ("new",)), "a key that was dropped opens nothing"
    assert not carry(("new", "old"), ("old",)), "a key that was not listed yet opens nothing"


def test_a_purpose_stays_its_own_whichever_key_is_used() -> None:
    text = Seal("old", "one").write({"a": 1})
    assert Seal("new", "one", ["older", "old"]).read(text) == {"a": 1}
    assert Seal("new", "other", ["older", "old"]).read(text) is None


def test_a_key_out_of_a_file_is_the_same_in_each_step() -> None:
    """Such a file ends with a line break, which a list of several does not keep."""
    before = Settings.model_validate({"secret_key": "key-of-before\n"})
    after = Settings.model_validate({"secret_key": "next\n", "old_secret_keys": "key-of-before\n"})
    text = Seal(sealing_secrets(before).secret, "one").write({"a": 1})
    secret, accepted = sealing_secrets(after)
    assert Seal(secret, "one", accepted).read(text) == {"a": 1}


@pytest.mark.parametrize("key", ["", " ", "change-me\n", " change-me"])
def test_production_is_not_talked_out_of_a_secret_by_blanks(key: str) -> None:
    settings = Settings.model_validate({"secret_key": key, "environment": "production"})
    assert any("XPROF_HUB_SECRET_KEY" in line for line in settings.problems_with_secrets())


def test_neither_the_default_nor_nothing_is_ever_accepted() -> None:
    """Everybody knows the default; whoever lists it among the former keys opens nothing to them."""
    listed = Settings.model_validate(
        {"secret_key": "mine", "old_secret_keys": "change-me,, former ,mine,former"}
    )
    assert listed.accepted_secret_keys == ("former",)
    assert sealing_secrets(listed) == ("mine", ("former",))
    blank = Settings.model_validate({"old_secret_keys": '[" ", "change-me\\n", "former\\n"]'})
    assert blank.accepted_secret_keys == ("former",)
    none_yet = Settings.model_validate({"old_secret_keys": "change-me"})
    assert sealing_secrets(none_yet).accepted == ()
