"""Members in SQL: who has which role. Each function is one transaction."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from auth.identity import Role
from auth.members import Member, Membership, member_id
from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.pages import Page, PageRequest, fetch_page
from server.registry.people_models import MemberRow
from server.registry.records import etag_of


def member_etag(member: Member) -> str:
    """A text that changes with every change of a member."""
    return etag_of(f"{member.id}:{member.created.isoformat()}", member.version)


def memberships_of(database: Database, members: Collection[str]) -> tuple[Membership, ...]:
    """The roles that these members have."""
    query = select(MemberRow.member, MemberRow.role).where(MemberRow.member.in_(members))
    with database.reading() as session:
        return tuple(Membership(member, Role(role)) for member, role in session.execute(query))


def add_member(database: Database, member: str, role: Role, creator: str, now: datetime) -> Member:
    """Gives a member a role.

    Args:
        database: the registry.
        member: as `auth.members.read_member` spells it.
        role: viewer, editor or admin.
        creator: name of who does it.
        now: this moment.

    Raises:
        RegistryError: ALREADY_EXISTS.
    """
    row = MemberRow(
        id=member_id(member),
        member=member,
        role=role.value,
        creator=creator,
        created=now,
        updated=now,
        version=1,
    )
    try:
        with database.writing() as session:
            session.add(row)
    except IntegrityError as problem:
        raise RegistryError(
            RegistryProblem.ALREADY_EXISTS, f"{member} has a role already. Change it instead."
        ) from problem
    return _record(row)


def get_member(database: Database, wanted: str) -> Member:
    """The member of this id.

    Raises:
        RegistryError: NOT_FOUND.
    """
    with database.reading() as session:
        return _record(_row(session, wanted))


def list_members(database: Database, request: PageRequest) -> Page[Member]:
    """A page of members by their time of creation."""
    with database.reading() as session:
        rows, position = fetch_page(
            session, select(MemberRow), MemberRow.created, MemberRow.key, request
        )
        return Page(tuple(_record(row) for row in rows), position)


def change_role(
    database: Database,
    wanted: str,
    role: Role,
    *,
    etag: str | None,
    now: datetime,
    is_admin_set: bool,
) -> Member:
    """Gives a member another role.

    Args:
        database: the registry.
        wanted: id of the member.
        role: viewer, editor or admin.
        etag: of the state that is meant; None for any.
        now: this moment.
        is_admin_set: whether a setting names an admin, so that no member needs to be one.

    Raises:
        RegistryError: NOT_FOUND, ETAG_MISMATCH, or LAST_ADMIN; nothing was changed.
    """
    with database.writing() as session:
        row = _locked(session, wanted, etag)
        if role is not Role.ADMIN and not is_admin_set:
            _require_other_admin(session, row)
        if row.role != role.value:
            row.role, row.updated, row.version = role.value, now, row.version + 1
        session.flush()
        return _record(row)


def remove_member(
    database: Database, wanted: str, *, etag: str | None, is_admin_set: bool
) -> Member:
    """Takes a member its role; who it was.

    Raises:
        RegistryError: as `change_role`.
    """
    with database.writing() as session:
        row = _locked(session, wanted, etag)
        if not is_admin_set:
            _require_other_admin(session, row)
        session.delete(row)
        return _record(row)


def _locked(session: Session, wanted: str, etag: str | None) -> MemberRow:
    # Of two admins who take each other's role at once, one must come to know that the other did.
    session.execute(
        select(MemberRow.key).where(MemberRow.role == Role.ADMIN.value).with_for_update()
    )
    row = _row(session, wanted)
    if etag is not None and etag != member_etag(_record(row)):
        raise RegistryError(
            RegistryProblem.ETAG_MISMATCH,
            f"{row.member} was changed since you read it. Read it again.",
        )
    return row


def _require_other_admin(session: Session, row: MemberRow) -> None:
    if row.role != Role.ADMIN.value:
        return
    others = select(func.count()).where(
        MemberRow.role == Role.ADMIN.value, MemberRow.key != row.key
    )
    if not session.scalar(others):
        raise RegistryError(
            RegistryProblem.LAST_ADMIN,
            f"{row.member} is the last admin. Make somebody else an admin first, or name one in "
            "XPROF_HUB_ADMINS.",
        )


def _row(session: Session, wanted: str) -> MemberRow:
    row = session.scalar(select(MemberRow).where(MemberRow.id == wanted))
    if row is None:
        raise RegistryError(RegistryProblem.NOT_FOUND, f"There is no member {wanted!r}.")
    return row


def _record(row: MemberRow) -> Member:
    return Member(
        id=row.id,
        member=row.member,
        role=Role(row.role),
        creator=row.creator,
        created=row.created,
        updated=row.updated,
        version=row.version,
    )
