"""Which links the page of all links shows, read from its address and written into it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from auth.sharing_rules import SharingRules
from server.registry.link_lists import LinkSearch

WHOSE = (("", "Everybody's"), ("mine", "Mine"))
STATES = (("", "Active"), ("ended", "Ended"), ("all", "All"))
_ACTIVE: Mapping[str, bool | None] = {"": True, "ended": False, "all": None}
_MOST = 200


@dataclass(frozen=True)
class LinksQuery:
    """What somebody looks for.

    Attributes:
        whose: a value of `WHOSE`.
        state: a value of `STATES`.
        text: part of the id of a run or session, or of a note.
    """

    whose: str = ""
    state: str = ""
    text: str = ""

    @property
    def address(self) -> str:
        """As the query of an address, without question mark."""
        pairs = {"whose": self.whose, "state": self.state, "q": self.text}
        return urlencode({name: value for name, value in pairs.items() if value})

    @property
    def is_narrow(self) -> bool:
        """Whether there may be links that it leaves out though they work."""
        return bool(self.whose or self.text)

    def search(self, name: str, rules: SharingRules, now: datetime) -> LinkSearch:
        """The same for the registry.

        Args:
            name: of who looks.
            rules: what is allowed now.
            now: UTC.
        """
        longest = rules.longest_days
        return LinkSearch(
            now=now,
            creator=name if self.whose == "mine" else "",
            is_active=_ACTIVE[self.state],
            text=self.text,
            longest=None if longest is None else timedelta(days=longest),
        )


def read_query(parameters: Mapping[str, str]) -> LinksQuery:
    """What the address asks for; what it says that is unknown is passed over."""
    whose, state = parameters.get("whose", ""), parameters.get("state", "")
    return LinksQuery(
        whose=whose if whose in dict(WHOSE) else "",
        state=state if state in _ACTIVE else "",
        text=parameters.get("q", "").strip()[:_MOST],
    )
