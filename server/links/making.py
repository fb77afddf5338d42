"""Share links as the rules allow them: made, and changed. For the API and for the pages.

What is wrong names the field of `server.links.schemas` that is at fault.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from auth import links
from auth.identity import Principal
from auth.links import LinkAccess, LinkTarget
from auth.passwords import hash_password
from auth.sharing_rules import Breach, SharingRules
from server.http.error_table import PRECONDITION
from server.http.errors import ApiError, invalid_field
from server.http.masks import Mask
from server.links.lifetimes import expiry
from server.links.schemas import LinkChange, NewLink
from server.registry.links import LinkChanges, SqlLinkStore
from server.registry.requests import RepeatableRequest
from server.registry.rules import get_sharing_rules
from server.schemas import Lifetime
from server.services import Services

CHANGEABLE = frozenset({"note", "access", "password", "most_opens", "expire_time", "ttl", "never"})
"""Fields of a link that can be changed, in snake_case."""
_LIFETIME = ("expire_time", "ttl", "never")
_BREACHES = {
    Breach.UNLISTED: (
        "access",
        "Links that let in everybody who has them are not allowed here. Send ORG: such a link asks for "
        "somebody who has signed in.",
    ),
    Breach.PASSWORD: (
        "password",
        "Links that let in everybody who has them must ask for a password here.",
    ),
    Breach.REDACTED: (
        "redacted",
        "Links that let in everybody who has them must be redacted here.",
    ),
}


def make_link(
    services: Services,
    principal: Principal,
    target: LinkTarget,
    wanted: NewLink,
    now: datetime,
    request: RepeatableRequest | None = None,
) -> tuple[links.ShareLink, str]:
    """Makes a link and returns it with its token, which can't be had a second time.

    Args:
        services: where links and rules are kept.
        principal: who makes it.
        target: what it opens.
        wanted: what its maker says.
        now: UTC.
        request: the request that may be sent again, or None.

    Raises:
        ApiError: naming the field that can't be, or is not allowed.
        LookupError: the target was deleted in this moment.
        RegistryError: ALREADY_EXISTS, the same request made one in this moment.
    """
    rules = get_sharing_rules(services.database).rules
    _check_view(wanted)
    usual_end = rules.usual_end(now, services.settings.link_days)
    expires = expiry(wanted, now, None if usual_end is None else usual_end - now)
    _check_end(rules, wanted, now, expires)
    access = wanted.access or rules.usual_access
    has_password = wanted.password is not None
    _check_allowed(rules.breach(access, has_password=has_password, is_redacted=wanted.redacted))
    return links.create_link(
        SqlLinkStore(services.database, request),
        target=target,
        creator=principal.name,
        now=now,
        expires=expires,
        note=wanted.note,
        view=wanted.view.to_stored(),
        access=access,
        password_hash=_hashed(wanted.password),
        most_opens=wanted.most_opens,
        is_redacted=wanted.redacted,
    )


def change_link(
    services: Services,
    link_id: str,
    wanted: LinkChange,
    mask: Mask,
    etag: str | None,
    now: datetime,
) -> links.ShareLink:
    """Changes a link; what opens it counts at the next request.

    Args:
        services: where links and rules are kept.
        link_id: which.
        wanted: the new values.
        mask: which of them count, of `CHANGEABLE`.
        etag: the state that is to be changed, or None.
        now: UTC.

    Raises:
        ApiError: naming the field that can't be, or is not allowed; or the link was revoked.
        RegistryError: NOT_FOUND, ETAG_MISMATCH.
    """
    rules = get_sharing_rules(services.database).rules
    # Before the link is locked: this takes its time.
    password_hash = _hashed(wanted.password) if mask.covers("password") else None

    def decide(old: links.ShareLink) -> LinkChanges:
        if old.revoked is not None:
            raise ApiError(PRECONDITION, "This link was revoked. That is final; make a new one.")
        new = _changed(old, wanted, mask, password_hash, now)
        if any(mask.covers(field) for field in _LIFETIME):
            _check_end(rules, wanted, old.created, new.expires)
        if mask.covers("access") or mask.covers("password"):
            _check_allowed(rules.breach_by(new))
        return LinkChanges(new.note, new.expires, new.access, new.password_hash, new.most_opens)

    return SqlLinkStore(services.database).change_link(link_id, decide, etag)


def _check_allowed(breach: Breach | None) -> None:
    """Refuses a link that breaks a rule.

    Raises:
        ApiError: naming the field.
    """
    if breach is not None:
        raise invalid_field(*_BREACHES[breach])


def _hashed(password: str | None) -> str:
    return "" if password is None else hash_password(password)


def _changed(
    old: links.ShareLink, wanted: LinkChange, mask: Mask, password_hash: str | None, now: datetime
) -> links.ShareLink:
    is_ended_anew = any(mask.covers(field) for field in _LIFETIME)
    return replace(
        old,
        note=wanted.note if mask.covers("note") else old.note,
        expires=expiry(wanted, now, None) if is_ended_anew else old.expires,
        access=_access(wanted) if mask.covers("access") else old.access,
        password_hash=old.password_hash if password_hash is None else password_hash,
        most_opens=wanted.most_opens if mask.covers("most_opens") else old.most_opens,
    )


def _access(wanted: LinkChange) -> LinkAccess:
    if wanted.access is None:
        raise invalid_field("access", "Send UNLISTED or ORG.")
    return wanted.access


def _check_view(wanted: NewLink) -> None:
    """Refuses a view that tells what a redacted link hides.

    Raises:
        ApiError: naming the field.
    """
    for field in ("module", "op"):
        if wanted.redacted and getattr(wanted.view, field):
            message = "A redacted link shows no name of the profile, so its view can't hold one."
            raise invalid_field(f"view.{field}", message)


def _check_end(
    rules: SharingRules, wanted: Lifetime, created: datetime, expires: datetime | None
) -> None:
    last = rules.last_end(created)
    if last is None or (expires is not None and expires <= last):
        return
    field = "expireTime" if wanted.expire_time is not None else "never" if wanted.never else "ttl"
    days = f"{(last - created) / timedelta(days=1):g}"
    raise invalid_field(field, f"Links end here {days} days after they were made at the latest.")
