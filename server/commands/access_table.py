"""docs/access.md, made from the policy: `python -m server.commands.access_table > docs/access.md`.

A test holds the document in step, so nothing in it is written by hand but the introduction below.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from auth.identity import Principal, Role
from auth.policy import Action, may, rule_of

INTRODUCTION = """\
# Who may do what

Made from `auth/policy.py` by `python -m server.commands.access_table > docs/access.md`. That file is the one
place that decides; whatever stands in no row is forbidden. A test asks every route of the service as every
role.

## Who somebody is

| `XPROF_HUB_AUTH` | people | programs |
| --- | --- | --- |
| `dev` | everybody at this machine is an admin; it listens on this machine only | the same |
| `token` | sign in by pasting an API token once, with its role | API token |
| `oidc` | sign in at a provider of OpenID Connect, or with an API token | API token |
| `iap` | come through Google's Identity-Aware Proxy, or sign in with an API token | API token, or the proxy |

How to set each up: [operations](operations.md#signing-in). Who opens a link needs no role, unless the link
asks for somebody who has signed in.

## Roles

People that a provider or the proxy vouches for have the greatest role of the *members* that they are:
`user:ann@example.org`, `group:sre` (from the provider's claim), `domain:example.org` (exactly that one).
Admins add members on the page `/admin/members`, by `xprof-hub members add` or by the
[API](api.md#operations); those that `XPROF_HUB_ADMINS` names are always admins. Whoever is no member has no
role and sees nothing but links. An API token has a role of its own. Roles are looked up at each request, so
that a change counts at the next one.

- **viewer**: looks at runs and sessions, and comments.
- **editor**: changes and shares them, too.
- **admin**: manages members, tokens, rules and holds, and reads the audit log.
- **ingest**: a job: registers itself and its sessions, and reads nothing. Only API tokens have this role.

## Actions

"""
_ROLES = (Role.INGEST, Role.VIEWER, Role.EDITOR, Role.ADMIN)


def access_document() -> str:
    """The document."""
    return INTRODUCTION + "\n".join(_table()) + "\n"


def _table() -> Iterator[str]:
    columns = ["action", *(role.value for role in _ROLES), "what it is"]
    yield f"| {' | '.join(columns)} |"
    yield f"| --- | {' | '.join(':-:' for _ in _ROLES)} | --- |"
    for action in Action:
        rule = rule_of(action)
        resource = min(rule.collections)
        marks = ("✓" if may(Principal("", role), action, resource) else "" for role in _ROLES)
        yield f"| `{action.value}` | {' | '.join(marks)} | {rule.meaning} |"


if __name__ == "__main__":
    sys.stdout.write(access_document())
