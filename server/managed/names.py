"""Names below a project and a location, `projects/<project>/locations/<location>/…`, and ids of runs.

A run that was made without a project (through `/v1`, or by a job that knows only this hub) lies below
`projects/-/locations/-`; a `-` in a request stands for any project or location (AIP-159).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from server.http.errors import invalid_field
from server.names import check_id, run_name, session_name
from server.registry.conditions import Compare, Condition, Matches, Operator, Subject

ANY = "-"
_OTHERS = re.compile(r"[^a-z0-9]+")
_LONGEST_STEM = 80
_PARENT = Subject("parent")


@dataclass(frozen=True)
class Place:
    """A project and a location, as a request names them."""

    project: str
    location: str

    @property
    def name(self) -> str:
        """Its resource name."""
        return f"projects/{self.project}/locations/{self.location}"

    @property
    def is_exact(self) -> bool:
        """Whether it is one place."""
        return ANY not in (self.project, self.location)

    def holds(self, parent: str) -> bool:
        """Whether a run with this parent lies here."""
        project, location = _parts(parent)
        return self.project in (ANY, project) and self.location in (ANY, location)

    def condition(self) -> Condition | None:
        """The same about the registry's runs; None: all do."""
        if self.is_exact:
            return Compare(_PARENT, Operator.EQUAL, self.name)
        if self.project != ANY:
            return Matches(_PARENT, (f"projects/{self.project}/locations/", ""))
        if self.location != ANY:
            return Matches(_PARENT, ("projects/", f"/locations/{self.location}"))
        return None


def _parts(parent: str) -> tuple[str, str]:
    parts = parent.split("/")
    return (parts[1], parts[3]) if len(parts) == 4 else (ANY, ANY)


def place_name(parent: str) -> str:
    """Resource name of the location that a run with this parent lies in."""
    return parent or f"projects/{ANY}/locations/{ANY}"


def managed_run_name(parent: str, run: str) -> str:
    """Resource name of a run here.

    Args:
        parent: as `records.Run.parent`.
        run: its id.
    """
    return f"{place_name(parent)}/{run_name(run)}"


def managed_session_name(parent: str, run: str, session: str) -> str:
    """Resource name of a session here."""
    return f"{place_name(parent)}/{session_name(run, session)}"


def managed_operation_name(parent: str, operation: str) -> str:
    """Resource name of an operation."""
    return f"{parent}/operations/{operation}"


def normal_id(text: str) -> str:
    """An id as Google's clients write it before they ask: lower case, with `-` for all else between."""
    return _OTHERS.sub("-", text.lower()).strip("-")


def chosen_id(text: str) -> str:
    """The id of a run that its client named.

    Raises:
        ApiError: nothing is left of it, or it is too long.
    """
    found = normal_id(text)
    try:
        return check_id(found)
    except ValueError as error:
        raise invalid_field(
            "machine_learning_run_id", f"{error} Only letters and digits of ASCII count."
        ) from error


def made_up_id(display_name: str) -> str:
    """The id of a run whose client left that to us; no two are the same."""
    stem = normal_id(display_name)[:_LONGEST_STEM].strip("-") or "run"
    return f"{stem}-{uuid4().hex[:8]}"


def session_id_of(text: str) -> str:
    """The id of a new session: the client's as it is, for it is the folder's name too; else the time.

    Raises:
        ApiError: it can't be an id.
    """
    try:
        return check_id(text or datetime.now(UTC).strftime("%Y%m%d_%H%M%S_%f"))
    except ValueError as error:
        raise invalid_field("profiler_session_id", str(error)) from error
