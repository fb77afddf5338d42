"""Makes the fixtures of `tests.services` known to every test."""

from __future__ import annotations

pytest_plugins = (
    "tests.services.api",
    "tests.services.chromium",
    "tests.services.clients",
    "tests.services.cluster",
    "tests.services.engine",
    "tests.services.fast",
    "tests.services.gcs",
    "tests.services.hub",
    "tests.services.node",
    "tests.services.postgres",
    "tests.services.quick_clients",
    "tests.services.redis",
    "tests.services.registry",
    "tests.services.scripted",
    "tests.services.sessions",
    "tests.services.shelf",
)
