"""The HLO modules of a profile: their names become names of files, so each must be harmless.

XProf 2.24.2 writes `<module>(<id>).hlo_proto.pb` with the name as it stands in the profile, wherever that
leads (measured). A name that leads elsewhere on purpose is refused. Others are repaired: a slash, which
makes the list of tools fail, and a comma, which divides the list of modules, become underscores; what can't
be shown (control and direction characters) becomes question marks. Used by the inspection only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from loader.inspection.limits import InspectionLimits
from loader.inspection.refusals import too_large, unsafe_module
from loader.inspection.text import Texts
from loader.inspection.wire import Flaw, Walker, WireError, signed

HLO_STAT = b"Hlo Proto"
"""Name of the stat that carries an HloProto."""

_FOR_LISTS = re.compile("[/,]")

# XPlane, entry of a map, XEventMetadata, XStat, HloProto, HloModuleProto
_EVENT_METADATA, _VALUE, _EVENT_STAT = 0x22, 0x12, 0x2A
_STAT_ID, _STAT_BYTES = 0x08, 0x32
_HLO_MODULE, _MODULE_NAME = 0x0A, 0x0A


class Modules:
    """Looks at the HLO modules of one file.

    Attributes:
        names: of the modules, after repairs.
        found: modules, whether they have a name and can be read or not.
        renamed: names that held characters which a file or a list can't have, before and after.
        unreadable: modules that do not parse.
    """

    def __init__(self, walker: Walker, texts: Texts, limits: InspectionLimits) -> None:
        self.names: list[str] = []
        self.found = 0
        self.renamed: dict[str, str] = {}
        self.unreadable = 0
        self._walker = walker
        self._texts = texts
        self._limits = limits

    def scan(self, start: int, end: int, stats: Mapping[int, bytes]) -> None:
        """Looks at all binary stats of the metadata plane in `data[start:end]`.

        Args:
            start: first byte of the XPlane message.
            end: behind its last byte.
            stats: names of stats by their ids.

        Raises:
            LoaderError: MALFORMED or TOO_LARGE, without a file name.
            WireError: it is no message.
        """
        for stat, first, last in self._binary_stats(start, end):
            is_hlo = stats.get(stat) == HLO_STAT
            self.found += is_hlo
            try:
                name = self._name(first, last, is_hlo=is_hlo)
            except WireError as error:
                if error.flaw is Flaw.TOO_MANY:
                    raise
                # XProf 2.24.2 skips a group and uses a name behind it (measured). In a stat that it does not
                # read, a group is only what bytes that are no message look like.
                if error.flaw is Flaw.GROUP and is_hlo:
                    raise unsafe_module() from error
                self.unreadable += is_hlo
                continue
            if name is not None and is_hlo:
                self._note(name)

    def _note(self, name: str) -> None:
        self.names.append(name)
        if len(self.names) > self._limits.modules:
            raise too_large(
                f"too many HLO modules (more than the limit of {self._limits.modules:,})",
                "XPROF_HUB_MOST_MODULES",
            )

    def _binary_stats(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Id of the stat, and bounds of its value."""
        walker = self._walker
        for first, last in walker.inside(start, end, (_EVENT_METADATA, _VALUE, _EVENT_STAT)):
            stat = 0
            for tag, number, _ in walker.fields(first, last):
                if tag == _STAT_ID:
                    stat = signed(number)
            for low, high in walker.inside(first, last, (_STAT_BYTES,)):
                yield stat, low, high

    def _name(self, start: int, end: int, *, is_hlo: bool) -> str | None:
        """The name in an HloProto, if there is one; every name in it must be safe.

        Of several names protobuf takes the last, so a good one at the front proves nothing. XProf 2.24.2
        reads the stat of the right name only (measured); a stat of another name must be safe all the same.
        """
        name = None
        for first, last in self._walker.inside(start, end, (_HLO_MODULE, _MODULE_NAME)):
            raw = self._walker.data[first : min(last, first + self._limits.module_name_bytes)]
            if b"\0" in raw or b".." in raw or raw.startswith(b"/"):
                raise unsafe_module()
            if is_hlo and last - first > len(raw):
                raise too_large(
                    f"the name of an HLO module in it has {last - first:,} bytes, and the limit is {len(raw)}"
                )
            name = self._repaired(first, raw) if is_hlo else ""
        return name

    def _repaired(self, first: int, raw: bytes) -> str:
        """The name as it can be a file's."""
        readable = self._texts.readable(raw).decode()
        fixed = _FOR_LISTS.sub("_", readable)
        fixed = "".join(char if char.isprintable() else "?" * len(char.encode()) for char in fixed)
        self._texts.replace(first, raw, fixed.encode())
        if fixed != readable:
            self.renamed[readable] = fixed
        return fixed
