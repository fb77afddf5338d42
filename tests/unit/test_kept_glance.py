"""Reading a glance from the answers that are kept: bounded, and never a reason to fail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import zstandard
from fastapi import Request

from loader.caches.results import DirectoryResults, ResultHeader, StoredError
from loader.catalog import HostFile, SessionFiles
from loader.engine.base import OptionValue
from loader.keys import ToolRequest, result_key
from loader.storage.base import StoredFile
from server.http.revalidated import revalidated_response
from server.ui.shell import ShellPage, render_index
from server.xprof.first_glance import kept_glance, opened_tool

ENGINE = "xprof test"
ANSWER = [{}, {"p": {"hardware_type": "TPU", "steptime_ms_average": "1.57"}, "rows": [{}]}, {}]


def session(*hosts: str) -> SessionFiles:
    files = [HostFile(name, StoredFile(f"/a/{name}", name, 10, "1")) for name in hosts]
    return SessionFiles(("/a",), tuple(files))


def keep(
    results: DirectoryResults,
    folder: Path,
    files: SessionFiles,
    body: bytes,
    error: StoredError | None = None,
) -> None:
    """Keeps an answer as a worker does for what XProf's page asks."""
    packed = zstandard.compress(body)
    (folder / "body").write_bytes(packed)
    header = ResultHeader("application/json", len(packed), len(body), error=error)
    single = files.host_names if len(files.hosts) == 1 else None
    options: dict[str, OptionValue] = {}
    key = result_key(ENGINE, ToolRequest(("/a",), "overview_page", single, options), files.hosts)
    results.put(key, header, folder / "body", 60)


@pytest.fixture
def results(tmp_path: Path) -> DirectoryResults:
    return DirectoryResults(tmp_path / "results", 10_000_000)


@pytest.mark.parametrize("hosts", [("a", "b"), ("only",)])
def test_a_kept_answer_gives_its_figures(
    results: DirectoryResults, tmp_path: Path, hosts: tuple[str, ...]
) -> None:
    files = session(*hosts)
    assert kept_glance(results, ENGINE, files, {}) is None
    keep(results, tmp_path, files, json.dumps(ANSWER).encode())
    for query in ({}, {"host": "gone"}):
        glance = kept_glance(results, ENGINE, files, query)
        assert glance is not None
        assert glance.figures[0].value == "1.57 ms"


def test_another_state_of_the_files_has_no_glance(
    results: DirectoryResults, tmp_path: Path
) -> None:
    keep(results, tmp_path, session("a", "b"), json.dumps(ANSWER).encode())
    assert kept_glance(results, ENGINE, session("a", "b", "late"), {}) is None


def test_large_and_damaged_answers_give_none(results: DirectoryResults, tmp_path: Path) -> None:
    files = session("a", "b")
    for body in (json.dumps([*ANSWER, "x" * (1 << 20)]).encode(), b"\xff[", b"[" * 100_000, b"7"):
        keep(results, tmp_path, files, body)
        assert kept_glance(results, ENGINE, files, {}) is None


@pytest.mark.parametrize("half", [b"\xed\xa0\x80", b"\\ud800"])
def test_half_a_character_keeps_no_page_from_being_sent(
    results: DirectoryResults, tmp_path: Path, half: bytes
) -> None:
    files = session("a", "b")
    keep(results, tmp_path, files, json.dumps(ANSWER).encode().replace(b"1.57", b"1.57" + half))
    glance = kept_glance(results, ENGINE, files, {})
    text = render_index(ShellPage("/s/x", "/a/", "/b/", "run", "session", 2, glance=glance))
    request = Request({"type": "http", "headers": []})
    answer = revalidated_response(request, text, "text/html", {})
    assert b"1.57? ms" in answer.body


def test_a_remembered_failure_gives_none(results: DirectoryResults, tmp_path: Path) -> None:
    files = session("a", "b")
    error = StoredError("malformed", "No.", None)
    keep(results, tmp_path, files, json.dumps(ANSWER).encode(), error)
    assert kept_glance(results, ENGINE, files, {}) is None


@pytest.mark.parametrize(
    ("path", "query", "tool"),
    [
        ("", {}, "overview_page"),
        ("index.html", {}, "overview_page"),
        ("hlo_stats", {}, "hlo_stats"),
        ("hlo_stats/", {}, "hlo_stats"),
        ("overview_page", {"tag": "hlo_stats"}, "hlo_stats"),
    ],
)
def test_the_tool_of_an_address(path: str, query: dict[str, str], tool: str) -> None:
    assert opened_tool(path, query) == tool
