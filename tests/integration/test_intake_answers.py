"""Profiles that are compressed, need a repair or are still uploading, opened through a link."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.services.cluster import PROFILE_PATH, get
from tests.services.engine import CORPUS
from tests.services.hub import HubFactory, HubProcess, share


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    factory = HubFactory(tmp_path_factory.mktemp("intake"))
    # The tests' sessions lie all over the base, and a hub's own data may not lie in a storage root.
    with tempfile.TemporaryDirectory() as data:
        yield factory.start(
            {
                "XPROF_HUB_STORAGE_ROOTS": str(tmp_path_factory.getbasetemp()),
                "XPROF_HUB_DATA_DIR": data,
                "XPROF_HUB_UNPACKED_BYTES": str(8 << 20),
            }
        )
        factory.stop_all()


def good(session: Path) -> bytes:
    return min(session.glob("*.xplane.pb")).read_bytes()


def session_of(tmp_path: Path, data: bytes) -> Path:
    folder = tmp_path / "session"
    folder.mkdir()
    (folder / "vm.xplane.pb").write_bytes(data)
    return folder


def test_a_compressed_profile_answers_what_the_plain_one_does(
    hub: HubProcess, small_session: Path, tmp_path: Path
) -> None:
    plain = session_of(tmp_path, good(small_session))
    packed = session_of(tmp_path / "session", gzip.compress(good(small_session)))
    route = "/data?tag=hlo_stats&host=ALL_HOSTS"
    answers = [
        get(share(hub.url, name, "s", folder) + PROFILE_PATH + route)
        for name, folder in (("plain", plain), ("packed", packed))
    ]
    assert [answer.status for answer in answers] == [200, 200]
    assert json.loads(answers[0].body) == json.loads(answers[1].body)


def test_a_bomb_is_refused_and_the_next_request_is_answered(
    hub: HubProcess, small_session: Path, tmp_path: Path
) -> None:
    folder = session_of(tmp_path, gzip.compress(bytes(64 << 20)))
    base = share(hub.url, "bomb", "s", folder) + PROFILE_PATH
    answer = get(f"{base}/data?tag=overview_page&host=ALL_HOSTS")
    error = json.loads(answer.body)["error"]
    assert error["details"][0]["reason"] == "too_large"
    assert "unpacked, it has more than 8,388,608 bytes" in error["message"]
    (folder / "vm.xplane.pb").write_bytes(good(small_session))
    assert get(f"{base}/data?tag=overview_page&host=ALL_HOSTS").status == 200


@pytest.mark.parametrize(
    ("name", "fixed"),
    [
        (b"sub/mod", "sub_mod"),
        (b"sub,mod", "sub_mod"),
        (b"sub\nmod", "sub?mod"),
        ("s\u202emod".encode(), "s???mod"),
    ],
    ids=["slash", "comma", "control", "direction"],
)
def test_a_module_with_odd_characters_has_its_tools(
    hub: HubProcess, tmp_path: Path, name: bytes, fixed: str
) -> None:
    data = (CORPUS / "hlo_slash.xplane.pb").read_bytes()
    folder = session_of(tmp_path, data.replace(b"sub/mod", name))
    base = share(hub.url, f"module-{name.hex()}", "s", folder) + PROFILE_PATH
    tools = json.loads(get(f"{base}/run_tools").body)
    assert {"memory_viewer", "graph_viewer"} <= set(tools)
    modules = get(f"{base}/module_list").body.decode()
    assert modules == f"{fixed}(8)"
    answer = get(f"{base}/data?tag=memory_viewer&host=vm&module_name={quote(modules)}")
    assert answer.status == 200
    assert f"called '{fixed}' here" in answer.headers["x-xprof-hub-warnings"]


def test_unreadable_names_are_shown_with_question_marks(hub: HubProcess, tmp_path: Path) -> None:
    data = (CORPUS / "html_in_names.xplane.pb").read_bytes()
    folder = session_of(tmp_path, data.replace(b"<img", b"<\xffmg"))
    base = share(hub.url, "utf8", "s", folder) + PROFILE_PATH
    answer = get(f"{base}/data?tag=trace_viewer@&hosts=vm&resolution=8000")
    assert answer.status == 200
    assert "not readable (UTF-8)" in answer.headers["x-xprof-hub-warnings"]


def test_an_upload_under_way_is_incomplete_and_then_answered(
    hub: HubProcess, small_session: Path, tmp_path: Path
) -> None:
    whole = good(small_session)
    folder = session_of(tmp_path, b"")
    base = share(hub.url, "upload", "s", folder) + PROFILE_PATH
    route = f"{base}/data?tag=overview_page&host=ALL_HOSTS"
    for length in (0, 1000, len(whole) - 1):
        (folder / "vm.xplane.pb").write_bytes(whole[:length])
        answer = get(route)
        assert answer.status == 422
        error = json.loads(answer.body)["error"]
        assert error["details"][0] == {"reason": "incomplete", "file": "vm.xplane.pb"}
        assert "an upload may be under way" in error["message"]
    (folder / "vm.xplane.pb").write_bytes(whole)
    assert get(route).status == 200
