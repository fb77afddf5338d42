"""Which hub a command talks to and with which token: options, variables, and the file that `login` keeps.

The file holds secrets. It belongs to its owner alone, is replaced as a whole, and a token in it is sent to
the address that it was kept for and to no other. Who changes it holds a lock from reading to replacing, so
that of two commands at once neither takes back what the other has kept.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from server.client import DEFAULT_URL

_FILE = "hubs.json"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS})
"""How a file system says that it has no locks, as some that homes are mounted from."""


class CredentialsError(Exception):
    """The kept tokens can't be read or written; the message is one sentence for a person."""


class KeptHubs(BaseModel):
    """What the file holds."""

    model_config = ConfigDict(extra="ignore")

    current: str = ""
    """The hub that was signed in to last: used when no other is named."""
    tokens: dict[str, str] = Field(default_factory=dict)
    """API tokens by the hub's address."""


@dataclass(frozen=True)
class Access:
    """How a command reaches its hub.

    Attributes:
        url: the hub's address.
        token: API token, or empty.
        source: where the token is from, for people.
    """

    url: str
    token: str
    source: str


def credentials_file() -> Path:
    """Where tokens are kept: `$XDG_CONFIG_HOME/xprof-hub/hubs.json`, or below `~/.config`."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    # The specification wants relative ones ignored.
    folder = Path(base) if Path(base).is_absolute() else Path.home() / ".config"
    return folder / "xprof-hub" / _FILE


def find_access(url: str, token: str) -> Access:
    """The hub and token that a command uses: what it was told, else what is kept.

    Raises:
        CredentialsError: the file is needed and can't be used.
    """
    if url and token:
        return Access(_plain(url), token, "--token or XPROF_HUB_TOKEN")
    kept = load_hubs()
    address = _plain(url or kept.current or DEFAULT_URL)
    if token:
        return Access(address, token, "--token or XPROF_HUB_TOKEN")
    found = kept.tokens.get(address, "")
    return Access(address, found, str(credentials_file()) if found else "none")


def load_hubs() -> KeptHubs:
    """What is kept; nothing when there is no file.

    Raises:
        CredentialsError: it can't be read, is damaged, or is open to others.
    """
    path = credentials_file()
    try:
        with path.open(encoding="utf-8") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & _OTHERS:
                raise CredentialsError(
                    f"Others may read the tokens in {path}: run 'chmod 600 {path}'."
                )
            return KeptHubs.model_validate_json(file.read())
    except FileNotFoundError:
        return KeptHubs()
    except (OSError, UnicodeDecodeError) as problem:
        raise CredentialsError(f"{path} can't be read: {problem}") from problem
    except ValidationError as problem:
        raise CredentialsError(f"{path} is damaged: delete it and sign in again.") from problem


def keep_token(url: str, token: str) -> Path:
    """Keeps a token for an address, which becomes the one that commands use; returns the file.

    Args:
        url: the hub's address.
        token: its API token, or empty for a hub that asks for none.

    Raises:
        CredentialsError: it can't be written.
    """
    address = _plain(url)
    with _changing() as kept:
        others = {known: secret for known, secret in kept.tokens.items() if known != address}
        tokens = others | ({address: token} if token else {})
        return _write(KeptHubs(current=address, tokens=tokens))


def forget_tokens(url: str | None) -> list[str]:
    """Forgets the token of an address, or all; returns the addresses that had one.

    Raises:
        CredentialsError: the file can't be changed.
    """
    if not credentials_file().exists():
        return []
    address = None if url is None else _plain(url)
    with _changing() as kept:
        gone = [known for known in kept.tokens if address in {None, known}]
        if gone or kept.current:
            left = {known: secret for known, secret in kept.tokens.items() if known not in gone}
            current = "" if address in {None, kept.current} else kept.current
            _write(KeptHubs(current=current, tokens=left))
        return gone


@contextlib.contextmanager
def _changing() -> Iterator[KeptHubs]:
    """What is kept, which no other command changes meanwhile; waits for one that does.

    The lock is a file of its own: the one with the tokens is replaced, and a lock on it with it.

    Raises:
        CredentialsError: the file can't be read or changed.
    """
    path = credentials_file()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(
            path.with_name(f"{_FILE}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
    except OSError as problem:
        raise CredentialsError(f"{path} can't be written: {problem}") from problem
    try:
        _lock(lock, path)
        yield load_hubs()
    finally:
        os.close(lock)


def _lock(descriptor: int, path: Path) -> None:
    """Takes the lock; goes on without one where there are none, as signing in must work there too.

    Raises:
        CredentialsError: it can't be taken.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as problem:
        if problem.errno not in _NO_LOCKS:
            raise CredentialsError(f"{path} can't be locked: {problem}") from problem


def _write(hubs: KeptHubs) -> Path:
    path = credentials_file()
    try:
        # Made with mode 0600: at no moment can others read it.
        descriptor, name = tempfile.mkstemp(prefix=".hubs-", dir=path.parent)
        draft = Path(name)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(hubs.model_dump_json(indent=2) + "\n")
            draft.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                draft.unlink()
            raise
    except OSError as problem:
        raise CredentialsError(f"{path} can't be written: {problem}") from problem
    return path


def _plain(url: str) -> str:
    """The address as the file names it."""
    return url.strip().rstrip("/")
