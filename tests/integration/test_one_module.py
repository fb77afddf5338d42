"""A tool that shows one HLO module needs that module's file: neither the profile nor other modules."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from loader.caches.artifacts import DirectoryArtifacts
from loader.catalog import HostFile
from loader.engine.base import Job, Limits, OptionValue
from loader.engine.produced import produced_files
from loader.engine.xprof import XprofEngine
from loader.keys import ToolRequest
from loader.plan import Plan
from loader.storage.base import StoredFile
from loader.tools import MODULE_LIST, TOOLS
from tests.services.engine import MakeJob

AMPLE = Limits(seconds=60, memory_bytes=4 << 30, output_bytes=1 << 30)
KEY = "0a" * 32


def read(answer: Path) -> object:
    """JSON parsed, for XProf writes maps in any order; other answers as they are."""
    content = answer.read_bytes()
    return json.loads(content) if content.startswith(b"{") else content


def plan(tool: str, **options: OptionValue) -> Plan:
    file = StoredFile("/x/h.xplane.pb", "h.xplane.pb", 1, "1")
    request = ToolRequest(("/x",), tool, None, options)
    return Plan(request, TOOLS[tool], (HostFile("h", file),), KEY, KEY, are_chosen=True)


@pytest.mark.parametrize(
    ("tool", "options"),
    [
        ("memory_viewer", {"memory_space": "0"}),
        ("graph_viewer", {"type": "short_txt", "format": ""}),
    ],
)
def test_the_answer_from_one_module_is_that_from_all(
    engine: XprofEngine,
    make_job: MakeJob,
    small_session: Path,
    tmp_path: Path,
    tool: str,
    options: dict[str, OptionValue],
) -> None:
    made = make_job(MODULE_LIST, *small_session.iterdir())
    names = engine.convert(made, AMPLE).output.read_text().split(",")
    assert len(names) >= 2
    sets = DirectoryArtifacts(tmp_path / "sets", 1 << 30)
    sets.publish(KEY, produced_files(made.directory, made.hosts), made.hosts, ())
    for name in names:
        asked = {**options, "module_name": name}
        whole = Job(made.directory, made.hosts, tool, asked)
        expected = read(engine.convert(whole, AMPLE).output)
        folder = tmp_path / f"one-{tool}-{names.index(name)}"
        folder.mkdir(mode=0o700)
        manifest = sets.fetch(KEY, folder, plan(tool, **asked).wants)
        assert manifest is not None
        assert [path.name for path in folder.iterdir()] == [f"{name}.hlo_proto.pb"]
        assert len(manifest.files) >= len(names)
        answer = engine.convert(Job(folder, made.hosts, tool, asked), AMPLE)
        assert read(answer.output) == expected
        shutil.rmtree(folder)


def test_without_a_name_all_modules_are_needed() -> None:
    assert plan("memory_viewer").wants("any.hlo_proto.pb")
    assert plan("graph_viewer", module_name="").wants("any.hlo_proto.pb")
    assert plan("overview_page").wants("ALL_HOSTS.op_stats_v2.pb")
    assert not plan("graph_viewer", module_name="a").wants("b.hlo_proto.pb")
