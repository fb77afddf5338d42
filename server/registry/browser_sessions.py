"""Browser sessions in SQL: who has signed in, and with what it is worth at the moment.

A request of a page costs one query: the session comes with its API token, or with the roles that may be its
holder's. Rows that are over are deleted when somebody signs in.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, delete, func, or_, select, update

from auth.browser_sessions import BrowserSession, FoundSession, SignInMethod
from auth.identity import Role
from auth.members import KnownPerson, MemberKind, Membership
from server.registry.database import Database
from server.registry.models import TokenRow
from server.registry.people_models import BrowserSessionRow, MemberRow
from server.registry.tokens import token_record

_USERS = f"{MemberKind.USER}:%"


@dataclass(frozen=True)
class SignedInPerson:
    """Somebody who has signed in at the moment, by however many browsers.

    Attributes:
        subject: as `BrowserSession.subject`.
        name: their own, or what their token is for; may be empty.
        method: how.
        browsers: how many browser sessions.
        latest: when the last of them began.
    """

    subject: str
    name: str
    method: SignInMethod
    browsers: int
    latest: datetime


class SqlBrowserSessions:
    """The browser sessions of one registry; holds nothing but the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, kept: BrowserSession) -> None:
        """Keeps a new one, and forgets those that are over."""
        person = kept.person
        with self._database.writing() as session:
            over = BrowserSessionRow.expires <= kept.created
            session.execute(delete(BrowserSessionRow).where(over))
            session.add(
                BrowserSessionRow(
                    id=kept.id,
                    method=kept.method.value,
                    subject=kept.subject,
                    name=person.name if person else "",
                    email=person.email if person else "",
                    groups=list(person.groups) if person else [],
                    created=kept.created,
                    expires=kept.expires,
                    ended=kept.ended,
                )
            )

    def find(self, session_id: str) -> FoundSession | None:
        """The browser session of this id with what it is worth, one that is over too; one query."""
        by_token = BrowserSessionRow.method == SignInMethod.TOKEN.value
        query = (
            select(BrowserSessionRow, TokenRow, MemberRow.member, MemberRow.role)
            .outerjoin(TokenRow, and_(by_token, TokenRow.id == BrowserSessionRow.subject))
            # Which groups a person is in stands in the row itself, so those are told apart afterwards.
            .outerjoin(
                MemberRow,
                and_(
                    ~by_token,
                    or_(
                        MemberRow.member == BrowserSessionRow.subject,
                        MemberRow.member.not_like(_USERS),
                    ),
                ),
            )
            .where(BrowserSessionRow.id == session_id)
        )
        with self._database.reading() as session:
            rows = session.execute(query).all()
            if not rows:
                return None
            kept, token = rows[0][0], rows[0][1]
            roles = [(row[2], row[3]) for row in rows if row[2] is not None]
            memberships = tuple(Membership(member, Role(role)) for member, role in roles)
            return FoundSession(_record(kept), token_record(token) if token else None, memberships)

    def find_current(
        self, method: SignInMethod, subject: str, until: datetime
    ) -> BrowserSession | None:
        """A browser session of somebody that lasts until then at least."""
        query = select(BrowserSessionRow).where(
            BrowserSessionRow.subject == subject,
            BrowserSessionRow.method == method.value,
            BrowserSessionRow.ended.is_(None),
            BrowserSessionRow.expires >= until,
        )
        with self._database.reading() as session:
            row = session.scalar(query.order_by(BrowserSessionRow.key.desc()).limit(1))
            return _record(row) if row else None

    def end(self, session_id: str, now: datetime) -> None:
        """Ends one; what has ended stays as it is."""
        with self._database.writing() as session:
            session.execute(
                update(BrowserSessionRow)
                .where(BrowserSessionRow.id == session_id, BrowserSessionRow.ended.is_(None))
                .values(ended=now)
            )

    def end_all_of(self, subject: str, now: datetime) -> int:
        """Ends all of somebody's; how many there were."""
        with self._database.writing() as session:
            ended = session.scalars(
                update(BrowserSessionRow)
                .where(
                    BrowserSessionRow.subject == subject,
                    BrowserSessionRow.ended.is_(None),
                    BrowserSessionRow.expires > now,
                )
                .values(ended=now)
                .returning(BrowserSessionRow.key)
            )
            return len(ended.all())

    def signed_in_people(self, now: datetime, most: int) -> tuple[SignedInPerson, ...]:
        """Who has signed in, the latest first."""
        latest = func.max(BrowserSessionRow.created)
        name = func.max(func.coalesce(TokenRow.name, BrowserSessionRow.name))
        query = (
            select(BrowserSessionRow.subject, name, BrowserSessionRow.method, func.count(), latest)
            .outerjoin(
                TokenRow,
                and_(
                    BrowserSessionRow.method == SignInMethod.TOKEN.value,
                    TokenRow.id == BrowserSessionRow.subject,
                ),
            )
            .where(BrowserSessionRow.ended.is_(None), BrowserSessionRow.expires > now)
            .group_by(BrowserSessionRow.subject, BrowserSessionRow.method)
            .order_by(latest.desc(), BrowserSessionRow.subject)
            .limit(most)
        )
        with self._database.reading() as session:
            return tuple(
                SignedInPerson(subject, called, SignInMethod(method), count, moment)
                for subject, called, method, count, moment in session.execute(query)
            )


def _record(row: BrowserSessionRow) -> BrowserSession:
    person = KnownPerson(row.email, row.name, tuple(row.groups)) if row.email else None
    return BrowserSession(
        id=row.id,
        method=SignInMethod(row.method),
        subject=row.subject,
        person=person,
        created=row.created,
        expires=row.expires,
        ended=row.ended,
    )
