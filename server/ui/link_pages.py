"""Pages that stand before a link's profile: the form for its password, and why it opens nothing.

They tell nothing of what the link opens. Jinja2 escapes every text. This module knows no request and no
database.
"""

from __future__ import annotations

from server.ui.inline_style import inline_style
from server.ui.rendering import templates
from server.ui.shell import Message

LINK_FORBIDDEN = Message(
    "Links like this one are not allowed any more",
    "Whoever runs this service has decided that links must ask for more than this one does.",
    "Ask the person who shared it for a new one.",
)
LINK_USED_UP = Message(
    "This link was opened as often as its maker allowed",
    "It may be opened a certain number of times, and has been.",
    "Ask the person who shared it for a new one.",
)
PASSWORD_NEEDED = Message(
    "This link asks for a password",
    "It was not entered yet in this browser, a day has passed since, or the password was changed.",
    "Open the link again and enter the password.",
)
OPENING_NEEDED = Message(
    "This link has to be opened first",
    "It may be opened a certain number of times, so its data is for browsers that have opened its page.",
    "Open the link again, in a tab of its own, in a browser that keeps cookies.",
)


def render_unlock(action: str, back: str, problem: str = "", *, is_framed: bool = False) -> str:
    """The form that takes a link's password.

    Args:
        action: where it goes.
        back: where to go on below the link.
        problem: what was wrong before.
        is_framed: whether it stands in a frame, perhaps of another site, where no cookie is kept.
    """
    page = templates().get_template("unlock.html")
    return page.render(
        action=action, back=back, problem=problem, is_framed=is_framed, style=inline_style()
    )
