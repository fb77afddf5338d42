"""API tokens in SQL: implements `auth.ports.TokenStore`, and lists and revokes them. No secret comes here."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from auth.identity import ApiToken, ParentEndedError, Role
from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.models import TokenRow
from server.registry.pages import Page, PageRequest, fetch_page
from server.registry.records import revocable_etag
from server.registry.requests import RepeatableRequest, claim


class SqlTokenStore:
    """The API tokens of one registry; holds nothing but the database.

    Args:
        database: the registry.
        request: noted with a token that is added, so that the same request does not make two.
    """

    def __init__(self, database: Database, request: RepeatableRequest | None = None) -> None:
        self._database = database
        self._request = request

    def add_token(self, token: ApiToken, digest: str) -> None:
        """Keeps a new API token.

        Raises:
            RegistryError: ALREADY_EXISTS, the same request made one in this moment.
            ParentEndedError: its parent works no more, or is gone.
        """
        with self._database.writing() as session:
            if token.parent:
                _require_parent(session, token)
            session.add(
                TokenRow(
                    id=token.id,
                    token_hash=digest,
                    name=token.name,
                    role=token.role.value,
                    created=token.created,
                    expires=token.expires,
                    revoked=token.revoked,
                    creator=token.creator,
                    parent=token.parent or None,
                )
            )
            claim(session, self._request, token.id, token.created)

    def find_token(self, digest: str) -> tuple[ApiToken, str] | None:
        """The API token stored under this digest together with the stored digest, ended ones too."""
        with self._database.reading() as session:
            row = session.scalar(select(TokenRow).where(TokenRow.token_hash == digest))
            return (token_record(row), row.token_hash) if row else None

    def find_token_by_id(self, token_id: str) -> ApiToken | None:
        """The API token of this id, an ended one too."""
        with self._database.reading() as session:
            row = session.scalar(select(TokenRow).where(TokenRow.id == token_id))
            return token_record(row) if row else None

    def get_token(self, token_id: str) -> ApiToken:
        """The API token of this id.

        Raises:
            RegistryError: NOT_FOUND.
        """
        with self._database.reading() as session:
            return token_record(_row(session, token_id))

    def list_tokens(self, request: PageRequest) -> Page[ApiToken]:
        """A page of API tokens by their time of creation."""
        with self._database.reading() as session:
            rows, position = fetch_page(
                session, select(TokenRow), TokenRow.created, TokenRow.key, request
            )
            return Page(tuple(token_record(row) for row in rows), position)

    def revoke_token(self, token_id: str, now: datetime, etag: str | None = None) -> ApiToken:
        """Ends an API token and all that were made with it; a second time changes nothing, not even the time.

        Raises:
            RegistryError: NOT_FOUND, or ETAG_MISMATCH; nothing was changed.
        """
        with self._database.writing() as session:
            row = _row(session, token_id, lock=True)
            if etag is not None and etag != revocable_etag(row.id, row.revoked):
                raise RegistryError(
                    RegistryProblem.ETAG_MISMATCH,
                    f"API token {token_id!r} was changed since you read it. Read it again.",
                )
            row.revoked = row.revoked or now
            session.flush()
            _revoke_descendants(session, row.id, now)
            return token_record(row)


def _row(session: Session, token_id: str, *, lock: bool = False) -> TokenRow:
    query = select(TokenRow).where(TokenRow.id == token_id)
    row = session.scalar(query.with_for_update() if lock else query)
    if row is None:
        raise RegistryError(RegistryProblem.NOT_FOUND, f"There is no API token {token_id!r}.")
    return row


def _require_parent(session: Session, token: ApiToken) -> None:
    """Holds the parent until the new token is there: whoever revokes the one then finds the other."""
    row = session.scalar(select(TokenRow).where(TokenRow.id == token.parent).with_for_update())
    if row is None or not token_record(row).works_at(token.created):
        raise ParentEndedError


def _revoke_descendants(session: Session, token_id: str, now: datetime) -> None:
    ended = [token_id]
    while ended:
        children = update(TokenRow).where(TokenRow.parent.in_(ended), TokenRow.revoked.is_(None))
        ended = list(session.scalars(children.values(revoked=now).returning(TokenRow.id)))


def token_record(row: TokenRow) -> ApiToken:
    """A row as everybody else knows it."""
    return ApiToken(
        id=row.id,
        name=row.name,
        role=Role(row.role),
        created=row.created,
        expires=row.expires,
        revoked=row.revoked,
        creator=row.creator,
        parent=row.parent or "",
    )
