"""The content security policies of our answers: what a page may load, and who may show it in a frame.

No policy allows another host, an inline script or eval. Pages of XProf may be shown in the frames of those
whom the administrator names; the frames inside them (trace viewer, graph) in the page itself, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from server.web_addresses import NOBODY, SELF

PageKind = Literal["index", "trace", "graph", "message", "words", "form", "unlock", "site", "data"]
"""XProf's page, the two kinds of frame in it, words under a link, words of the service, those with a form,
the form for a link's password, the pages of people who have signed in, and all the rest."""

_OWN_PAGE = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",
    "font-src": "'self'",
    "img-src": "'self' data: blob:",
    "connect-src": "'self'",
    "frame-src": "'self'",
    "worker-src": "'self' blob:",
    "base-uri": "'self'",
    "form-action": "'none'",
    "object-src": "'none'",
}
_WORDS = {
    "default-src": "'none'",
    "style-src": "'unsafe-inline'",
    "img-src": "data:",
    "base-uri": "'none'",
    "form-action": "'none'",
}
_POLICIES: dict[PageKind, dict[str, str]] = {
    "index": _OWN_PAGE,
    "trace": _OWN_PAGE,
    # Graphviz is WebAssembly; it needs no eval of text.
    "graph": {**_OWN_PAGE, "script-src": "'self' 'wasm-unsafe-eval'", "frame-src": "'none'"},
    "message": _WORDS,
    "words": _WORDS,
    "form": {**_WORDS, "form-action": "'self'"},
    "unlock": {**_WORDS, "form-action": "'self'"},
    "site": {
        **_WORDS,
        "script-src": "'self'",
        "style-src": "'self'",
        "font-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "form-action": "'self'",
    },
    # Opened by itself, an answer made of a profile's texts must stay inert whatever its type.
    "data": {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'", "sandbox": ""},
}


@dataclass(frozen=True)
class Policies:
    """The policies of one deployment.

    Attributes:
        ancestors: who may show our pages in a frame, as `server.web_addresses.frame_ancestors` writes it.
        content_url: origin of the content host, or empty.
    """

    ancestors: str = SELF
    content_url: str = ""

    def of(self, kind: PageKind) -> str:
        """The `Content-Security-Policy` of a kind of answer."""
        directives = {**_POLICIES[kind], "frame-ancestors": self._ancestors_of(kind)}
        if kind in {"form", "site"} and self.content_url:
            # Some browsers hold the redirects after a form to this, too: signing in may end at a profile.
            directives["form-action"] += f" {self.content_url}"
        return "; ".join(f"{name} {value}".strip() for name, value in directives.items())

    def _ancestors_of(self, kind: PageKind) -> str:
        if kind in {"words", "form", "site", "data"}:
            return NOBODY
        if kind in {"index", "message", "unlock"}:
            return self.ancestors
        # Every page around a frame must be allowed: XProf's page, and whatever that is shown in.
        others = [source for source in self.ancestors.split() if source not in {SELF, NOBODY}]
        return " ".join([SELF, *others])


DATA_POLICY = Policies().of("data")
"""The policy of every answer that names no other: the same in all deployments."""
