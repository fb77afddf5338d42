"""The static files of the page: XProf's, from its installed wheel, and our own.

XProf's scripts are served byte for byte. Its stylesheet loses imports of web fonts, and its trace
viewer page loses links to other hosts and gains our script. A file is compressed when a browser
first asks for it, fast; `Assets.compress` makes the smallest copies ahead of time, as the image's
build does. XProf's Python package is located, never imported, because importing it would map its
native library into the front end.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import brotli

from server.encodings import IDENTITY, choose_encoding

OWN_FILES = Path(__file__).parent / "static"

XPROF_FILES = (
    "bundle.js",
    "zone.js",
    "runtime.js",
    "styles.css",
    "material_symbols_outlined.woff2",
    "materialicons.woff2",
    "trace_viewer_index.html",
    "trace_viewer_index.js",
    "trace_viewer_v2.js",
    "trace_viewer_v2.wasm",
)
"""What the page uses of the wheel; its own index.html is replaced by ours."""

CONTENT_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
}

_COMPRESSED_ALREADY = frozenset({".woff2"})
_SMALLEST = 512
"""Bytes below which compression saves nothing worth a header."""
_FAST_QUALITY = 5
"""Of brotli and gzip: 5 % more bytes than the best quality, in a tenth of its time."""
_LARGE = 400_000
"""Bytes from which brotli's best quality takes seconds: such files get the next best."""

_FOREIGN_IMPORT = re.compile(rb"""@import\s*(?:url\()?\s*["']?https?:[^;]*;""")
_FOREIGN_HREF = re.compile(rb"""(<a\b[^>]*?)\s+href="https?://[^"]*\"""")


class XprofNotInstalledError(Exception):
    """XProf's wheel, whose files the page is made of, is not installed."""


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


def find_xprof_static() -> Path:
    """The directory of XProf's static files, found without importing XProf.

    Raises:
        XprofNotInstalledError: there is no such directory.
    """
    spec = importlib.util.find_spec("xprof")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        static = Path(root) / "static"
        if (static / "bundle.js").is_file():
            return static
    raise XprofNotInstalledError(
        "XProf is not installed, and its page is made of XProf's files. Install xprof-hub[engine]."
    )


def _smallest_brotli(body: bytes) -> bytes:
    quality = 9 if len(body) >= _LARGE else 11
    compressed: bytes = brotli.compress(body, quality=quality)
    return compressed


def _fast_brotli(body: bytes) -> bytes:
    compressed: bytes = brotli.compress(body, quality=_FAST_QUALITY)
    return compressed


_SMALLEST_COPY: Mapping[str, Callable[[bytes], bytes]] = {
    "br": _smallest_brotli,
    "gzip": lambda body: gzip.compress(body, compresslevel=9, mtime=0),
}
_FAST_COPY: Mapping[str, Callable[[bytes], bytes]] = {
    "br": _fast_brotli,
    "gzip": lambda body: gzip.compress(body, compresslevel=_FAST_QUALITY, mtime=0),
}


class CompressedCopies(Mapping[str, bytes]):
    """A file's compressed forms: from disk if they were made ahead, else made when first asked for."""

    def __init__(self, body: bytes, cache: Path) -> None:
        self._body = body
        self._cache = cache
        self._digest = hashlib.sha256(body).hexdigest()
        self._copies: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def __getitem__(self, encoding: str) -> bytes:
        """The file in an encoding; the first call takes up to some tenths of a second."""
        with self._lock:
            if encoding not in self._copies:
                path = self._path(encoding)
                kept = path.read_bytes() if path.is_file() else None
                self._copies[encoding] = kept or _FAST_COPY[encoding](self._body)
            return self._copies[encoding]

    def __iter__(self) -> Iterator[str]:
        """Names of the encodings."""
        return iter(_FAST_COPY)

    def __len__(self) -> int:
        """How many there are."""
        return len(_FAST_COPY)

    def __contains__(self, encoding: object) -> bool:
        """Whether there is such an encoding; makes nothing."""
        return encoding in _FAST_COPY

    def keep_smallest(self) -> None:
        """Makes the smallest copies that are not on disk yet."""
        for encoding, compress in _SMALLEST_COPY.items():
            path = self._path(encoding)
            if path.is_file():
                continue
            with tempfile.NamedTemporaryFile(dir=self._cache, delete=False) as file:
                file.write(compress(self._body))
            # Renaming is atomic: another process never reads half a file.
            os.replace(file.name, path)  # noqa: PTH105 - Path.replace would need a second Path
            path.chmod(0o644)

    def _path(self, encoding: str) -> Path:
        return self._cache / f"{self._digest}.{encoding}"


class Assets:
    """All static files by name, with one hash over their content."""

    def __init__(self, files: Mapping[str, bytes], cache: Path) -> None:
        """Takes the files' bytes by name and the directory of compressed copies."""
        self._cache = cache
        self.hash = _hash_of(files)
        """Changes whenever any file does: part of the path of immutable files."""
        self._assets = {name: self._make(name, body) for name, body in files.items()}

    def _make(self, name: str, body: bytes) -> Asset:
        served = _point_at_immutable(body, self.hash) if name == "trace_viewer_index.html" else body
        worthwhile = Path(name).suffix not in _COMPRESSED_ALREADY and len(served) >= _SMALLEST
        return Asset(
            content_type=CONTENT_TYPES[Path(name).suffix],
            body=served,
            etag=f'"{hashlib.sha256(served).hexdigest()[:24]}"',
            encodings=CompressedCopies(served, self._cache) if worthwhile else {},
        )

    def get(self, name: str) -> Asset | None:
        """The file of that name (`/` between directories), or None."""
        return self._assets.get(name)

    def names(self) -> Iterator[str]:
        """The names of all files."""
        return iter(self._assets)

    def compress(self) -> None:
        """Keeps the smallest copy of every file on disk. Takes some ten seconds the first time."""
        self._cache.mkdir(parents=True, exist_ok=True)
        for asset in self._assets.values():
            if isinstance(asset.encodings, CompressedCopies):
                asset.encodings.keep_smallest()


def _hash_of(files: Mapping[str, bytes]) -> str:
    """A hash over names and contents."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{len(files[name])}\0".encode())
        digest.update(files[name])
    return digest.hexdigest()[:16]


def _point_at_immutable(page: bytes, asset_hash: str) -> bytes:
    """Lets the trace viewer's page take its scripts from their immutable place."""
    assets = f"_assets/{asset_hash}/".encode()
    return page.replace(
        b'src="trace_viewer_index.js"', b'src="' + assets + b'trace_viewer_index.js"'
    ).replace(b'src="trace.js"', b'src="' + assets + b'trace.js"')


def _adapt(name: str, body: bytes) -> bytes:
    """XProf's file as we serve it; scripts stay as they are."""
    if name == "styles.css":
        return _FOREIGN_IMPORT.sub(b"", body)
    if name == "trace_viewer_index.html":
        # Deferred like ours, so that ours comes first and sees its requests.
        deferred = body.replace(b'<script src="trace', b'<script defer src="trace')
        linkless = _FOREIGN_HREF.sub(rb"\1", deferred)
        return linkless.replace(
            b"<head>", b'<head><script type="module" src="trace.js"></script>', 1
        )
    return body


def load_assets(xprof_static: Path, cache: Path) -> Assets:
    """Reads XProf's files and our own.

    Args:
        xprof_static: the directory that `find_xprof_static` gives.
        cache: directory of compressed copies; made when it is missing.

    Raises:
        XprofNotInstalledError: a file of XProf is missing.
    """
    files: dict[str, bytes] = {}
    for path in sorted(OWN_FILES.rglob("*")):
        if path.suffix in CONTENT_TYPES:
            files[path.relative_to(OWN_FILES).as_posix()] = path.read_bytes()
    for name in XPROF_FILES:
        try:
            files[name] = _adapt(name, (xprof_static / name).read_bytes())
        except FileNotFoundError:
            raise XprofNotInstalledError(f"XProf's static file {name} is missing.") from None
    return Assets(files, cache)
