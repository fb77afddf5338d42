"""Taking folders in, and looking for sessions, as JSON."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from server.schemas.base import ApiModel

MOST_FOLDERS = 500
"""Most folders of one page of an import; each is a listing."""


class NewImport(ApiModel):
    """Which folders to take in, and from where on."""

    storage_uri: Annotated[str, StringConstraints(min_length=1, max_length=2000)]
    """A folder whose folders are runs' folders, or one run's own folder: `gs://` or an absolute path."""
    page_token: Annotated[str, StringConstraints(max_length=4000)] = ""
    """From the answer before; empty to begin."""
    page_size: Annotated[int, Field(ge=0, le=MOST_FOLDERS)] = 0
    """Entries of the folder that are looked into; 0 for 100."""
    validate_only: bool = False
    """Whether to say what would be taken in, and change nothing."""


class ImportedRun(ApiModel):
    """A folder with sessions."""

    storage_folder_uri: str
    run: str
    """Resource name of its run; with `validateOnly` of the one that it would get."""
    outcome: Literal["NEW", "KNOWN"]
    """Whether the folder was a run before."""
    sessions: int
    new_sessions: int
    """How many of them were not registered before."""


class ImportAnswer(ApiModel):
    """What became of one page of folders."""

    runs: tuple[ImportedRun, ...]
    looked_into: int
    """How many folders were looked into; those without sessions are not listed."""
    next_page_token: str = ""
    """Empty when this was the last page."""


class ScanAnswer(ApiModel):
    """What one look at a run's folder found."""

    new_sessions: int
    """Sessions that were not registered before."""
    open_sessions: int
    """Sessions whose hosts may still come; they are looked at next."""
