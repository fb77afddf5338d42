"""What pages say when they have nothing else to show: what is the matter, and what to do about it."""

from __future__ import annotations

from server.ui.shell import Message

NOTHING_THERE = Message(
    "There is nothing at this address",
    "The run or session was deleted, or the address was cut off when it was copied.",
    "Check the address up to its last character, or look for the run in the list of runs.",
)
NOT_ALLOWED = Message(
    "You may not look at this",
    "Your role here, or that of the API token that you signed in with, does not give the right to it.",
    "Ask an admin of this hub for another role, or sign out and sign in with another token.",
)
SIGN_IN_NEEDED = Message(
    "You are not signed in, or not any more",
    "This page is for people who have signed in.",
    "Sign in on the hub's own pages, and open this address there.",
)
FILES_AWAITED = Message(
    "No files yet",
    "The job has registered this session; its files are not there yet.",
    "Hosts write their files when the capture ends. Reload this page in a minute.",
)
FAULT = Message(
    "XProf Hub failed at this request",
    "That is a fault of this service, not of what you did. Its log says why.",
    "Try again; if it happens again, tell whoever runs this service the request id below.",
    names_request=True,
)

TOO_OFTEN = "Too many requests"
AWAY = "This can't be shown at the moment"


def refusal_of(text: str, status: int) -> Message:
    """Why a page's request was refused, with what to do next by its status."""
    titles = {403: "You may not do this", 404: NOTHING_THERE.title, 429: TOO_OFTEN}
    if status >= 500:
        again = "Try again in a minute."
        return Message("This can't be shown now", text, again, names_request=True)
    title = titles.get(status, "This can't be done")
    return Message(title, text, "Go back, or begin again at the list of runs.")
