"""What in the settings keeps a part from starting, by part: a worker has neither callers nor a database.

One list for `serve`, which refuses, and for `xprof-hub doctor`, which tells. Touches no network and no disk
but for links in paths.
"""

from __future__ import annotations

from typing import Literal

from server.settings import Settings

Part = Literal["front", "worker"]
_LONELY = ["XPROF_HUB_WORKERS is empty. Set it to the URLs of the workers, or leave --only out."]


def problems_of_settings(settings: Settings, part: Part | None) -> list[str]:
    """Why a part must not start with these settings, a sentence or two each; None stands for both parts."""
    is_production = settings.environment == "production"
    if part == "worker":
        secrets = settings.problems_with_secrets() if is_production else []
        return [*settings.problems_with_worker_binding(), *secrets]
    return [
        *settings.problems_with_binding(),
        *settings.problems_with_addresses(),
        *settings.problems_with_discovery(),
        *settings.problems_with_people(),
        *(settings.problems_in_production() if is_production else []),
        *_problems_with_identity(settings),
        *(_LONELY if part == "front" and not settings.workers else []),
    ]


def _problems_with_identity(settings: Settings) -> list[str]:
    """Why an identity can't be shown to the workers: whoever reads one on the way could call them, too."""
    if settings.worker_identity == "none":
        return []
    return [
        f"XPROF_HUB_WORKER_IDENTITY is {settings.worker_identity}, but {url} in XPROF_HUB_WORKERS or "
        "XPROF_HUB_LARGE_WORKERS has no TLS. Use https:// addresses, or set XPROF_HUB_WORKER_IDENTITY=none."
        for url in (*settings.workers, *settings.large_workers)
        if not url.startswith("https://")
    ]
