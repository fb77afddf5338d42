"""What the page says of a session's hosts."""

from __future__ import annotations

import pytest

from loader.catalog import HostFile, SessionFiles
from loader.errors import ErrorCode, LoaderError
from loader.storage.base import StoredFile
from server.sessions.schemas import HostHealth
from server.sessions.status import HostNote, missing_hosts, status_of_failure, status_of_session


def session(*hosts: str) -> SessionFiles:
    files = [StoredFile(f"/s/{host}.xplane.pb", f"{host}.xplane.pb", 10, "1") for host in hosts]
    return SessionFiles(
        ("/s",), tuple(HostFile(host, file) for host, file in zip(hosts, files, strict=True))
    )


def row(host: str, reason: ErrorCode | None = None, *warnings: str) -> HostHealth:
    return HostHealth(
        host=host,
        file=f"{host}.xplane.pb",
        size=10,
        usable=reason is None,
        reason=reason and reason.value,
        message=reason and "It ends too early.",
        warnings=warnings,
    )


def test_a_whole_session_is_ok() -> None:
    status = status_of_session(session("a", "b"), [row("a"), row("b")], 2)
    assert (status.state, status.hosts, status.expected_hosts) == ("ok", ("a", "b"), 2)
    assert (status.problems, status.warnings, status.notes) == ((), (), ())


def test_a_damaged_host_and_oddities_are_named() -> None:
    rows = [row("a", None, "3 events have impossible times."), row("b", ErrorCode.MALFORMED)]
    status = status_of_session(session("a", "b"), rows, None)
    assert status.state == "problem"
    (problem,) = status.problems
    assert problem == HostNote(
        host="b", file="b.xplane.pb", reason="malformed", message="It ends too early."
    )
    (warning,) = status.warnings
    assert (warning.host, warning.message) == ("a", "3 events have impossible times.")


def test_a_session_with_hosts_to_come_is_incomplete() -> None:
    status = status_of_session(session("a", "b", "c"), [row(name) for name in "abc"], 4)
    assert (status.state, status.expected_hosts) == ("incomplete", 4)
    (note,) = status.notes
    assert "3 of 4 hosts" in note


def test_a_file_that_is_still_written_makes_the_session_incomplete() -> None:
    rows = [row("a"), row("b", ErrorCode.INCOMPLETE)]
    assert status_of_session(session("a", "b"), rows, None).state == "incomplete"


def test_a_session_that_cannot_be_listed_says_why() -> None:
    status = status_of_failure(LoaderError(ErrorCode.PERMISSION_DENIED, "May not read."))
    (problem,) = status.problems
    assert (status.state, problem.reason) == ("problem", "permission_denied")
    still = status_of_failure(LoaderError(ErrorCode.INCOMPLETE, "Wait.", "a.xplane.pb"))
    assert still.state == "incomplete"


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.STORAGE_UNAVAILABLE,
        ErrorCode.SOURCE_CHANGED,
        ErrorCode.BUSY,
        ErrorCode.TIMED_OUT,
        ErrorCode.INTERNAL,
    ],
)
def test_trouble_of_ours_says_nothing_against_a_session(code: ErrorCode) -> None:
    status = status_of_failure(LoaderError(code, "No worker answers."))
    assert (status.state, status.problems, status.notes) == ("unknown", (), ("No worker answers.",))


def test_an_answer_from_fewer_hosts_than_took_part_says_so() -> None:
    (warning,) = missing_hosts(4, session("a", "b", "c"))
    assert warning.startswith("3 of 4 hosts; ")
    for registered in (None, 2, 3):
        assert missing_hosts(registered, session("a", "b", "c")) == ()
