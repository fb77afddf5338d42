"""The sentences with which the inspection, or the engine after it, refuses a profile.

One place, so that equal problems are said in equal words. The file's name is added by
`loader.intake.inspect`.
"""

from __future__ import annotations

from loader.errors import ErrorCode, LoaderError

REPORTED = "The profiler reported: "
"""What stands before the profiler's own words."""

_AGAIN = "Upload it again, or capture again if the original is damaged too."


class CutOffError(LoaderError):
    """The file is empty or ends before its content does: damaged, or not wholly uploaded yet."""


def unreadable(reason: str, *reports: str) -> LoaderError:
    """The error for a file that is no profile, or a damaged one, with what the profiler itself reported."""
    return LoaderError(ErrorCode.MALFORMED, _not_readable(reason, *reports))


def one_unreadable(reason: str) -> LoaderError:
    """The error for one of several files, when it is not known which."""
    return LoaderError(
        ErrorCode.MALFORMED,
        f"One of the chosen hosts' files is not a readable XProf profile ({reason}). Choose one host at a "
        "time to find it, then upload its file again, or capture again if the original is damaged too.",
    )


def without_reports(message: str) -> str:
    """A sentence of this module without the words of the profiler, which stand at its end."""
    return message.partition(f" {REPORTED}")[0]


def cut_off(reason: str) -> CutOffError:
    """The error for a file that ends too early."""
    return CutOffError(ErrorCode.MALFORMED, _not_readable(reason))


def still_uploading(error: CutOffError) -> LoaderError:
    """The error for a file that ends too early and was written to a moment ago."""
    message = (
        f"{error.message.removesuffix(_AGAIN)}It was written within the last minute, so an upload may be "
        "under way: this page tries again. If it stays like this, upload the file again."
    )
    return LoaderError(ErrorCode.INCOMPLETE, message)


def another_protobuf() -> LoaderError:
    """The error for protobuf messages that are not a profile's."""
    return LoaderError(
        ErrorCode.MALFORMED,
        "This file is not a readable XProf profile (it is another kind of protobuf, or damaged). Upload the "
        "file that the profiler wrote, whose name ends in .xplane.pb.",
    )


def unsafe_module() -> LoaderError:
    """The error for an HLO module whose name would lead XProf to another file."""
    return LoaderError(
        ErrorCode.MALFORMED,
        "This profile can't be converted: it has an unsafe HLO module name, which would make XProf write "
        "outside of its folder. Rename the jitted function and capture again; if you did not make this "
        "profile yourself, do not trust it.",
    )


def too_large(reason: str, setting: str | None = None) -> LoaderError:
    """The error for a profile that exceeds a limit.

    Args:
        reason: what is too much, with count and limit.
        setting: the setting that allows more, when raising it makes sense.
    """
    advice = "Capture fewer steps, or a smaller part of the program."
    if setting is not None:
        advice = f"{advice} Whoever runs this service can allow more with {setting}."
    return LoaderError(ErrorCode.TOO_LARGE, f"This profile exceeds a limit: {reason}. {advice}")


def too_long(size: int, most_bytes: int) -> LoaderError:
    """The error for a file of more bytes than protobuf reads."""
    return too_large(
        f"it has {size / (1 << 30):.1f} GiB, and XProf reads at most {most_bytes / (1 << 30):.1f} GiB"
    )


def _not_readable(reason: str, *reports: str) -> str:
    sentence = f"This file is not a readable XProf profile ({reason}). {_AGAIN}"
    return " ".join((sentence, *reports))
