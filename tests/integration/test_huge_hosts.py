"""One huge, padded or foreign file beside good hosts, in a worker with little memory."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.services.cluster import PROFILE_PATH, get
from tests.services.hub import HubFactory, HubProcess, share
from tests.wire_bytes import block

OVERVIEW = "data?tag=overview_page&host="
MB = 1 << 20


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """1 GiB is what some 50 MB of profile need at least."""
    factory = HubFactory(tmp_path_factory.mktemp("huge"))
    with tempfile.TemporaryDirectory() as data:
        yield factory.start(
            {
                "XPROF_HUB_STORAGE_ROOTS": str(tmp_path_factory.getbasetemp()),
                "XPROF_HUB_DATA_DIR": data,
                "XPROF_HUB_MEMORY_BYTES": str(1 << 30),
                "XPROF_HUB_PREWARM": "false",
            }
        )
        factory.stop_all()


def zeros(size: int) -> Callable[[Path], None]:
    """Makes a file of so many zeros, which takes no disk here."""

    def write(path: Path) -> None:
        path.touch()
        os.truncate(path, size)

    return write


def packed(path: Path) -> None:
    """Makes a good profile that is 100 KB, and 100 MB when it is unpacked."""
    profile = min(path.parent.glob("*.xplane.pb")).read_bytes()
    path.write_bytes(gzip.compress(profile + block(2047, bytes(100 * MB)), 1))


@pytest.mark.parametrize(
    ("write", "reason"),
    [
        (zeros(3 << 30), "has 3.0 GiB, and XProf reads at most 2.0 GiB"),
        (zeros(1500 * MB), "needs about 31 GB of memory, this worker may use 1.1 GB"),
        (packed, "needs about 2.1 GB of memory, this worker may use 1.1 GB"),
        (zeros(10 * MB), "is not a protobuf"),
    ],
    ids=["beyond protobuf", "beyond memory", "packed", "no profile"],
)
def test_good_hosts_are_shown_and_the_huge_one_is_named(
    hub: HubProcess,
    small_session: Path,
    tmp_path: Path,
    write: Callable[[Path], None],
    reason: str,
) -> None:
    folder = tmp_path / "session"
    shutil.copytree(small_session, folder)
    names = sorted(path.name.removesuffix(".xplane.pb") for path in folder.iterdir())
    base = share(hub.url, tmp_path.name.replace("_", "-"), "s", folder) + PROFILE_PATH
    whole = get(f"{base}/{OVERVIEW}ALL_HOSTS")
    assert (whole.status, whole.headers.get("x-xprof-hub-warnings")) == (200, None)
    write(folder / "zzz.xplane.pb")
    os.utime(folder / "zzz.xplane.pb", (1e9, 1e9))
    answer = get(f"{base}/{OVERVIEW}ALL_HOSTS")
    assert answer.status == 200
    warnings = json.loads(answer.headers["x-xprof-hub-warnings"])
    assert warnings[0] == f"{len(names)} of {len(names) + 1} hosts; zzz: {reason}"
    assert json.loads(answer.body) == json.loads(whole.body)
    assert get(f"{base}/{OVERVIEW}{names[0]}").status == 200


def test_a_file_beyond_all_bounds_is_refused_and_judged_without_being_fetched(
    hub: HubProcess, tmp_path: Path
) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    zeros(3 << 30)(folder / "vm.xplane.pb")
    base = share(hub.url, "beyond", "s", folder) + PROFILE_PATH
    error = json.loads(get(f"{base}/{OVERVIEW}vm").body)["error"]
    assert error["details"] == [{"reason": "too_large", "file": "vm.xplane.pb"}]
    status = json.loads(get(f"{base}/status").body)
    assert [problem["reason"] for problem in status["problems"]] == ["too_large"]


def test_no_profile_is_no_matter_of_memory(hub: HubProcess, tmp_path: Path) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    zeros(100 * MB)(folder / "vm.xplane.pb")
    os.utime(folder / "vm.xplane.pb", (1e9, 1e9))
    base = share(hub.url, "zeros", "s", folder) + PROFILE_PATH
    answer = get(f"{base}/{OVERVIEW}vm")
    error = json.loads(answer.body)["error"]
    assert (answer.status, error["details"][0]["reason"]) == (422, "malformed")
    assert "it is not a protobuf" in error["message"]
