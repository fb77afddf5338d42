"""Static files: XProf's scripts byte for byte, everything hashed, compressed once, and never another host."""

from __future__ import annotations

import gzip
import hashlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import brotli
import pytest

from server.ui.assets import (
    INDEX_MODULES,
    INDEX_SCRIPT,
    INDEX_STYLE,
    OWN_FILES,
    SITE_FOLDER,
    SITE_STYLE,
    STYLES_OF_OTHER_PAGES,
    Asset,
    AssetFolder,
    Assets,
    load_assets,
)
from server.ui.copies import FAST, Kept
from server.ui.xprof_files import (
    ICON_FONT,
    TRACE_PAGE,
    XPROF_FILES,
    XprofNotInstalledError,
    find_xprof_static,
    with_trace_scripts,
)

IMPORT = re.compile(r'^(?:import .*|\} )?from "(\.[^"]+)";$|^import "(\.[^"]+)";$', re.MULTILINE)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def assets(cache: Path) -> Assets:
    return load_assets(find_xprof_static(), cache, "/team/xprof")


def body_of(assets: Assets, name: str) -> bytes:
    asset = assets.find(name)
    assert asset is not None
    return asset.body


@pytest.mark.parametrize("name", [name for name in XPROF_FILES if name.endswith(".js")])
def test_xprof_scripts_are_served_byte_for_byte(assets: Assets, name: str) -> None:
    assert body_of(assets, name) == (find_xprof_static() / name).read_bytes()


def test_trace_page_links_no_other_host_and_takes_shared_scripts(assets: Assets) -> None:
    page = body_of(assets, TRACE_PAGE)
    assert not re.search(rb'(?:href|src)="https?:', page)
    sources = [address.decode() for address in re.findall(rb'<script[^>]*src="([^"]*)"', page)]
    assert sources == [
        f"/team/xprof/_assets/{assets.hub.hash}/hub-trace.js",
        f"/team/xprof/_assets/{assets.xprof.hash}/trace_viewer_index.js",
    ]
    assert page.count(b"<script defer src=") == 2


def test_a_trace_page_of_another_version_is_refused() -> None:
    with pytest.raises(XprofNotInstalledError):
        with_trace_scripts(b"<html><head><script src='new.js'></script>", "/a.js", "/b.js")


def test_stylesheets_import_nothing_from_other_hosts(assets: Assets) -> None:
    for name in [*assets.hub.names(), *assets.xprof.names()]:
        if name.endswith(".css"):
            loaded = re.findall(rb"@import[^;]*|url\([^)]*\)", body_of(assets, name))
            assert [address for address in loaded if b"//" in address] == [], name


def test_unknown_file_is_none(assets: Assets) -> None:
    assert assets.find("../assets.py") is None
    assert assets.find("index.html") is None


def test_the_script_holds_every_module_of_the_index(assets: Assets) -> None:
    waiting, wanted = list(INDEX_MODULES), set()
    while waiting:
        name = waiting.pop()
        wanted.add(name)
        folder = (OWN_FILES / name).parent
        for found in IMPORT.findall((OWN_FILES / name).read_text("utf-8")):
            path = (folder / (found[0] or found[1])).resolve().relative_to(OWN_FILES.resolve())
            if path.as_posix() not in wanted:
                waiting.append(path.as_posix())
    script = body_of(assets, INDEX_SCRIPT).decode()
    named = re.findall(r"^// ([\w/.-]+\.js)$", script, re.MULTILINE)
    assert len(named) == len(set(named))
    assert set(named) == wanted
    assert len(named) > 20


def test_the_stylesheet_holds_every_style_of_the_index_the_theme_first(assets: Assets) -> None:
    styles = {path.relative_to(OWN_FILES).as_posix() for path in OWN_FILES.rglob("*.css")}
    of_site = {name for name in styles if name.startswith(SITE_FOLDER)}
    assert styles >= STYLES_OF_OTHER_PAGES
    for sheet, wanted in (
        (INDEX_STYLE, styles - STYLES_OF_OTHER_PAGES - of_site),
        (SITE_STYLE, {"theme.css", *of_site}),
    ):
        named = re.findall(r"^/\* (\S+) \*/$", body_of(assets, sheet).decode(), re.MULTILINE)
        assert named[0] == "theme.css"
        assert set(named) == wanted


def test_single_sources_are_there_for_debuggers_and_the_graph_page(assets: Assets) -> None:
    for path in OWN_FILES.rglob("*.js"):
        assert assets.hub.get(path.relative_to(OWN_FILES).as_posix()) is not None, path


def test_own_files_ask_no_other_host() -> None:
    for path in OWN_FILES.rglob("*"):
        if path.suffix in {".js", ".css"} and "vendor" not in path.parts:
            addresses = re.findall(r"https?://[\w.-]+", path.read_text("utf-8"))
            # Namespaces of SVG and XLink are names, not addresses.
            assert set(addresses) <= {"http://www.w3.org"}, path


def test_vendored_files_are_what_their_readme_names() -> None:
    vendor = OWN_FILES / "vendor"
    named = dict(
        re.findall(
            r"\| `([\w.-]+\.(?:js|svg))` .* `([0-9a-f]{64})` \|", (vendor / "README.md").read_text()
        )
    )
    files = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in vendor.iterdir()
        if path.suffix in {".js", ".svg"}
    }
    assert named == files


def test_a_file_is_compressed_fast_until_its_best_copies_are_there(tmp_path: Path) -> None:
    body = b"let answer = 42;\n" * 100
    folder = AssetFolder({"a.js": body, "tiny.js": b"1;"}, tmp_path)
    asset, tiny = folder.get("a.js"), folder.get("tiny.js")
    assert asset is not None
    assert tiny is not None
    assert not tiny.encodings
    assert asset.encodings["br"] == FAST["br"](body)
    assert list(tmp_path.iterdir()) == []
    for _, copy in folder.kept():
        copy.write()
    kept = {path.suffix: path for path in tmp_path.iterdir()}
    assert brotli.decompress(kept[".br"].read_bytes()) == body
    assert gzip.decompress(kept[".gzip"].read_bytes()) == body
    assert {path.stat().st_mode & 0o777 for path in kept.values()} == {0o644}
    # Without a new start the same asset now gives what is on disk.
    kept[".br"].write_bytes(b"from disk")
    assert asset.encodings["br"] == b"from disk"
    assert all(copy.is_there() for _, copy in folder.kept())


def test_a_smaller_file_takes_the_place_of_the_whole_once_it_is_there(tmp_path: Path) -> None:
    smaller = Kept(tmp_path / "made.woff2", 5, lambda: b"part")
    folder = AssetFolder({"font.woff2": b"whole"}, tmp_path, smaller={"font.woff2": smaller})
    before = folder.get("font.woff2")
    smaller.write()
    after = folder.get("font.woff2")
    assert before is not None
    assert after is not None
    assert (before.body, after.body) == (b"whole", b"part")
    assert before.etag != after.etag
    assert list(folder.kept()) == []


def test_a_file_is_at_hand_when_nothing_must_be_read_or_compressed_for_it(tmp_path: Path) -> None:
    smaller = Kept(tmp_path / "made.woff2", 5, lambda: b"part")
    files = {"font.woff2": b"whole", "a.js": b"let a = 1;" * 200}
    folder = AssetFolder(files, tmp_path, smaller={"font.woff2": smaller})
    assert not folder.is_at_hand("font.woff2", "br")
    assert not folder.is_at_hand("a.js", "br")
    assert folder.is_at_hand("a.js", "identity")
    assert folder.is_at_hand("nothing.js", "br")

    for _, kept in folder.kept():
        kept.write()
    script = folder.get("a.js")
    assert script is not None
    assert not folder.is_at_hand("a.js", "br"), "its copy is on the disk, and not read yet"
    for encoding in ("br", "gzip"):
        script.represent(encoding)
    folder.get("font.woff2")

    for encoding in ("br", "gzip", "identity"):
        assert folder.is_at_hand("font.woff2", encoding)
        assert folder.is_at_hand("a.js", encoding)


def test_two_who_find_the_smaller_file_at_the_same_moment_both_get_it(tmp_path: Path) -> None:
    both_found_it = Barrier(2, timeout=10)

    class Watched(Kept):
        def read(self) -> bytes | None:
            both_found_it.wait()
            return super().read()

    smaller = Watched(tmp_path / "made.woff2", 5, lambda: b"part")
    smaller.write()
    folder = AssetFolder({"font.woff2": b"whole"}, tmp_path, smaller={"font.woff2": smaller})
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(folder.get, ["font.woff2"] * 2))
    assert [asset.body for asset in found if asset] == [b"part"] * 2


def test_the_icon_font_is_among_what_is_made_ahead(assets: Assets) -> None:
    missing = dict(assets.missing())
    assert ICON_FONT in missing
    sizes = [copy.source_bytes for _, copy in assets.missing()]
    assert sizes == sorted(sizes, reverse=True)


def test_hash_changes_with_any_file(tmp_path: Path) -> None:
    one = AssetFolder({"a.js": b"1", "b.js": b"2"}, tmp_path)
    other = AssetFolder({"a.js": b"1", "b.js": b"3"}, tmp_path)
    moved = AssetFolder({"a.js": b"12", "b.js": b""}, tmp_path)
    assert len({one.hash, other.hash, moved.hash}) == 3
    assert one.path == f"/_assets/{one.hash}/"


def test_our_files_and_xprofs_have_hashes_of_their_own(assets: Assets, tmp_path: Path) -> None:
    again = load_assets(find_xprof_static(), tmp_path)
    assert (again.xprof.hash, again.hub.hash) == (assets.xprof.hash, assets.hub.hash)
    assert assets.xprof.hash != assets.hub.hash
    assert assets.find_hashed(assets.xprof.hash, "bundle.js")[1]
    assert assets.find_hashed(assets.xprof.hash, INDEX_SCRIPT) == (None, True)


def test_another_releases_hash_gives_the_present_file(assets: Assets) -> None:
    asset, is_present = assets.find_hashed("0123456789abcdef", INDEX_SCRIPT)
    assert asset is assets.hub.get(INDEX_SCRIPT)
    assert not is_present


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
        "from server.ui.xprof_files import find_xprof_static\n"
        "find_xprof_static()\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'xprof'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
