"""The style of pages of words, written into them: no link's files could be asked for by such a page."""

from __future__ import annotations

from functools import cache
from importlib import resources

from markupsafe import Markup

_SHEETS = ("theme.css", "pages.css")


@cache
def inline_style() -> Markup:
    """The stylesheets in their order, to stand in a `<style>` element."""
    static = resources.files("server.ui").joinpath("static")
    sheets = [static.joinpath(name).read_text("utf-8") for name in _SHEETS]
    return Markup("\n".join(sheets))  # noqa: S704 - our own files
