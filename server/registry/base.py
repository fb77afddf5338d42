"""What all tables have in common: moments, texts that are compared by their bytes, names of constraints."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import DateTime, Dialect, MetaData, Text, TypeDecorator
from sqlalchemy.orm import DeclarativeBase


class UtcTime(TypeDecorator[datetime]):
    """A moment in UTC with microseconds; SQLite keeps no zone, so it is taken off and put back here."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To what the database keeps.

        Raises:
            ValueError: the moment has no time zone.
        """
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a moment without time zone")
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """From what the database kept."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)


# Names are compared and sorted by their bytes on both databases, whatever the server's locale is.
ByteText = Text().with_variant(Text(collation="C"), "postgresql")


class Base(DeclarativeBase):
    """Common metadata: every constraint has a name, so that migrations can change it on SQLite too."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
