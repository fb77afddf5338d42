"""Whatever a file holds: its redacted copy, or the reason why there is none, has none of its texts."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from loader.errors import LoaderError
from loader.inspection.limits import InspectionLimits
from loader.intake.remembered import RememberedIntake
from loader.intake.scratch import Scratch
from loader.redaction.intake import RedactedIntake
from loader.redaction.pseudonyms import Pseudonyms
from loader.redaction.vocabulary import TEXTS, WORDS
from loader.storage.base import StoredFile
from tests.scratch_parts import CountingStorage
from tests.services.engine import CORPUS
from tests.wire_bytes import block, event_metadata, good_profile, line, plane

FILES = sorted(path for path in CORPUS.glob("*.xplane.pb") if path.stat().st_size)
NAME = "host-0.xplane.pb"
SEED = 60_35
_WORD = re.compile(rb"[A-Za-z_]{5,}")
_KEPT = {
    part.lower()
    for text in (*TEXTS, *WORDS, "/host:metadata", "Task Environment", "device:XPLANE")
    for part in re.findall(r"[A-Za-z_]+", text)
}
SECRET = plane("/device:TPU:0", line("Hush", block(4, b"\x08\x01")) + event_metadata(1, "%Hush.1"))
PROFILE = good_profile().replace(b"jit_step", b"jit_Hush") + SECRET


class Door:
    """Takes files in, redacted."""

    def __init__(self, folder: Path) -> None:
        limits = InspectionLimits(fields=2_000_000)
        self._scratch = Scratch(folder / "scratch", 1 << 30, CountingStorage())
        self._take_in = RedactedIntake(
            RememberedIntake(limits), Pseudonyms("secret"), self._scratch, limits
        )
        self._source = folder / "source"

    def answer(self, data: bytes) -> bytes:
        """The copy and all that is said of it, or the error."""
        self._source.write_bytes(data)
        file = StoredFile(f"/sessions/{NAME}", NAME, len(data), "1", 1_700_000_000.0)
        with self._scratch.job_directory() as job:
            try:
                found = self._take_in(self._source, file, job / NAME)
            except LoaderError as error:
                assert not list(job.iterdir())
                return error.message.encode()
            assert [path.name for path in job.iterdir()] == [NAME]
            return (job / NAME).read_bytes() + repr(found).encode()


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.removesuffix(".xplane.pb"))
def test_the_corpus(door: Door, path: Path) -> None:
    data = path.read_bytes()
    answer = door.answer(data).lower()
    words = {word.lower() for word in _WORD.findall(data)}
    said = set(re.findall(rb"[a-z_]{5,}", answer))
    leaked = {word for word in words & said if word.decode() not in _KEPT}
    ours = set(re.findall(rb"[a-z_]{5,}", door.answer(good_profile()).lower()))
    assert leaked <= ours | _SENTENCES, leaked


_SENTENCES = {b"profile", b"xprof", b"plane", b"planes", b"device", b"could", b"there"}
"""Words of our own messages that a file may hold too."""


def test_random_mutations_never_show_a_text(door: Door) -> None:
    chance = random.Random(SEED)
    copies = 0
    for _ in range(1000):
        data = bytearray(PROFILE)
        for _ in range(chance.randint(1, 5)):
            start = chance.randrange(len(data))
            data[start : start + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 3))
        answer = door.answer(bytes(data))
        copies += b"Inspection(" in answer
        assert b"hush" not in answer.lower()
    assert copies > 25
