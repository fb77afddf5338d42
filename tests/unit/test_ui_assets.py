"""Static files: XProf's scripts byte for byte, everything hashed, compressed once, and never another host."""

from __future__ import annotations

import gzip
import hashlib
import re
import subprocess
import sys
from pathlib import Path

import brotli
import pytest

from server.ui.assets import (
    OWN_FILES,
    XPROF_FILES,
    Asset,
    Assets,
    XprofNotInstalledError,
    find_xprof_static,
    load_assets,
)
from server.ui.shell import MODULES


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Assets:
    return load_assets(find_xprof_static(), tmp_path_factory.mktemp("cache"))


def body_of(assets: Assets, name: str) -> bytes:
    asset = assets.get(name)
    assert asset is not None
    return asset.body


@pytest.mark.parametrize("name", [name for name in XPROF_FILES if name.endswith(".js")])
def test_xprof_scripts_are_served_byte_for_byte(assets: Assets, name: str) -> None:
    assert body_of(assets, name) == (find_xprof_static() / name).read_bytes()


def test_trace_page_links_no_other_host_and_takes_immutable_scripts(assets: Assets) -> None:
    page = body_of(assets, "trace_viewer_index.html")
    assert not re.search(rb'(?:href|src)="https?:', page)
    sources = re.findall(rb'<script[^>]*src="([^"]*)"', page)
    place = f"_assets/{assets.hash}/".encode()
    assert sources == [place + b"trace.js", place + b"trace_viewer_index.js"]


def test_stylesheets_import_nothing_from_other_hosts(assets: Assets) -> None:
    for name in assets.names():
        if name.endswith(".css"):
            loaded = re.findall(rb"@import[^;]*|url\([^)]*\)", body_of(assets, name))
            assert [address for address in loaded if b"//" in address] == [], name


def test_unknown_file_is_none(assets: Assets) -> None:
    assert assets.get("../assets.py") is None
    assert assets.get("index.html") is None


def test_every_own_module_is_served_and_preloaded(assets: Assets) -> None:
    imported = {
        path.relative_to(OWN_FILES).as_posix()
        for path in OWN_FILES.rglob("*.js")
        if "vendor" not in path.parts
    }
    of_frames = {"trace.js", "graph.js", "graphsvg.js", "report.js"}
    entries = {"boot.js", "charts/index.js"} | of_frames
    assert imported - entries == set(MODULES)
    assert all(assets.get(name) for name in imported)


def test_own_files_ask_no_other_host() -> None:
    for path in OWN_FILES.rglob("*"):
        if path.suffix in {".js", ".css"} and "vendor" not in path.parts:
            addresses = re.findall(r"https?://[\w.-]+", path.read_text("utf-8"))
            # Namespaces of SVG and XLink are names, not addresses.
            assert set(addresses) <= {"http://www.w3.org"}, path


def test_vendored_files_are_what_their_readme_names() -> None:
    vendor = OWN_FILES / "vendor"
    named = dict(
        re.findall(r"\| `([\w.-]+\.js)` .* `([0-9a-f]{64})` \|", (vendor / "README.md").read_text())
    )
    files = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in vendor.glob("*.js")
    }
    assert named == files


def test_compression_round_trips_and_is_kept_on_disk(tmp_path: Path) -> None:
    body = b"let answer = 42;\n" * 100
    asset = Assets({"a.js": body}, tmp_path).get("a.js")
    assert asset is not None
    assert brotli.decompress(asset.encodings["br"]) == body
    assert gzip.decompress(asset.encodings["gzip"]) == body
    assert list(tmp_path.iterdir()) == []
    Assets({"a.js": body}, tmp_path).compress()
    kept = {path.suffix: path for path in tmp_path.iterdir()}
    assert brotli.decompress(kept[".br"].read_bytes()) == body
    assert gzip.decompress(kept[".gzip"].read_bytes()) == body
    kept[".br"].write_bytes(b"from disk")
    again = Assets({"a.js": body}, tmp_path).get("a.js")
    assert again is not None
    assert again.encodings["br"] == b"from disk"


def test_hash_changes_with_any_file(tmp_path: Path) -> None:
    one = Assets({"a.js": b"1", "b.js": b"2"}, tmp_path)
    other = Assets({"a.js": b"1", "b.js": b"3"}, tmp_path)
    moved = Assets({"a.js": b"12", "b.js": b""}, tmp_path)
    assert len({one.hash, other.hash, moved.hash}) == 3


@pytest.mark.parametrize(
    ("accept", "encoding"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("gzip", "gzip"),
        ("br;q=0, gzip;q=0.5", "gzip"),
        ("BR", "br"),
        ("", None),
        ("identity", None),
        ("br;q=0.0", None),
    ],
)
def test_representation_is_the_best_that_is_accepted(accept: str, encoding: str | None) -> None:
    asset = Asset("text/css", b"body", '"tag"', {"br": b"brotli", "gzip": b"gzip"})
    chosen = asset.represent(accept)
    assert chosen.encoding == encoding
    bodies = {"br": b"brotli", "gzip": b"gzip", None: b"body"}
    assert chosen.body == bodies[encoding]
    assert chosen.etag == ('"tag"' if encoding is None else f'"tag-{encoding}"')


def test_missing_xprof_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(XprofNotInstalledError, match=r"bundle\.js"):
        load_assets(tmp_path, tmp_path / "cache")


def test_finding_xprof_does_not_import_it() -> None:
    script = (
        "import sys\n"
        "from server.ui.assets import find_xprof_static\n"
        "find_xprof_static()\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'xprof'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
