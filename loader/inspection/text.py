"""Texts of a profile that protobuf would refuse, and what is put in their place.

XProf 2.24.2 refuses a whole file, with no better reason than “can't parse”, when one string in it is not
valid UTF-8 (measured): a name made of arbitrary bytes is enough. So such bytes become question marks. NUL
bytes in names, which end a name early wherever C reads it, become question marks too. Used by the inspection
only.
"""

from __future__ import annotations

import codecs
import re
from mmap import mmap

from loader.inspection.limits import InspectionLimits
from loader.inspection.refusals import too_large, unreadable
from loader.inspection.repair import Repair

_PIECE = 1 << 20
_STRAY_BYTES = re.compile("[\udc80-\udcff]")
"""What bytes that are no UTF-8 become in Python's `surrogateescape`, one for one."""


class Texts:
    """Looks at the texts of one file and notes what must be repaired.

    Attributes:
        repairs: the patches so far.
        unreadable: texts that held bytes which are no UTF-8.
        with_nul: names that held NUL bytes.
        longest_name: bytes of the longest name of a plane, a line or an event.
    """

    def __init__(self, data: bytes | mmap, limits: InspectionLimits) -> None:
        self.repairs: list[Repair] = []
        self.unreadable = 0
        self.with_nul = 0
        self.longest_name = 0
        self._data = data
        self._limits = limits
        self._left = limits.repair_bytes

    @property
    def remarkable(self) -> int:
        """A number that grows with every text that isn't as it should be."""
        return len(self.repairs) + self.unreadable + self.with_nul

    def name(self, first: int, last: int) -> None:
        """Checks the name of a plane, a line or an event, of which XProf builds its search index.

        Raises:
            LoaderError: TOO_LARGE when it is too long, and as `check`.
        """
        self.measure(last - first)
        self.check(first, last, is_name=True)

    def measure(self, length: int) -> None:
        """Takes in how long a name is that needs no check.

        Raises:
            LoaderError: TOO_LARGE when it is too long.
        """
        if length > self._limits.name_bytes:
            raise too_large(
                f"a name in it has {length:,} bytes, and the limit is {self._limits.name_bytes:,}",
                "XPROF_HUB_LONGEST_NAME_BYTES",
            )
        self.longest_name = max(self.longest_name, length)

    def check(self, first: int, last: int, *, is_name: bool = False) -> None:
        """Notes a repair of the text in `data[first:last]` if it needs one.

        Raises:
            LoaderError: MALFORMED when it can't be repaired, or too many were.
        """
        if last - first > _PIECE:
            self._check_long(first, last)
            return
        raw = self._data[first:last]
        if raw.isascii() and not (is_name and b"\0" in raw):
            return
        fixed = self.readable(raw)
        if is_name and b"\0" in fixed:
            self.with_nul += 1
            fixed = fixed.replace(b"\0", b"?")
        self.replace(first, raw, fixed)

    def readable(self, raw: bytes) -> bytes:
        """The text with a question mark for each byte that is no UTF-8; counts the text when there is one."""
        text = raw.decode(errors="surrogateescape")
        text, strays = _STRAY_BYTES.subn("?", text)
        self.unreadable += strays > 0
        return text.encode()

    def replace(self, offset: int, raw: bytes, fixed: bytes) -> None:
        """Notes a repair of what stands at the offset, unless it is right already.

        Raises:
            LoaderError: MALFORMED when it is one too many.
        """
        if fixed == raw:
            return
        self._left -= len(fixed)
        if len(self.repairs) >= self._limits.repairs or self._left < 0:
            raise unreadable(
                f"more than {len(self.repairs):,} texts in it are not readable (UTF-8)"
            )
        self.repairs.append(Repair(offset, fixed))

    def _check_long(self, first: int, last: int) -> None:
        """Reads a long text piece by piece; there is no name that long, and it is not repaired."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            for start in range(first, last, _PIECE):
                end = min(start + _PIECE, last)
                decoder.decode(self._data[start:end], final=end == last)
        except UnicodeDecodeError as problem:
            raise unreadable(
                f"a text of {last - first:,} bytes in it is not readable (UTF-8)"
            ) from problem
