"""The static files of the pages: XProf's from its installed wheel, and our own. All links share them.

They lie in two folders of the web, `_assets/<hash>/`, one of XProf's files and one of ours, so that a release
of ours does not make anybody load XProf's 600 kB again. The hash is of everything that a folder's files are
made from: a compressed copy, or the smaller icon font, may take the place of another representation, but
never of another content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from server.encodings import IDENTITY, choose_encoding
from server.ui.copies import SMALLEST, CompressedCopies, Kept
from server.ui.icon_font import kept_subset
from server.ui.linking import link_scripts, link_styles
from server.ui.xprof_files import (
    ICON_FONT,
    ICON_FONT_USERS,
    TRACE_PAGE,
    read_xprof_files,
    with_trace_scripts,
)

OWN_FILES = Path(__file__).parent / "static"
ASSETS_PATH = "/_assets/"
"""Below the path prefix."""

INDEX_SCRIPT = "hub.js"
INDEX_MODULES = ("boot.js", "charts/index.js")
"""What the index page runs before XProf, in this order, with all that these import."""
EARLY_SCRIPT = "hub-early.js"
EARLY_MODULES = ("early.js",)
"""What the index and the graph page run before anything is drawn."""
TRACE_SCRIPT = "hub-trace.js"
TRACE_MODULES = ("trace.js",)
"""What the trace viewer's frame runs before XProf's script."""
INDEX_STYLE = "hub.css"
FIRST_STYLE = "theme.css"
STYLES_OF_OTHER_PAGES = frozenset({"graph.css", "pages.css"})
"""All other styles of ours are the index page's, the theme first and the rest by name, but for those in
`SITE_FOLDER`. They come after XProf's."""
SITE_FOLDER = "site/"
"""What the pages of people who have signed in are made of."""
SITE_STYLE = "hub-site.css"
SITE_SCRIPT = "hub-site.js"
SITE_MODULES = ("site/site.js",)

CONTENT_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".map": "application/json",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_COMPRESSED_ALREADY = frozenset({".woff2"})


@dataclass(frozen=True)
class Representation:
    """What to send for a file: the bytes, their `Content-Encoding` (None: as is) and `ETag`."""

    body: bytes
    encoding: str | None
    etag: str


@dataclass(frozen=True)
class Asset:
    """One file.

    Attributes:
        content_type: its media type.
        body: its bytes, not compressed.
        etag: a strong entity tag of the body, with quotes.
        encodings: compressed bytes by `Content-Encoding`.
    """

    content_type: str
    body: bytes
    etag: str
    encodings: Mapping[str, bytes] = field(default_factory=dict)

    def represent(self, accept_encoding: str) -> Representation:
        """The smallest form of the file that an `Accept-Encoding` header allows."""
        encoding = choose_encoding(accept_encoding, tuple(self.encodings))
        if encoding == IDENTITY:
            return Representation(self.body, None, self.etag)
        etag = f'{self.etag[:-1]}-{encoding}"'
        return Representation(self.encodings[encoding], encoding, etag)

    def is_at_hand(self, accept_encoding: str) -> bool:
        """Whether `represent` reads and compresses nothing."""
        if not isinstance(self.encodings, CompressedCopies):
            return True
        encoding = choose_encoding(accept_encoding, tuple(self.encodings))
        return encoding == IDENTITY or self.encodings.is_at_hand(encoding)


class AssetFolder:
    """Files that lie under one hash.

    Attributes:
        hash: changes whenever any file does, but not when a smaller one takes its place.
        path: the folder's path on this host, with a slash at the end.
    """

    def __init__(
        self,
        files: Mapping[str, bytes],
        cache: Path,
        path_prefix: str = "",
        smaller: Mapping[str, Kept] | None = None,
    ) -> None:
        """Takes the files' bytes by name.

        Args:
            files: the files.
            cache: the directory of compressed copies.
            path_prefix: as in the settings.
            smaller: files of the same meaning that take a file's place once they have been made.
        """
        self.hash = _hash_of(files)
        self.path = f"{path_prefix}{ASSETS_PATH}{self.hash}/"
        self._assets = {name: _asset(name, body, cache) for name, body in files.items()}
        self._smaller = dict(smaller or {})

    def get(self, name: str) -> Asset | None:
        """The file of that name (`/` between directories), or None."""
        waiting = self._smaller.get(name)
        if waiting is not None and (body := waiting.read()) is not None:
            self._assets[name] = _asset(name, body, waiting.path.parent)
            # Another thread may have done the same meanwhile.
            self._smaller.pop(name, None)
        return self._assets.get(name)

    def is_at_hand(self, name: str, accept_encoding: str) -> bool:
        """Whether the file of that name, if there is one, is in memory as it will be sent."""
        asset = self._assets.get(name)
        return name not in self._smaller and (asset is None or asset.is_at_hand(accept_encoding))

    def names(self) -> Iterator[str]:
        """The names of all files."""
        return iter(self._assets)

    def kept(self) -> Iterator[tuple[str, Kept]]:
        """All that can be made ahead, each with a name for people."""
        yield from self._smaller.items()
        for name, asset in self._assets.items():
            yield from _kept_of(name, asset)


@dataclass(frozen=True)
class Assets:
    """All static files.

    Attributes:
        xprof: XProf's.
        hub: ours.
        trace_page: the trace viewer's page, which names files of both and so lies under no hash.
    """

    xprof: AssetFolder
    hub: AssetFolder
    trace_page: Asset

    def find(self, name: str) -> Asset | None:
        """The file of that plain name, as XProf's own scripts ask for it below a link."""
        if name == TRACE_PAGE:
            return self.trace_page
        return self.hub.get(name) or self.xprof.get(name)

    def is_at_hand(self, name: str, accept_encoding: str) -> bool:
        """Whether `find` and `find_hashed` need read or compress nothing for this name."""
        if name == TRACE_PAGE:
            return self.trace_page.is_at_hand(accept_encoding)
        folders = (self.hub, self.xprof)
        return all(folder.is_at_hand(name, accept_encoding) for folder in folders)

    def find_hashed(self, content_hash: str, name: str) -> tuple[Asset | None, bool]:
        """The file under a hash, and whether the hash is the present one.

        A page of another release, opened before it or served by a front end that has it already, gets the
        present file: the two releases mostly fit, and a missing script never does.
        """
        for folder in (self.xprof, self.hub):
            if content_hash == folder.hash:
                return folder.get(name), True
        return self.hub.get(name) or self.xprof.get(name), False

    def missing(self) -> list[tuple[str, Kept]]:
        """What has not been made ahead yet, the largest first."""
        page = _kept_of(TRACE_PAGE, self.trace_page)
        kept = [*self.xprof.kept(), *self.hub.kept(), *page]
        missing = [(name, copy) for name, copy in kept if not copy.is_there()]
        return sorted(missing, key=lambda entry: entry[1].source_bytes, reverse=True)


def _kept_of(name: str, asset: Asset) -> Iterator[tuple[str, Kept]]:
    """A file's compressed copies."""
    if isinstance(asset.encodings, CompressedCopies):
        for encoding, copy in asset.encodings.kept.items():
            yield f"{name} ({encoding})", copy


def _asset(name: str, body: bytes, cache: Path) -> Asset:
    suffix = PurePosixPath(name).suffix
    is_worthwhile = suffix not in _COMPRESSED_ALREADY and len(body) >= SMALLEST
    return Asset(
        content_type=CONTENT_TYPES[suffix],
        body=body,
        etag=f'"{hashlib.sha256(body).hexdigest()[:24]}"',
        encodings=CompressedCopies(body, cache) if is_worthwhile else {},
    )


def _hash_of(files: Mapping[str, bytes]) -> str:
    """A hash over names and contents."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{len(files[name])}\0".encode())
        digest.update(files[name])
    return digest.hexdigest()[:16]


def read_own_files(folder: Path = OWN_FILES) -> dict[str, bytes]:
    """Our files by name, and the scripts and the stylesheet that are made of them.

    Raises:
        LinkError: a source of ours is in no form that can be linked.
    """
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.suffix in CONTENT_TYPES
    }

    def source(name: str) -> str | None:
        return files[name].decode() if name in files else None

    others = {FIRST_STYLE, *STYLES_OF_OTHER_PAGES}
    styles = [name for name in files if name.endswith(".css") and name not in others]
    of_site = [name for name in styles if name.startswith(SITE_FOLDER)]
    of_index = [name for name in styles if not name.startswith(SITE_FOLDER)]
    scripts = {
        INDEX_SCRIPT: INDEX_MODULES,
        EARLY_SCRIPT: EARLY_MODULES,
        TRACE_SCRIPT: TRACE_MODULES,
        SITE_SCRIPT: SITE_MODULES,
    }
    for name, modules in scripts.items():
        script = link_scripts(name, modules, source)
        files[name] = script.text.encode()
        files[f"{name}.map"] = script.source_map.encode()
    files[INDEX_STYLE] = link_styles([FIRST_STYLE, *of_index], source).encode()
    files[SITE_STYLE] = link_styles([FIRST_STYLE, *of_site], source).encode()
    return files


def load_assets(xprof_static: Path, cache: Path, path_prefix: str = "") -> Assets:
    """Reads XProf's files and our own.

    Args:
        xprof_static: the directory that `find_xprof_static` gives.
        cache: directory of compressed copies; need not be there.
        path_prefix: as in the settings.

    Raises:
        XprofNotInstalledError: a file of XProf is missing.
        LinkError: a source of ours is in no form that can be linked.
    """
    hub = AssetFolder(read_own_files(), cache, path_prefix)
    files = dict(read_xprof_files(xprof_static))
    page = files.pop(TRACE_PAGE)
    users = [files[name] for name in ICON_FONT_USERS]
    smaller = {ICON_FONT: kept_subset(files[ICON_FONT], users, cache)}
    xprof = AssetFolder(files, cache, path_prefix, smaller)
    page = with_trace_scripts(
        page, f"{hub.path}{TRACE_SCRIPT}", f"{xprof.path}trace_viewer_index.js"
    )
    return Assets(xprof, hub, _asset(TRACE_PAGE, page, cache))
