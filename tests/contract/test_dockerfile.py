"""The image: what its instructions say holds against this tree, without a Docker engine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from server.settings import Settings
from tests.contract.dockerfile import Stage, read_stages
from tests.services.processes import free_port

ROOT = Path(__file__).resolve().parents[2]
BUILD_TOOLS = re.compile(r"\b(apt-get|gcc|build-essential|pip install|hatchling|curl|git)\b")


@pytest.fixture(scope="module")
def stages() -> list[Stage]:
    return read_stages(ROOT / "Dockerfile")


def copied_from_tree(stages: list[Stage]) -> list[str]:
    return [
        source.rstrip("/")
        for stage in stages
        for copy in stage.all("COPY")
        if "from" not in copy.flags
        for source in copy.plain[:-1]
    ]


def test_every_copied_path_exists_and_reaches_the_builder(stages: list[Stage]) -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    allowed = {line[1:].rstrip("/") for line in lines if line.startswith("!")}
    assert "*" in lines
    copied = copied_from_tree(stages)
    assert set(copied) == allowed
    for source in copied:
        assert (ROOT / source).exists(), source


def test_copies_between_stages_name_an_earlier_stage(stages: list[Stage]) -> None:
    for number, stage in enumerate(stages):
        earlier = {before.name for before in stages[:number]}
        for copy in stage.all("COPY"):
            assert copy.flags.get("from", "") in earlier | {""}


def test_both_stages_have_the_same_python(stages: list[Stage]) -> None:
    # The environment's interpreter is a link to the base image's.
    build, final = stages
    assert build.base == final.base
    assert re.fullmatch(r"python:3\.1[123]-slim-\w+", final.base)


def test_packages_come_from_locks_with_hashes(stages: list[Stage]) -> None:
    build, _ = stages
    installs = [
        command
        for run in build.all("RUN")
        for command in run.text.split("&&")
        if re.search(r"pip .*\binstall\b", command)
    ]
    assert len(installs) == 3
    for command in installs:
        assert "--require-hashes -r requirements-" in command or "--no-deps --no-index" in command


def test_final_stage_holds_no_build_tools(stages: list[Stage]) -> None:
    final = stages[-1]
    for run in final.all("RUN"):
        assert not BUILD_TOOLS.search(run.text)
    assert any("pip uninstall --yes pip" in run.text for run in final.all("RUN"))
    assert [copy.flags.get("from") for copy in final.all("COPY")] == ["build"]


def test_it_runs_as_an_unprivileged_user_that_owns_its_data(stages: list[Stage]) -> None:
    final = stages[-1]
    user = final.last("USER").text
    assert user == "10001:10001"
    assert any("useradd" in run.text and "--uid 10001" in run.text for run in final.all("RUN"))
    assert any(
        f"--mode=0700 {final.environment['XPROF_HUB_DATA_DIR']}" in run.text
        for run in final.all("RUN")
    )
    assert final.instructions.index(final.last("USER")) > final.instructions.index(
        final.last("RUN")
    )


def test_its_settings_are_real_and_refuse_to_serve_strangers_unconfigured(
    stages: list[Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {
        name: value
        for name, value in stages[-1].environment.items()
        if name.startswith("XPROF_HUB_")
    }
    for name, value in environment.items():
        assert name.removeprefix("XPROF_HUB_").lower() in Settings.model_fields
        monkeypatch.setenv(name, value)
    settings = Settings()
    assert settings.environment == "production"
    assert settings.problems_in_production()


def test_it_starts_the_installed_command(stages: list[Stage]) -> None:
    final = stages[-1]
    assert final.last("ENTRYPOINT").words == ["xprof-hub"]
    assert final.last("CMD").words == ["serve"]
    assert final.environment["PATH"].startswith("/opt/xprof-hub/bin:")


class Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/healthz" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


def health_status(stage: Stage, port: int) -> int:
    """Exit status of the health check's command against a port."""
    words = stage.last("HEALTHCHECK").text.partition("CMD ")[2]
    _, *arguments = json.loads(words)
    environment = {"XPROF_HUB_PORT": str(port)}
    return subprocess.run(
        [sys.executable, *arguments], check=False, env=environment, capture_output=True, timeout=20
    ).returncode


def test_health_check_tells_a_serving_process_from_a_dead_one(stages: list[Stage]) -> None:
    with HTTPServer(("127.0.0.1", 0), Healthy) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            assert health_status(stages[-1], server.server_port) == 0
        finally:
            server.shutdown()
            thread.join()
    assert health_status(stages[-1], free_port()) != 0


@pytest.fixture(scope="module")
def wheel_names(stages: list[Stage], tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Names in the wheel that is built from exactly what the Dockerfile copies."""
    folder = tmp_path_factory.mktemp("image")
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    for source in copied_from_tree(stages):
        path = ROOT / source
        if path.is_dir():
            shutil.copytree(path, folder / source, ignore=ignored)
        else:
            shutil.copyfile(path, folder / source)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--wheel-dir", "dist", "."]
    subprocess.run(command, cwd=folder, check=True, timeout=120)
    (wheel,) = (folder / "dist").iterdir()
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_every_file_of_the_packages(wheel_names: set[str]) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "auth", "loader", "server"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    files = {name for name in tracked.split("\0") if name and (ROOT / name).exists()}
    assert files
    assert files - wheel_names == set()
