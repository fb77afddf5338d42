"""Having a hub take folders in, and look for sessions."""

from __future__ import annotations

from collections.abc import Iterator

from server.client.paths import RUNS, run_path
from server.client.transport import Call, Transport
from server.schemas.discovery import ImportAnswer, NewImport, ScanAnswer

_FIRST_FOLDERS = 4
"""In the first page, so that whoever waits soon sees whether it is the right folder."""
_FOLDERS = 100
_SECONDS = 300.0
"""How long a page may take: a hundred listings of a slow bucket."""


class Discovery:
    """Asks a hub to look; every method raises `HubError`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def import_pages(
        self, location: str, *, is_dry: bool = False, after: str = ""
    ) -> Iterator[ImportAnswer]:
        """Takes in the runs in a folder, page by page, each when it is asked for.

        Args:
            location: a folder of runs' folders, or one run's own.
            is_dry: whether to be told only what would be taken in.
            after: `next_page_token` of a page, to go on behind it.
        """
        size, path = _FIRST_FOLDERS, f"{RUNS}:import"
        while True:
            body = NewImport(
                storage_uri=location, page_token=after, page_size=size, validate_only=is_dry
            )
            call = Call("POST", path, body=body, is_repeatable=True, seconds=_SECONDS)
            page = self._transport.send(call, ImportAnswer)
            yield page
            if not page.next_page_token:
                return
            size, after = _FOLDERS, page.next_page_token

    def scan(self, run: str) -> ScanAnswer:
        """Looks for new sessions in a run's folder now.

        Raises:
            NotFoundError: there is no such run.
        """
        call = Call("POST", f"{run_path(run)}:scan", is_repeatable=True)
        return self._transport.send(call, ScanAnswer)
