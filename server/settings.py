"""All settings, read once from the environment (prefix `XPROF_HUB_`), and the rules between them.

No other module reads the environment. `Settings.problems_in_production` says what must be set before
strangers may reach the service.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_settings import NoDecode, SettingsConfigDict

from loader.storage.address import GCS_SCHEME
from server.fleet_settings import FleetSettings
from server.people_settings import PeopleSettings, split_list
from server.secret_strength import HOW_TO_MAKE_ONE, weakness_of
from server.web_addresses import SELF, frame_ancestors, host_name, origin_or_nothing

DEFAULT_SECRET = "change-me"  # noqa: S105 - the value that production refuses
DATABASE_FILE = "registry.sqlite"
"""In the data directory, unless another database is set."""
INSTALLED_ASSETS = Path(sys.prefix) / "share/xprof-hub/assets"
"""Small static files beside the installed packages, as `make` leaves them there."""
KNOWN_SECRETS = frozenset({"", DEFAULT_SECRET})
"""Values of the secret key that are none."""
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def _home(value: Path) -> Path:
    """A path with `~` replaced by the home directory.

    Raises:
        ValueError: there is none.
    """
    try:
        return value.expanduser()
    except RuntimeError as problem:
        raise ValueError(f"{value}: there is no such home directory") from problem


def _home_unless_bucket(value: str) -> str:
    """The same for text that may name a bucket, or nothing."""
    return value if value.startswith(GCS_SCHEME) else _home_or_nothing(value)


def _home_or_nothing(value: str) -> str:
    """The same for text that may be empty.

    Raises:
        ValueError: it names a bucket, or there is no such home directory.
    """
    if value.startswith(GCS_SCHEME):
        raise ValueError(f"{value}: this has to be a directory of this machine")
    return str(_home(Path(value))) if value else ""


def _prefix(value: str) -> str:
    """A path prefix without trailing slash, empty or starting with one slash."""
    value = value.strip("/")
    return f"/{value}" if value else ""


CommaSeparated = Annotated[str | tuple[str, ...], NoDecode, AfterValidator(split_list)]
Folder = Annotated[Path, AfterValidator(_home)]
FolderOrBucket = Annotated[str, AfterValidator(_home_unless_bucket)]
FolderOrNothing = Annotated[str, AfterValidator(_home_or_nothing)]
FrameAncestors = Annotated[str, AfterValidator(frame_ancestors)]
OriginOrNothing = Annotated[str, AfterValidator(origin_or_nothing)]


class Settings(PeopleSettings, FleetSettings):
    """One process's configuration. `docs/operations.md` lists every field with its default."""

    model_config = SettingsConfigDict(env_prefix="XPROF_HUB_", frozen=True, extra="ignore")

    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    base_url: str = ""
    """Public address without path prefix, e.g. `https://xprof.example.org`; empty: taken from the request."""
    content_url: OriginOrNothing = ""
    """Public address without path prefix of everything under a link, on a host of its own; empty: none."""
    frame_ancestors: FrameAncestors = SELF
    """Who may show a link's pages in a frame: `self`, `none`, or origins, separated by blanks."""
    path_prefix: Annotated[str, AfterValidator(_prefix)] = ""
    data_dir: Folder = Path("~/.local/share/xprof-hub").expanduser()
    database_url: str = ""
    redis_url: str = ""
    storage_roots: CommaSeparated = ()
    cache_root: FolderOrBucket = ""
    """Where artifacts lie, `gs://bucket/prefix` or a directory. Empty: `artifacts` in `data_dir`."""
    upload_root: FolderOrBucket = ""
    """Where uploaded profiles lie, `gs://bucket/prefix` or a directory that all front ends and workers share;
    they may read it like a storage root. Empty: `uploads` in `data_dir` where `serve` starts both parts, else
    no uploads are taken."""
    asset_cache: FolderOrNothing = ""
    """Where `xprof-hub compress-assets` leaves small static files. Empty: beside the installed packages if
    there is such a directory, else `assets` in `data_dir`."""
    workers: CommaSeparated = ()
    """URLs of workers. A host name that resolves to several addresses stands for all of them. Empty: `serve`
    starts one itself."""
    secret_key: Annotated[str, AfterValidator(str.strip)] = DEFAULT_SECRET
    """Blanks around it don't count: a file with a secret often ends with a line break."""
    engine: Literal["xprof", "fast"] = "xprof"
    shadow_fraction: float = Field(default=0.0, ge=0, le=1)
    """With the fast engine: share of its answers that are made by XProf too, compared and counted."""
    sandbox: Literal["strict", "standard", "reduced"] = "standard"
    """What must hold around a conversion for a worker to serve; `docs/operations.md` says which layers."""
    environment: Literal["development", "production"] = "development"
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    delete_grace_days: float = Field(default=7.0, ge=0, le=3650)
    """Days in which a deleted run or session can be brought back; then `xprof-hub prune` removes it."""
    delete_profiles: bool = False
    """Whether it removes their profiles too: what was uploaded, and what lies in `storage_roots`."""
    upload_quota_bytes: int = Field(default=0, ge=0)
    """Most bytes of all uploaded profiles together; 0: as many as there is room for."""
    upload_free_bytes: int = Field(default=1 << 30, ge=0)
    """Bytes that stay free on the disk of a local `upload_root`."""
    link_days: float = Field(default=30.0, gt=0)
    """Days until a new share link expires, unless its maker says otherwise."""
    sign_in_hours: float = Field(default=168.0, gt=0, le=8760)
    """Hours until somebody who has signed in with a browser has to do so again."""
    audit_days: float = Field(default=365.0, gt=0)
    """Days that events of the audit log are kept; `xprof-hub prune` removes older ones."""
    address_requests: int = Field(default=6000, ge=0)
    """Most requests of one network address within a minute, to pages and links; 0: any number."""
    link_requests: int = Field(default=12_000, ge=0)
    """Most requests under one link within a minute; 0: any number."""
    result_ttl_seconds: int = Field(default=7 * 24 * 3600, gt=0)
    error_ttl_seconds: int = Field(default=30, gt=0)
    """How long a failure that lies in the profile itself is remembered."""
    cache_bytes: int = Field(default=20 << 30, gt=0)
    """Most bytes of results kept in `data_dir`."""
    artifact_bytes: int = Field(default=50 << 30, gt=0)
    """Most bytes of artifacts kept in a local `cache_root`."""
    scratch_bytes: int = Field(default=50 << 30, gt=0)
    """Most bytes of downloaded profiles kept on a worker's disk."""
    conversion_seconds: float = Field(default=600.0, gt=0)
    conversion_memory_bytes: int = Field(default=16 << 30, gt=0)
    conversions: int = Field(default=0, ge=0)
    """Conversions at once in one worker; 0: one per core that it may use."""
    memory_bytes: int = Field(default=0, ge=0)
    """What all conversions of one worker may use together; 0: four fifths of what the worker may use."""
    large_workers: CommaSeparated = ()
    """URLs of workers with more memory, asked when a profile does not fit into the others."""
    prewarm: bool = True
    """Whether attaching a session converts what its first page needs."""
    prewarm_bytes: int = Field(default=2 << 30, ge=0)
    """Largest session that is converted in advance."""
    scan_roots: CommaSeparated = ()
    """Folders of runs' folders where sessions are looked for, in `storage_roots`."""
    scan_seconds: float = Field(default=60.0, ge=0)
    """How long a new folder may stay unseen; 0: nothing is looked for."""
    auto_register: bool = False
    """Whether a folder in `scan_roots` that has sessions and is no run becomes one."""
    run_silence_hours: float = Field(default=72.0, gt=0)
    """After so long without a word of its job and a new session, an active run is closed as lost."""
    pubsub_audience: str = ""
    """Audience of the push subscription for the buckets' notifications; empty: none are taken."""
    pubsub_account: str = ""
    """E-mail of the service account whose tokens that subscription sends."""
    pubsub_keys_url: str = "https://www.googleapis.com/oauth2/v1/certs"
    """Where the keys are published that these tokens are signed with."""
    most_planes: int = Field(default=4096, gt=0)
    most_device_planes: int = Field(default=256, gt=0)
    """XProf starts a thread for each."""
    most_lines: int = Field(default=1_000_000, gt=0)
    most_events: int = Field(default=20_000_000, gt=0)
    longest_name_bytes: int = Field(default=16 << 10, gt=0)
    """XProf's search index takes quadratic time in the length of a name."""
    most_modules: int = Field(default=50_000, gt=0)
    upload_bytes: int = Field(default=4 << 30, gt=0)
    """Most bytes of one host's uploaded profile."""
    unpacked_bytes: int = Field(default=2 << 30, gt=0)
    """What a gzip-compressed profile may become."""
    request_seconds: float = Field(default=900.0, gt=0)
    """Longest time that the front end waits for a worker."""

    @property
    def accepted_secret_keys(self) -> tuple[str, ...]:
        """Keys besides the secret key that are accepted; the default, which everybody knows, never is."""
        others = dict.fromkeys(key.strip() for key in self.old_secret_keys)
        return tuple(key for key in others if key not in {self.secret_key, *KNOWN_SECRETS})

    @property
    def link_url(self) -> str:
        """Public address of links, without path prefix and slash; empty: whatever address was called."""
        return self.content_url or self.base_url.rstrip("/")

    @property
    def is_tls(self) -> bool:
        """Whether browsers reach the service through TLS."""
        return self.base_url.startswith("https://") or self.content_url.startswith("https://")

    @property
    def resolved_database_url(self) -> str:
        """The database's URL; SQLite in the data directory unless set."""
        return self.database_url or f"sqlite:///{self.data_dir / DATABASE_FILE}"

    @property
    def resolved_asset_cache(self) -> Path:
        """Where compressed copies of static files lie."""
        if self.asset_cache:
            return Path(self.asset_cache)
        installed = INSTALLED_ASSETS
        return installed if installed.is_dir() else self.data_dir / "assets"

    @property
    def readable_roots(self) -> tuple[str, ...]:
        """Where profiles may be read: the storage roots, and where uploads lie."""
        uploads = (self.upload_root,) if self.upload_root else ()
        return (*self.storage_roots, *uploads)

    def with_local_uploads(self) -> Settings:
        """These settings for a front end and its worker on one disk, which can hold the uploads.

        In production it can't: other front ends would not see them.
        """
        if self.upload_root or self.environment == "production":
            return self
        return self.model_copy(update={"upload_root": str(self.data_dir / "uploads")})

    @property
    def resolved_cache_root(self) -> str:
        """Where artifacts are shared."""
        return self.cache_root or str(self.data_dir / "artifacts")

    def problems_in_production(self) -> list[str]:
        """What must change before this may serve strangers; empty when nothing must."""
        problems = self.problems_with_secrets()
        if self.auth == "dev":
            problems.append(
                "XPROF_HUB_AUTH is dev, which trusts every caller. Set it to token, oidc or iap."
            )
        if not self.database_url:
            problems.append(
                "XPROF_HUB_DATABASE_URL is not set; SQLite on one disk can't be shared by front ends."
            )
        if not self.base_url.startswith(("https://", "http://")):
            problems.append(
                "XPROF_HUB_BASE_URL is not the public address, so links would lead to whatever host a "
                "request names. Set it, for example to https://xprof.example.org."
            )
        if self.base_url.startswith("https://") and self.content_url.startswith("http://"):
            problems.append(
                f"XPROF_HUB_CONTENT_URL ({self.content_url}) has no TLS, but XPROF_HUB_BASE_URL has. Set it "
                "to an https:// address."
            )
        return problems

    def problems_with_addresses(self) -> list[str]:
        """Why the public addresses can't go together; empty when they can.

        Browsers keep cookies by the host's name, whatever the port: two ports of one host are not apart.
        """
        if self.content_url and host_name(self.content_url) == host_name(self.base_url):
            return [
                f"XPROF_HUB_CONTENT_URL ({self.content_url}) and XPROF_HUB_BASE_URL ({self.base_url}) name "
                "the same host, and another port does not keep them apart. Give one of them another name."
            ]
        return []

    def advice_for_production(self) -> list[str]:
        """What may stay as it is, but had better change before strangers come."""
        advice = self.advice_on_people()
        if self.upload_root and not self.upload_root.startswith(GCS_SCHEME):
            advice.append(
                f"XPROF_HUB_UPLOAD_ROOT ({self.upload_root}) is a directory. Every front end and worker has "
                "to see the same one, and it has to be backed up; with a gs:// address both is so."
            )
        if self.content_url:
            return advice
        return [
            *advice,
            "XPROF_HUB_CONTENT_URL is not set, so profiles, which hold text by anybody, are shown on the "
            "same host as the API. Set it to a second name of this service, best of another domain.",
        ]

    def problems_with_secrets(self) -> list[str]:
        """Which secret keys strangers know or could guess; all that is asked of a worker in production.

        It has no database and no callers.
        """
        if self.secret_key in KNOWN_SECRETS:
            return [
                "XPROF_HUB_SECRET_KEY is the default or empty. Set it to a long random value, the same for "
                f"every front end and worker. {HOW_TO_MAKE_ONE}"
            ]
        current, *former = map(weakness_of, (self.secret_key, *self.accepted_secret_keys))
        problems = []
        if current:
            problems.append(f"XPROF_HUB_SECRET_KEY {current}. {HOW_TO_MAKE_ONE}")
        problems += [
            f"XPROF_HUB_OLD_SECRET_KEYS: one of them {weakness}. Leave it out: whoever guesses it is "
            "believed as if it were the present one."
            for weakness in former
            if weakness
        ]
        return problems

    def problems_with_binding(self) -> list[str]:
        """Why this configuration must not listen on its address; empty when it may."""
        if self.auth == "dev" and self.host not in LOOPBACK:
            return [
                "XPROF_HUB_AUTH=dev trusts every caller and so may listen on this machine only, not on "
                f"{self.host}. Set XPROF_HUB_AUTH to token, oidc or iap, or XPROF_HUB_HOST=127.0.0.1."
            ]
        return []

    def may_read(self, location: str) -> bool:
        """Whether a location lies below a storage root; looks at no file but for links in a path."""
        return any(_covers(root, location) for root in self.storage_roots)

    def problems_with_discovery(self) -> list[str]:
        """Why sessions can't be looked for as it is set; empty when they can."""
        problems = [
            f"XPROF_HUB_SCAN_ROOTS: {root} does not lie in a storage root, so it may not be read. Add it to "
            "XPROF_HUB_STORAGE_ROOTS."
            for root in self.scan_roots
            if not self.may_read(root)
        ]
        if self.pubsub_audience and not self.pubsub_account:
            problems.append(
                "XPROF_HUB_PUBSUB_ACCOUNT is not set, so anybody with a Google account could send "
                "notifications. Set it to the e-mail of the push subscription's service account."
            )
        return problems

    def problems_with_worker_binding(self) -> list[str]:
        """Why this must not be a worker on its address: who knows the secret may read all storage roots."""
        if self.secret_key in KNOWN_SECRETS and self.host not in LOOPBACK:
            return [
                "XPROF_HUB_SECRET_KEY is the default or empty, which everyone knows, so a worker may listen "
                f"on this machine only, not on {self.host}. Set it to a long random value, or "
                f"XPROF_HUB_HOST=127.0.0.1. {HOW_TO_MAKE_ONE}"
            ]
        return []

    def problems_with_folders(self) -> list[str]:
        """Which of our own folders lie where profiles are: nothing is written there, no link shows ours."""
        ours = {"DATA_DIR": str(self.data_dir), "CACHE_ROOT": self.cache_root}
        return [
            f"XPROF_HUB_{name} ({folder}) lies in the storage root {root}, where nothing may be written. "
            "Choose another place, or a narrower storage root."
            for name, folder in ours.items()
            if folder
            for root in self.readable_roots
            if _covers(root, folder)
        ]


def _covers(root: str, folder: str) -> bool:
    """Whether a folder is a root or lies in it; buckets by name, directories with links resolved."""
    if root.startswith(GCS_SCHEME) or folder.startswith(GCS_SCHEME):
        return f"{folder.rstrip('/')}/".startswith(f"{root.rstrip('/')}/")
    try:
        directory = Path(root).expanduser()
    except RuntimeError:
        return False  # Nobody's home: `open_storage` refuses such a root.
    return Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(directory))
