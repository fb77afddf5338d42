"""A request with everything that was looked up for it: what the front end and the worker go by.

Reads nothing and runs no engine.
"""

from __future__ import annotations

from dataclasses import dataclass

from loader.catalog import HostFile, SessionFiles
from loader.engine.produced import MODULE_SUFFIX
from loader.errors import ErrorCode, LoaderError
from loader.keys import ToolRequest, artifact_key, result_key
from loader.tools import MODULE_LIST, OWN_TOOLS, RUN_TOOLS, ArtifactKind, Tool, tool_named

_OWN_MODULE_TOOLS = frozenset({RUN_TOOLS, MODULE_LIST})


@dataclass(frozen=True)
class LeftOut:
    """A host that is not even looked at, and why."""

    entry: HostFile
    problem: LoaderError


@dataclass(frozen=True)
class Plan:
    """A request with everything that was looked up for it.

    Attributes:
        request: what was asked.
        tool: its row in the table.
        files: the chosen hosts' files, sorted by host, but for those that are left out.
        key: of the answer.
        artifact_key: of the artifact set that the tool shares, or None.
        are_chosen: whether these are some of the session's hosts only, so that none may be left out.
        is_last: whether no worker with more memory is asked after this one.
        left_out: hosts that are too large whatever is in their files.
        is_for_now: whether a worker with more memory would leave out fewer.
    """

    request: ToolRequest
    tool: Tool
    files: tuple[HostFile, ...]
    key: str
    artifact_key: str | None
    are_chosen: bool
    is_last: bool = False
    left_out: tuple[LeftOut, ...] = ()
    is_for_now: bool = False

    @property
    def needs_modules(self) -> bool:
        """Whether the tool shows one of the session's HLO modules."""
        is_own = self.request.tool in _OWN_MODULE_TOOLS
        return self.tool.artifact is ArtifactKind.MODULES and not is_own

    @property
    def reads_events(self) -> bool:
        """Whether the engine needs more of a profile than metadata: not for modules, nor to list tools."""
        return self.tool.artifact is not ArtifactKind.MODULES

    @property
    def may_leave_out(self) -> bool:
        """Whether a host with too much for all memory may be: nobody chose it, and no worker has more."""
        return self.is_last and not self.are_chosen

    @property
    def set_key(self) -> str | None:
        """Key of the artifact set that is enough for the answer, where there is one."""
        return None if self.tool.name == RUN_TOOLS else self.artifact_key

    @property
    def module(self) -> str | None:
        """Name of the HLO module that was asked for."""
        name = self.request.options.get("module_name")
        return str(name) if name and self.needs_modules else None

    @property
    def heaviest(self) -> str:
        """The engine run that needs most memory: the tool's own, or the extraction of its modules."""
        return MODULE_LIST if self.needs_modules else self.request.tool

    def wants(self, name: str) -> bool:
        """Whether the tool needs this file of its artifact set: of the modules, only the one it shows."""
        return self.module is None or name == f"{self.module}{MODULE_SUFFIX}"

    @property
    def profile_sizes(self) -> tuple[int, ...]:
        """Bytes of each host's file."""
        return tuple(entry.file.size for entry in self.files)


def plan_for(session: SessionFiles, engine_version: str, request: ToolRequest) -> Plan:
    """Gives a request on a session, as it was just listed, its files and keys.

    Raises:
        LoaderError: NOT_FOUND for a tool or host that is not there.
    """
    tool = OWN_TOOLS.get(request.tool) or tool_named(request.tool)
    if request.hosts is None:
        files = session.hosts
    else:
        files = session.select(request.hosts)
        missing = set(request.hosts) - {entry.host for entry in files}
        if missing:
            raise LoaderError(
                ErrorCode.NOT_FOUND, f"This session has no host called “{sorted(missing)[0]}”."
            )
    shared = (
        artifact_key(engine_version, request.locations, tool.artifact, files, request.redaction)
        if tool.artifact
        else None
    )
    # All of them have the same key as none named, and so must have the same answer: without damaged hosts.
    are_chosen = len(files) < len(session.hosts)
    key = result_key(engine_version, request, files)
    return Plan(request, tool, files, key, shared, are_chosen)
