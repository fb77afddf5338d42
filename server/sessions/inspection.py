"""What the inspection says of a session's files, asked like any tool: a worker looks, the answer is kept."""

from __future__ import annotations

import logging

from pydantic import TypeAdapter

from loader.catalog import SessionFiles
from loader.errors import LoaderError
from loader.keys import ToolRequest
from loader.tools import HEALTH
from server.sessions.schemas import HostHealth
from server.xprof.tool_answers import ToolAnswers

_ROWS = TypeAdapter(dict[str, list[HostHealth]])
logger = logging.getLogger(__name__)


async def inspect_session(answers: ToolAnswers, files: SessionFiles) -> list[HostHealth]:
    """What the inspection says of each host's file; takes as long as reading the files, once.

    Raises:
        LoaderError: the files can't be read, or no worker answers.
    """
    found = await answers.read_json(files, ToolRequest(files.locations, HEALTH))
    return _ROWS.validate_python(found)["hosts"]


async def recall_inspection(answers: ToolAnswers, files: SessionFiles) -> list[HostHealth]:
    """The same if somebody asked before, for these versions of the files; otherwise nothing, at once."""
    request = ToolRequest(files.locations, HEALTH)
    if not await answers.is_kept(files, request):
        return []
    try:
        return await inspect_session(answers, files)
    except (
        LoaderError
    ) as error:  # it went out of the cache in this moment; nobody asked to look now
        logger.info("an inspection can't be recalled: %s", error.message)
        return []
