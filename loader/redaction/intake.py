"""Takes profiles in for redacted answers: the engine gets the copy with pseudonyms, never the profile.

The inspection looks at both. What it says of the profile itself goes no further than this module, but for
the reason why it can't be used, which tells numbers and no texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from loader.catalog import host_of
from loader.disk import disk_errors
from loader.errors import LoaderError
from loader.inspection.limits import DEFAULT_LIMITS, InspectionLimits
from loader.inspection.refusals import without_reports
from loader.inspection.result import Inspection
from loader.intake.profiles import Intake
from loader.intake.workspace import Workspace
from loader.redaction.profile import redact_profile
from loader.redaction.pseudonyms import Pseudonyms
from loader.storage.base import StoredFile

_ORIGINAL, _REDACTED = ".original", ".redacted"


class RedactedIntake:
    """An `Intake` (loader.intake.profiles) that redacts. Thread-safe."""

    def __init__(
        self,
        intake: Intake,
        pseudonyms: Pseudonyms,
        workspace: Workspace,
        limits: InspectionLimits = DEFAULT_LIMITS,
    ) -> None:
        """Takes what it works with.

        Args:
            intake: makes files usable, the profile as well as its copy.
            pseudonyms: replaces texts.
            workspace: holds the profile in a place that no child sees.
            limits: what a profile may hold.
        """
        self._intake = intake
        self._pseudonyms = pseudonyms
        self._workspace = workspace
        self._limits = limits

    @property
    def mark(self) -> str:
        """Names the key of its pseudonyms."""
        return self._pseudonyms.mark

    def __call__(self, path: Path, file: StoredFile, target: Path) -> Inspection:
        """As `loader.intake.door.take_in`; the inspection is that of the copy.

        Raises:
            LoaderError: as `take_in`, with nothing of the profile's own texts.
        """
        with self._workspace.job_directory() as private:
            original, redacted = private / _ORIGINAL, private / _REDACTED
            with _silent():
                found = self._intake(path, file, original)
            self._workspace.hold(target.parent, found.size)
            with disk_errors(file.name), _named(file):
                host = host_of(file.name) or ""
                redact_profile(original, redacted, host, self._pseudonyms, self._limits)
                redacted.chmod(0o444)
            copied = self._intake(redacted, file, target)
        return replace(copied, is_plain=found.is_plain and copied.is_plain)


@contextmanager
def _silent() -> Iterator[None]:
    """Takes out of errors what the profiler itself reported: any text may stand there."""
    try:
        yield
    except LoaderError as error:
        message = without_reports(error.message)
        if message == error.message:
            raise
        raise type(error)(error.code, message, error.file) from None


@contextmanager
def _named(file: StoredFile) -> Iterator[None]:
    try:
        yield
    except LoaderError as error:
        raise LoaderError(error.code, error.message, file.name) from error
