"""The pages around XProf: its index, the graph page, and pages that only say something.

Texts may hold names from a profile or a registry: Jinja2 escapes every one. No page has an inline script, so
`server.ui.policies` can forbid them. This module knows no link, no database, and nothing of a
request but its trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from loader.traces import current_trace
from server.ui.glance import Glance
from server.ui.inline_style import inline_style
from server.ui.page_data import PageData
from server.ui.rendering import templates

PROFILE_PATH = "/data/plugin/profile/"
"""The path, below a link's prefix, at which XProf's bundle expects to live."""


@dataclass(frozen=True)
class ShellPage:
    """What the index page says and where its files lie.

    Attributes:
        prefix: path up to but without `/data/plugin/profile`, e.g. `/team/xprof/s/<token>`; may be empty.
        assets: path of our files, with a slash at the end: `AssetFolder.path`.
        xprof_assets: the same of XProf's files.
        run: the run's display name.
        session: the session's name.
        hosts: how many hosts the session has.
        expires: until when the link works, in words, e.g. `link works until 3 March`; empty to say nothing.
        data: what the page's scripts know of the link; None leaves the block out.
        glance: the overview's figures, to be shown until XProf shows its own.
        asked_first: what XProf's scripts will ask for, relative to `/data/plugin/profile/`.
    """

    prefix: str
    assets: str
    xprof_assets: str
    run: str
    session: str
    hosts: int
    expires: str = ""
    data: PageData | None = None
    glance: Glance | None = None
    asked_first: tuple[str, ...] = ()


def base_path(prefix: str) -> str:
    """Where XProf lives under a link's prefix, with a slash at the end."""
    return prefix + PROFILE_PATH


def render_index(page: ShellPage) -> str:
    """The page that holds XProf."""
    return (
        templates()
        .get_template("index.html")
        .render(
            page=page,
            data=page.data.to_json() if page.data else None,
            base=base_path(page.prefix),
        )
    )


def render_figure(assets: str, kind: Literal["graph", "timeline"]) -> str:
    """The page that draws a graph; it asks for `graph_data` or `timeline_data` with its own query.

    Args:
        assets: path of our files, with a slash at the end.
        kind: what is drawn.
    """
    return templates().get_template("graph.html").render(kind=kind, assets=assets)


def render_message(
    title: str, text: str, next_step: str, details: Sequence[str] = (), request_id: str = ""
) -> str:
    """A page of words: what is the matter, and what the reader can do.

    Args:
        title: one short sentence without a full stop.
        text: what happened.
        next_step: what the reader can do now.
        details: sentences about single files.
        request_id: what to name when reporting it; empty to say nothing.
    """
    return (
        templates()
        .get_template("message.html")
        .render(
            title=title,
            text=text,
            next_step=next_step,
            details=details,
            request_id=request_id,
            style=inline_style(),
        )
    )


@dataclass(frozen=True)
class Message:
    """A page of words, ready for `render`.

    Attributes:
        title: one short sentence without a full stop.
        text: what happened.
        next_step: what the reader can do now.
        names_request: whether the reader may have to report it.
    """

    title: str
    text: str
    next_step: str
    names_request: bool = False

    @property
    def request_id(self) -> str:
        """By what whoever runs this service finds the request in the log; empty where that is no matter."""
        trace = current_trace()
        return trace.trace_id if trace is not None and self.names_request else ""

    def render(self, details: Sequence[str] = ()) -> str:
        """The page as HTML, with sentences about single files if there are any."""
        return render_message(self.title, self.text, self.next_step, details, self.request_id)


LINK_EXPIRED = Message(
    "This link no longer works",
    "It has expired, or the person who shared it has withdrawn it.",
    "Ask the person who shared it for a new one.",
)
LINK_UNKNOWN = Message(
    "There is nothing at this address",
    "The link may have been cut off when it was copied, or it never existed.",
    "Check that you have the whole address, up to its last character.",
)
RUN_EMPTY = Message(
    "This run has no session yet",
    "A session appears here as soon as it is attached to the run, for example with:",
    "If you are waiting for somebody's profile, reload this page later: the link stays the same.",
)
SESSION_EMPTY = Message(
    "This session holds no profile",
    "Its directory has no file that ends in .xplane.pb.",
    "If the profile is still being written, wait a minute and reload this page. Otherwise capture it again.",
)
SESSION_DAMAGED = Message(
    "This profile can't be shown",
    "No host of this session has a file that XProf can read.",
    "Capture the profile again, or replace the files, and reload this page.",
)
STORAGE_PROBLEM = Message(
    "The profile can't be reached",
    "The place where it is stored did not answer, or does not let this service read it.",
    "Reload this page in a minute. If it stays like this, ask whoever runs this service.",
    names_request=True,
)
