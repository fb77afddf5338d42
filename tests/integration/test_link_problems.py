"""Bad files, missing hosts and ended links: said in words, with the file, and never as "no data"."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.cluster import PROFILE_PATH, get
from tests.services.hub import HubFactory, HubProcess, post, share

HTML = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    factory = HubFactory(tmp_path_factory.mktemp("problems"))
    # The tests' sessions lie all over the base, and a hub's own data may not lie in a storage root.
    with tempfile.TemporaryDirectory() as data:
        yield factory.start(
            {
                "XPROF_HUB_STORAGE_ROOTS": str(tmp_path_factory.getbasetemp()),
                "XPROF_HUB_DATA_DIR": data,
            }
        )
        factory.stop_all()


def good(session: Path) -> bytes:
    return min(session.glob("*.xplane.pb")).read_bytes()


def damage(kind: str, session: Path) -> bytes:
    whole = good(session)
    return {
        "empty": b"",
        "truncated": whole[: len(whole) // 2],
        "text": b"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>",
        "gzip": gzip.compress(whole, 1)[:-100],
    }[kind]


def let_rest(path: Path) -> None:
    """Makes a file look as if nobody had written to it for long, so that no upload is waited for."""
    os.utime(path, (1_700_000_000, 1_700_000_000))


WORDS = {"empty": "empty", "truncated": "too early", "text": "not a", "gzip": "gzip"}


@pytest.mark.parametrize("kind", sorted(WORDS))
def test_a_damaged_file_is_named_with_its_reason(
    hub: HubProcess, small_session: Path, tmp_path: Path, kind: str
) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    (folder / "vm.xplane.pb").write_bytes(damage(kind, small_session))
    let_rest(folder / "vm.xplane.pb")
    base = share(hub.url, f"bad {kind}", "s", folder) + PROFILE_PATH
    for route in (
        "data?tag=overview_page&host=ALL_HOSTS",
        "data?tag=trace_viewer@&hosts=vm",
        "run_tools",
    ):
        answer = get(f"{base}/{route}")
        assert answer.status == 422
        error = json.loads(answer.body)["error"]
        assert error["details"][0]["file"] == "vm.xplane.pb"
        assert WORDS[kind] in error["message"]
        assert str(tmp_path) not in answer.body.decode()
        assert "etag" not in answer.headers
    status = get(f"{base}/status")
    assert status.status == 200
    (problem,) = json.loads(status.body)["problems"]
    assert (problem["host"], problem["file"]) == ("vm", "vm.xplane.pb")
    assert WORDS[kind] in problem["message"]
    api = f"{hub.url}/v1/machineLearningRuns/bad%20{kind}/profilerSessions/s/health"
    health = json.loads(get(api).body)
    assert (health["usableHosts"], health["hosts"][0]["file"]) == (0, "vm.xplane.pb")
    assert WORDS[kind] in health["hosts"][0]["message"]
    # Nothing is remembered against the file's next version.
    (folder / "vm.xplane.pb").write_bytes(good(small_session))
    assert get(f"{base}/data?tag=overview_page&host=ALL_HOSTS").status == 200
    assert json.loads(get(f"{base}/status").body)["state"] == "ok"
    assert json.loads(get(api).body)["usableHosts"] == 1


def test_a_page_of_words_for_an_empty_file(hub: HubProcess, tmp_path: Path) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    (folder / "vm.xplane.pb").touch()
    let_rest(folder / "vm.xplane.pb")
    page = get(share(hub.url, "empty page", "s", folder) + PROFILE_PATH + "/", HTML)
    assert page.status == 422
    assert page.headers["content-type"].startswith("text/html")
    assert "vm.xplane.pb: it is empty" in page.body.decode()


def test_one_damaged_host_does_not_hide_the_others(
    hub: HubProcess, demo_session: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "session"
    shutil.copytree(demo_session, folder)
    files = sorted(folder.glob("*.xplane.pb"))
    files[2].write_bytes(files[2].read_bytes()[:1000])
    let_rest(files[2])
    bad = files[2].name.removesuffix(".xplane.pb")
    base = share(hub.url, "three of four", "s", folder) + PROFILE_PATH
    for tool in ("overview_page", "hlo_stats"):
        answer = get(f"{base}/data?tag={tool}&host=ALL_HOSTS")
        assert answer.status == 200
        (warning,) = json.loads(answer.headers["x-xprof-hub-warnings"])
        assert warning.startswith("3 of 4 hosts")
        assert f"{bad}: ends too early" in warning
    assert get(f"{base}/data?tag=hlo_stats&host={bad}").status == 422
    good_host = files[0].name.removesuffix(".xplane.pb")
    assert get(f"{base}/data?tag=hlo_stats&host={good_host}").status == 200


def test_a_session_that_loses_its_files(
    hub: HubProcess, small_session: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "session"
    shutil.copytree(small_session, folder)
    base = share(hub.url, "lost", "s", folder) + PROFILE_PATH
    assert get(f"{base}/data?tag=overview_page&host=ALL_HOSTS").status == 200
    for path in folder.iterdir():
        path.unlink()
    answer = get(f"{base}/data?tag=overview_page&host=ALL_HOSTS")
    assert answer.status == 404
    assert ".xplane.pb" in json.loads(answer.body)["error"]["message"]
    page = get(f"{base}/", HTML)
    assert page.status == 404
    assert "holds no profile" in page.body.decode()
    # XProf's UI never recovers from an error of these three.
    for route in ("runs", "config", "hosts?tag=kernel_stats"):
        assert get(f"{base}/{route}").status == 200


def test_an_empty_folder_cannot_be_attached(hub: HubProcess, tmp_path: Path) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    runs = f"{hub.url}/v1/machineLearningRuns"
    post(f"{runs}?machineLearningRunId=nothing", {})
    with pytest.raises(urllib.request.HTTPError) as caught:
        post(f"{runs}/nothing/profilerSessions", {"storageFolderUri": str(folder)})
    assert caught.value.code == 404
    assert ".xplane.pb" in caught.value.__notes__[0]


def test_only_the_roots_may_be_read(hub: HubProcess, tmp_path: Path) -> None:
    runs = f"{hub.url}/v1/machineLearningRuns"
    post(f"{runs}?machineLearningRunId=roots", {})
    (tmp_path / "out").symlink_to("/etc")
    for location in ("/etc", f"{tmp_path}/../../../../etc", f"{tmp_path}/out", "gs://any/thing"):
        with pytest.raises(urllib.request.HTTPError) as caught:
            post(f"{runs}/roots/profilerSessions", {"storageFolderUri": location})
        assert caught.value.code in {400, 403, 404}


def test_what_xprof_has_and_a_link_has_not(hub: HubProcess, small_session: Path) -> None:
    base = share(hub.url, "not offered", "s", small_session) + PROFILE_PATH
    for route in (
        "capture_profile?service_addr=localhost:1",
        "generate_cache",
        "local",
        "index.js",
    ):
        assert get(f"{base}/{route}").status == 404
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        request = urllib.request.Request(f"{base}/data?tag=overview_page", method=method, data=b"")
        with pytest.raises(urllib.request.HTTPError) as caught:
            urllib.request.urlopen(request)
        assert caught.value.code == 405


def test_ended_and_unknown_links_say_no_more_than_that(
    hub: HubProcess, small_session: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "session"
    shutil.copytree(small_session, folder)
    link = share(hub.url, "ended", "s", folder)
    token = link.rsplit("/", 1)[1]
    links = get(f"{hub.url}/v1/machineLearningRuns/ended/profilerSessions/s/shareLinks").json()
    assert isinstance(links, dict)
    name = links["shareLinks"][0]["name"]
    assert get(link + PROFILE_PATH + "/", HTML).status == 200
    request = urllib.request.Request(f"{hub.url}/v1/{name}", method="DELETE")
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200
    ended = [
        get(f"{link}{path}") for path in ("", PROFILE_PATH + "/runs", PROFILE_PATH + "/data?tag=x")
    ]
    assert {answer.status for answer in ended} == {410}
    assert len({answer.body for answer in ended}) == 1
    page = get(link + PROFILE_PATH + "/", HTML)
    assert page.status == 410
    assert "expired" in page.body.decode()
    shutil.rmtree(folder)  # whether the target is there makes no difference
    assert get(f"{link}{PROFILE_PATH}/runs").body == ended[0].body
    unknown = [
        get(f"{hub.url}/s/{text}{PROFILE_PATH}/runs")
        for text in (
            "xph_" + "A" * 43,
            token[:-1],
            token.lower(),
            "x",
            "xph_",
            "%00",
            "ü".encode().hex(),
        )
    ]
    assert {answer.status for answer in unknown} == {404}
    assert len({answer.body for answer in unknown}) == 1


def test_wrong_hosts_have_one_shape(hub: HubProcess, small_session: Path) -> None:
    base = share(hub.url, "wrong host", "s", small_session) + PROFILE_PATH
    shapes = set()
    for host in ("nobody", "..%2F..%2Fetc", "x" * 150, "%F0%9F%9A%80"):
        answer = get(f"{base}/data?tag=hlo_stats&host={host}")
        error = json.loads(answer.body)["error"]
        message = re.sub("“.*”", "“”", error["message"], flags=re.S)
        shapes.add((answer.status, message, json.dumps(error["details"])))
    assert len(shapes) == 1
    assert next(iter(shapes))[0] == 404


def test_no_token_in_any_log_or_error(hubs: HubFactory, small_session: Path) -> None:
    hub = hubs.start(
        {"XPROF_HUB_STORAGE_ROOTS": str(small_session), "XPROF_HUB_LOG_LEVEL": "debug"}
    )
    link = share(hub.url, "secret", "s", small_session)
    token = link.rsplit("/", 1)[1]
    secret = token.removeprefix("xph_")
    for path in (
        "",
        PROFILE_PATH + "/",
        PROFILE_PATH + "/data?tag=nope",
        PROFILE_PATH + "/data?tag=hlo_stats",
    ):
        answer = get(f"{link}{path}")
        if answer.status >= 400:
            assert secret not in answer.body.decode()
        assert answer.headers["referrer-policy"] == "same-origin"
    get(f"{hub.url}/s/{token[:-4]}XXXX/data/plugin/profile/runs")
    get(f"{hub.url}/v1/machineLearningRuns/{token}")
    hub.stop()
    log = hub.log_text()
    assert json.dumps("xph_…")[1:-1] in log
    assert secret not in log
    assert secret[:20] not in log
