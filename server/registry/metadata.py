"""All tables, for whoever must see every one: migrations, and tests that empty a database."""

from __future__ import annotations

from sqlalchemy import MetaData

from server.registry import models, people_models, versions
from server.registry.base import Base

TABLES = (models, people_models, versions)
"""The modules that define tables."""
METADATA: MetaData = Base.metadata
