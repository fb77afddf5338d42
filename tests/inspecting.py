"""Inspecting profiles whose every byte a test has written itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from loader.errors import LoaderError
from loader.inspection.limits import InspectionLimits
from loader.inspection.result import Inspection
from loader.intake.inspect import inspect_profile


def inspect(tmp_path: Path, data: bytes, limits: InspectionLimits | None = None) -> Inspection:
    """What the inspection says."""
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(data)
    return inspect_profile(path, limits=limits or InspectionLimits())


def refusal(tmp_path: Path, data: bytes, limits: InspectionLimits | None = None) -> LoaderError:
    """Why it refuses."""
    with pytest.raises(LoaderError) as caught:
        inspect(tmp_path, data, limits)
    return caught.value


def repaired(data: bytes, inspection: Inspection) -> bytes:
    """The profile with the repairs that the inspection asks for."""
    fixed = bytearray(data)
    for repair in inspection.repairs:
        end = repair.offset + len(repair.data)
        assert end <= len(fixed)
        fixed[repair.offset : end] = repair.data
    return bytes(fixed)
