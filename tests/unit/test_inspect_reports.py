"""What the profiler itself says of a capture is repeated as a sentence that can be shown anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from loader.errors import LoaderError
from loader.intake.inspect import inspect_profile
from tests.wire_bytes import block, plane

ERROR = 2
"""XSpace.errors"""


def test_control_characters_of_a_report_are_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(block(ERROR, "device\x1b[31m lost\0\n\x08!"))
    with pytest.raises(LoaderError) as caught:
        inspect_profile(path)
    assert "The profiler reported: device [31m lost   !" in caught.value.message


def test_nor_in_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(block(ERROR, "lost\x07") + plane("/host:CPU"))
    assert "The profiler reported: lost " in inspect_profile(path).warnings
