"""A profile that takes over the engine gets nowhere: not out of its directory, not to the server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from loader.engine.base import Limits
from loader.engine.sandbox import FIRST_UID, available_layers
from loader.engine.xprof import XprofEngine
from loader.errors import ErrorCode, LoaderError
from tests.services.engine import CORPUS, MakeJob

NOBODY = 65_534
NEEDED = {"write in the job", "read the input", "start a thread"}
SECRET = "the signing key of the server"


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user can walk to, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(params=["own user", "same user", "same user, no Landlock"])
def attempts(request: pytest.FixtureRequest, place: Path) -> dict[str, str]:
    """What came of each attempt, with a user of the conversion's own (root only) and without."""
    is_root = os.geteuid() == 0
    if request.param == "own user":
        if not is_root:
            pytest.skip("only root can give a conversion a user of its own")
        server, child, owner = os.geteuid(), str(FIRST_UID), FIRST_UID
    else:
        server, child = (NOBODY if is_root else os.geteuid()), "-"
        owner = server
    job, outside = place / "job", place / "outside"
    job.mkdir(mode=0o700)
    (outside / "everyone").mkdir(parents=True)
    (outside / "everyone").chmod(0o777)
    (outside / "secret").write_text(SECRET)
    (job / "vm.xplane.pb").write_bytes(b"profile")
    (job / "vm.xplane.pb").chmod(0o444)
    os.chown(job / "vm.xplane.pb", server, -1)
    os.chown(job, owner, -1)
    extra = ["no-landlock"] if "no Landlock" in request.param else []
    return run_attempts([str(job), str(outside), str(server), child, *extra])


def run_attempts(arguments: list[str]) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile.break_out", *arguments],
        stdout=subprocess.PIPE,
        timeout=60,
        check=True,
        cwd=Path(__file__).parents[2],
        env={"PATH": os.environ["PATH"], "SECRET": SECRET},
    )
    outcome: dict[str, str] = json.loads(done.stdout)
    return outcome


def test_no_way_out(attempts: dict[str, str], request: pytest.FixtureRequest) -> None:
    held = {layer.name for layer in available_layers() if layer.holds}
    expected = set(NEEDED)
    if "landlock" not in held or "no Landlock" in request.node.callspec.id:
        expected |= {
            "write outside",
            "write outside by a relative path",
            "read outside",
            "list outside",
        }
    if "system_calls" not in held:
        pytest.skip("this machine has no system call filter")
    assert {name for name, outcome in attempts.items() if outcome == "done"} <= expected
    assert {name for name in NEEDED if attempts[name] != "done"} == set()


def as_plain_user(place: Path, session: Path, *required: str) -> dict[str, object]:
    """Which tools a user without privileges gets answered, and who owns what was written for it."""
    if os.geteuid() != 0:
        pytest.skip("all other tests of the engine run without root already")
    for profile in session.iterdir():
        shutil.copy(profile, place)
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile.plain_user", str(place), str(NOBODY), *required],
        stdout=subprocess.PIPE,
        timeout=120,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("required", [[], ["system_calls", "own_user|landlock"]])
def test_conversions_work_without_root(
    place: Path, small_session: Path, required: list[str]
) -> None:
    if required and not any(
        layer.name == "landlock" and layer.holds for layer in available_layers()
    ):
        pytest.skip("this kernel has no Landlock")
    assert as_plain_user(place, small_session, *required) == {
        "tools": ["run_tools", "overview_page", "trace_viewer@"],
        "owners": [NOBODY],
    }


def test_a_child_that_cannot_put_on_a_required_layer_converts_nothing(
    place: Path, small_session: Path
) -> None:
    assert as_plain_user(place, small_session, "own_user") == {"tools": [], "owners": []}


LIMITS = Limits(seconds=1.5, memory_bytes=512 << 20, output_bytes=256 << 20)
TOOLS = (
    "run_tools",
    "overview_page",
    "op_profile",
    "trace_viewer@",
    "memory_profile",
    "trace_viewer",
)
PROFILES = sorted(path.name for path in CORPUS.glob("*.xplane.pb"))


@pytest.mark.parametrize("profile", PROFILES)
def test_every_hostile_profile_has_an_answer_or_a_sentence(
    engine: XprofEngine, make_job: MakeJob, tmp_path: Path, profile: str
) -> None:
    zygote = engine.zygote_pid
    for tool in TOOLS:
        job = make_job(tool, CORPUS / profile)
        try:
            engine.convert(job, LIMITS)
        except LoaderError as error:
            assert error.code is not ErrorCode.INTERNAL
            is_unreadable = error.code is ErrorCode.MALFORMED  # whatever the tool
            words = "not a readable XProf profile" if is_unreadable else f"{tool} from {profile}"
            assert words in error.message
            assert error.file == profile
            assert str(tmp_path) not in error.message
    assert zygote is None or engine.zygote_pid == zygote


def test_a_module_name_can_not_write_beside_the_job(
    engine: XprofEngine, make_job: MakeJob, tmp_path: Path
) -> None:
    # The profile's HLO module is called "../../victim/evil"; bare XProf writes that file.
    job = make_job("run_tools", CORPUS / "hlo_traversal.xplane.pb")
    victim = tmp_path.parent / "victim"
    victim.mkdir()
    if os.geteuid() == 0:
        victim.chmod(0o777)
    with pytest.raises(LoaderError) as caught:
        engine.convert(job, LIMITS)
    assert caught.value.code is ErrorCode.ENGINE_REFUSED
    assert list(victim.iterdir()) == []
    victim.rmdir()


def test_a_module_name_can_not_read_beside_the_job(
    engine: XprofEngine, make_job: MakeJob, tmp_path: Path
) -> None:
    inside = make_job("module_list", CORPUS / "hlo_operand_cycle.xplane.pb")
    engine.convert(inside, LIMITS)
    module = next(inside.directory.glob("*.hlo_proto.pb"))
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(module, other / "secret.hlo_proto.pb")
    job = make_job(
        "graph_viewer",
        CORPUS / "hlo_operand_cycle.xplane.pb",
        module_name="../other/secret",
        type="short_txt",
    )
    with pytest.raises(LoaderError) as caught:
        engine.convert(job, LIMITS)
    assert caught.value.code is ErrorCode.ENGINE_REFUSED


def test_the_directory_is_ours_again_afterwards(engine: XprofEngine, make_job: MakeJob) -> None:
    job = make_job("run_tools", CORPUS / "ts_int64_min.xplane.pb")
    engine.convert(job, LIMITS)
    assert job.directory.stat().st_uid == os.geteuid()
    assert job.directory.stat().st_mode & 0o777 == 0o700


def test_names_full_of_html_are_never_answered_as_html(
    engine: XprofEngine, make_job: MakeJob
) -> None:
    job = make_job("trace_viewer@", CORPUS / "html_in_names.xplane.pb")
    converted = engine.convert(job, LIMITS)
    assert converted.content_type == "application/json"
    json.loads(converted.output.read_bytes())
