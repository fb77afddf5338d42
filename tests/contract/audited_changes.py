"""Requests that change something: each route of the API once, in an order in which all of them succeed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import httpx2

from tests.contract.api_calls import PROFILE
from tests.services.api import Api

RUN = "machineLearningRuns/r"
SESSIONS = f"{RUN}/profilerSessions"
SESSION = f"{SESSIONS}/s"
MADE = "what the answer names"
_LETTERS = (("shareLinks", "x"), ("apiTokens", "x"), ("members", "x"), ("comments", "c"))
"""Ids in the table of `tests.contract.test_api_access`, by the collections that they are of."""


@dataclass(frozen=True)
class Change:
    """A request that changes something, and what the audit log says of it.

    Attributes:
        method: HTTP method.
        path: below `/v1`; `{shareLinks}` stands for the id of the last link that was made, and so on.
        action: the permission.
        verb: what is done.
        resource: resource name, or `MADE`.
        query: parameters.
        body: JSON; a PUT sends a profile.
        kept: collection that the answer's name is of, for the paths after it.
    """

    method: str
    path: str
    action: str
    verb: str
    resource: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, object] = field(default_factory=dict)
    kept: str = ""

    @property
    def route(self) -> tuple[str, str]:
        """As `tests.contract.test_api_access.CALLS` names it."""
        path = self.path.replace("Sessions/u", "Sessions/s")
        for collection, letter in _LETTERS:
            path = path.replace(f"{{{collection}}}", letter)
        return self.method, path


def changes(folders: Sequence[str]) -> tuple[Change, ...]:
    """The requests.

    Args:
        folders: two profiles that are in storage.
    """
    return (
        *_of_runs(),
        *_of_sessions(folders),
        *_of_uploads(),
        *_of_comments(),
        *_of_links(),
        *_of_tokens(),
        *_of_members(),
        *_of_groups(),
        *_at_last(),
    )


def send(api: Api, change: Change, made: dict[str, str]) -> httpx2.Response:
    """Asks for a change, and remembers what it made."""
    path = "/" + change.path.lstrip("/").format(**made)
    if change.method == "PUT":
        return api.http.put(path, params=change.query, content=PROFILE)
    answer = api.http.request(
        change.method,
        path,
        params=change.query,
        json=None if change.method == "DELETE" else change.body,
    )
    if change.kept and answer.status_code == 200:
        made[change.kept] = answer.json()["name"].rpartition("/")[2]
    return answer


def _of_runs() -> tuple[Change, ...]:
    runs = "/machineLearningRuns"
    return (
        Change(
            *("POST", runs, "runs.register", "create", RUN),
            query={"machineLearningRunId": "r"},
            body={"displayName": "R"},
        ),
        Change("PATCH", runs, "runs.register", "register", RUN, body={"logicalId": "r"}),
        Change("PATCH", f"/{RUN}", "runs.write", "update", RUN, body={"runSet": "g"}),
    )


def _of_sessions(folders: Sequence[str]) -> tuple[Change, ...]:
    attach = ("POST", f"/{SESSIONS}", "sessions.register", "create")
    return (
        Change(
            *(*attach, SESSION),
            query={"profilerSessionId": "s"},
            body={"storageFolderUri": folders[0]},
        ),
        Change("PATCH", f"/{SESSION}", "sessions.write", "update", SESSION),
        Change("POST", f"/{SESSION}:cancelPrewarm", "sessions.write", "cancelPrewarm", SESSION),
        Change(
            *("PATCH", f"/{RUN}", "runs.write", "update", RUN),
            body={"storageRoot": folders[1]},
        ),
        Change("POST", f"/{RUN}:scan", "sessions.write", "scan", RUN),
        Change(
            *("POST", "/machineLearningRuns:import", "runs.write", "import", "machineLearningRuns"),
            body={"storageUri": folders[1]},
        ),
    )


def _of_uploads() -> tuple[Change, ...]:
    uploaded = f"{SESSIONS}/u"
    host = f"/{uploaded}/hosts/h"
    return (
        Change("PUT", host, "sessions.register", "upload", uploaded),
        Change("PUT", f"/{uploaded}/hosts/i", "sessions.register", "upload", uploaded),
        Change("DELETE", host, "sessions.write", "remove", uploaded),
        Change(
            *("POST", f"/{uploaded}:completeUpload", "sessions.register", "completeUpload"),
            uploaded,
        ),
    )


def _of_comments() -> tuple[Change, ...]:
    comments = f"{SESSION}/comments"
    one = f"{comments}/{{comments}}"
    return (
        Change(
            *("POST", f"/{comments}", "comments.write", "create", MADE),
            body={"text": "Why is this slow?"},
            kept="comments",
        ),
        Change("PATCH", f"/{one}", "comments.write", "update", one, body={"text": "It waits."}),
        Change("DELETE", f"/{one}", "comments.write", "delete", one),
    )


def _of_links() -> tuple[Change, ...]:
    make = ("links.create", "create", MADE)
    link = "shareLinks/{shareLinks}"
    return (
        Change("POST", f"/{RUN}/shareLinks", *make),
        Change("POST", f"/{SESSION}/shareLinks", *make, kept="shareLinks"),
        Change("PATCH", f"/{link}", "links.create", "update", link, body={"note": "n"}),
        Change("DELETE", f"/{link}", "links.revoke", "revoke", link),
        Change(
            *("PATCH", "/sharingRules", "rules.manage", "update", "sharingRules"),
            body={"longestDays": 14},
        ),
    )


def _of_tokens() -> tuple[Change, ...]:
    token = "apiTokens/{apiTokens}"
    return (
        Change(
            *("POST", "/apiTokens", "tokens.manage", "create", MADE),
            body={"displayName": "ci", "role": "viewer"},
            kept="apiTokens",
        ),
        Change("DELETE", f"/{token}", "tokens.manage", "revoke", token),
    )


def _of_members() -> tuple[Change, ...]:
    member = "members/{members}"
    return (
        Change(
            *("POST", "/members", "members.manage", "create", MADE),
            body={"member": "user:ann@example.org", "role": "viewer"},
            kept="members",
        ),
        Change("PATCH", f"/{member}", "members.manage", "update", member, body={"role": "editor"}),
        Change("DELETE", f"/{member}", "members.manage", "delete", member),
    )


def _of_groups() -> tuple[Change, ...]:
    group = "runGroups/g"
    return (Change("PATCH", f"/{group}", "groups.write", "update", group, body={"note": "kept"}),)


def _at_last() -> tuple[Change, ...]:
    return (
        Change("DELETE", f"/{SESSION}", "sessions.write", "delete", SESSION),
        Change("POST", f"/{SESSION}:undelete", "sessions.write", "undelete", SESSION),
        Change("DELETE", f"/{RUN}", "runs.write", "delete", RUN),
        Change("POST", f"/{RUN}:undelete", "runs.write", "undelete", RUN),
    )
