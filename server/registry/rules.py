"""What an administrator has decided for the whole hub, in SQL: now the rules of sharing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from auth.links import LinkAccess
from auth.sharing_rules import SharingRules
from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.people_models import RuleRow
from server.registry.records import Json, etag_of

SHARING = "sharing"
"""Name of the row with the rules of sharing."""


@dataclass(frozen=True)
class StoredRules:
    """The rules of sharing as they are kept.

    Attributes:
        rules: what is allowed.
        updater: name of who changed them last; empty when nobody has.
        updated: when, or None.
        version: counts the changes.
    """

    rules: SharingRules
    updater: str = ""
    updated: datetime | None = None
    version: int = 0

    @property
    def etag(self) -> str:
        """Names this state of the rules."""
        return etag_of(SHARING, self.version)


def read_rules(value: Mapping[str, Json] | None) -> SharingRules:
    """The rules that a row holds; those that everything is allowed by where there is no row."""
    if value is None:
        return SharingRules()
    return SharingRules(
        allow_unlisted=value["allow_unlisted"] is True,
        longest_days=_days(value["longest_days"]),
        unlisted_needs_password=value["unlisted_needs_password"] is True,
        unlisted_redacted_only=value["unlisted_redacted_only"] is True,
        default_access=LinkAccess(str(value["default_access"])),
        default_days=_days(value["default_days"]),
    )


def get_sharing_rules(database: Database) -> StoredRules:
    """The rules of sharing at this moment."""
    with database.reading() as session:
        row = session.scalar(select(RuleRow).where(RuleRow.name == SHARING))
        return _record(row) if row else StoredRules(SharingRules())


def change_sharing_rules(
    database: Database,
    decide: Callable[[SharingRules], SharingRules],
    *,
    updater: str,
    etag: str | None,
    now: datetime,
) -> StoredRules:
    """Changes the rules; they count from this moment, for links that exist too.

    Args:
        database: the registry.
        decide: the new rules, given those that hold while nobody else changes them.
        updater: name of the principal.
        etag: the state that is to be changed; None for any.
        now: UTC.

    Raises:
        RegistryError: ETAG_MISMATCH; nothing was changed.
    """
    try:
        with database.writing() as session:
            row = _locked(session)
            before = _record(row) if row else StoredRules(SharingRules())
            if etag is not None and etag != before.etag:
                raise _changed_meanwhile()
            rules = decide(before.rules)
            if row is None:
                row = RuleRow(name=SHARING)
                session.add(row)
            row.value, row.updater, row.updated = _value(rules), updater, now
            row.version = before.version + 1
            session.flush()
            return _record(row)
    except IntegrityError as error:
        raise _changed_meanwhile() from error


def _locked(session: Session) -> RuleRow | None:
    return session.scalar(select(RuleRow).where(RuleRow.name == SHARING).with_for_update())


def _changed_meanwhile() -> RegistryError:
    message = "The sharing rules were changed since you read them. Read them again."
    return RegistryError(RegistryProblem.ETAG_MISMATCH, message)


def _record(row: RuleRow) -> StoredRules:
    return StoredRules(read_rules(row.value), row.updater, row.updated, row.version)


def _value(rules: SharingRules) -> dict[str, Json]:
    return {
        "allow_unlisted": rules.allow_unlisted,
        "longest_days": rules.longest_days,
        "unlisted_needs_password": rules.unlisted_needs_password,
        "unlisted_redacted_only": rules.unlisted_redacted_only,
        "default_access": rules.default_access.value,
        "default_days": rules.default_days,
    }


def _days(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) else None
