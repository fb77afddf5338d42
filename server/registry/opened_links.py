"""What a token opens, asked in one transaction: each request under a link begins with that.

The rows that `server.registry.links` and `server.registry.sessions` read one by one, as plain columns and by
statements that are made once: making statements and objects of the ORM takes longer than all else of it.
Nothing is kept from one request to the next. Decides nothing: whether a link opens is `auth.links`' matter.
"""

from __future__ import annotations

from sqlalchemy import FromClause, Select, bindparam, select

from auth.links import FoundLink
from server.registry import links, sessions
from server.registry.database import Database
from server.registry.models import LinkRow, RunRow, SessionRow
from server.registry.people_models import RuleRow
from server.registry.records import ProfilerSession
from server.registry.rules import SHARING, read_rules

_LINK: FromClause = LinkRow.__table__
_SESSION: FromClause = SessionRow.__table__
_RUN: FromClause = RunRow.__table__
_RULE: FromClause = RuleRow.__table__


def _link_by_digest() -> Select[tuple[object, ...]]:
    is_sharing = _RULE.c.name == SHARING
    tables = _LINK.outerjoin(_RULE, is_sharing)
    query = select(*_LINK.c, _RULE.c.value.label("rules")).select_from(tables)
    return query.where(_LINK.c.token_hash == bindparam("digest"))


def _session_by_uid() -> Select[tuple[object, ...]]:
    """Of the sessions that are there, in a run that is there."""
    tables = _SESSION.join(_RUN, _RUN.c.key == _SESSION.c.run_key)
    query = select(*_SESSION.c, _RUN.c.id.label("run_id")).select_from(tables)
    is_there = (_SESSION.c.deleted.is_(None), _RUN.c.deleted.is_(None))
    return query.where(_SESSION.c.uid == bindparam("uid"), *is_there)


_LINK_BY_DIGEST = _link_by_digest()
_SESSION_BY_UID = _session_by_uid()


class OpenedLinks(links.SqlLinkStore):
    """A `LinkStore` for one request, which finds the session of the link that it is asked for, too.

    Attributes:
        session: the session that the link last found is to; None if it is to a run, or its session or
            run was deleted.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.session: ProfilerSession | None = None

    def find_link(self, digest: str) -> FoundLink | None:
        """The link stored under this digest, expired and revoked ones too, with the rules of this moment."""
        self.session = None
        with self._database.reading_columns() as connection:
            row = connection.execute(_LINK_BY_DIGEST, {"digest": digest}).one_or_none()
            if row is None:
                return None
            if row.session_uid:
                found = connection.execute(_SESSION_BY_UID, {"uid": row.session_uid}).one_or_none()
                self.session = sessions.to_record(found, found.run_id) if found else None
        return FoundLink(links.to_record(row), row.token_hash, read_rules(row.rules))
