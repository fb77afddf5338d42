"""XProf itself refuses the profiles that need a repair, and converts the repaired ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from loader.engine.base import Job, Limits
from loader.engine.xprof import XprofEngine
from loader.errors import ErrorCode, LoaderError
from loader.intake.door import take_in
from loader.storage.base import StoredFile
from tests.services.engine import CORPUS
from tests.text_places import profiles

LIMITS = Limits(seconds=60, memory_bytes=2 << 30)
UNREADABLE = profiles(b"caf\xe9")


def trace(engine: XprofEngine, directory: Path) -> bytes:
    job = Job(directory, ("vm",), "trace_viewer@", {"resolution": 8000})
    return engine.convert(job, LIMITS).output.read_bytes()


def private(tmp_path: Path, name: str) -> Path:
    directory = tmp_path / name
    directory.mkdir(mode=0o700)
    return directory / "vm.xplane.pb"


@pytest.mark.parametrize("place", UNREADABLE)
def test_an_unreadable_text_stops_xprof_until_it_is_repaired(
    engine: XprofEngine, tmp_path: Path, place: str
) -> None:
    raw = private(tmp_path, "raw")
    raw.write_bytes(UNREADABLE[place])
    with pytest.raises(LoaderError) as caught:
        trace(engine, raw.parent)
    assert caught.value.code is ErrorCode.MALFORMED
    assert "a part of it is damaged" in caught.value.message
    target = private(tmp_path, "job")
    take_in(raw, StoredFile("/s/vm.xplane.pb", "vm.xplane.pb", raw.stat().st_size, "1"), target)
    assert b"traceEvents" in trace(engine, target.parent)


def test_a_slash_in_a_module_name_stops_xprof_until_it_is_repaired(
    engine: XprofEngine, tmp_path: Path
) -> None:
    source = CORPUS / "hlo_slash.xplane.pb"
    target = private(tmp_path, "job")
    take_in(source, StoredFile(str(source), source.name, source.stat().st_size, "1"), target)
    job = Job(target.parent, ("vm",), "module_list", {}, needs_modules=True)
    assert engine.convert(job, LIMITS).output.read_bytes() == b"sub_mod(8)"
    raw = private(tmp_path, "raw")
    raw.write_bytes(source.read_bytes())
    with pytest.raises(LoaderError):
        engine.convert(Job(raw.parent, ("vm",), "module_list", {}, needs_modules=True), LIMITS)
