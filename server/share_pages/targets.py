"""The session or run that is shared, as the pages name it."""

from __future__ import annotations

from dataclasses import dataclass

from auth.links import LinkTarget, RunTarget, SessionTarget
from server.callers.session_passes import run_prefix, session_prefix
from server.callers.signed_in import NothingThereError
from server.names import is_id
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.runs import get_run
from server.registry.sessions import get_session
from server.services import Services
from server.site.paths import run_page, session_page


@dataclass(frozen=True)
class ShareTarget:
    """What links are made to.

    Attributes:
        link_target: the same for `auth.links`.
        title: name for people.
        page: path of the page about it, with the hub's prefix.
        crumbs: the way to it, as labels and paths.
    """

    link_target: LinkTarget
    title: str
    page: str
    crumbs: tuple[tuple[str, str], ...]

    @property
    def is_run(self) -> bool:
        """Whether it is a run with all its sessions."""
        return isinstance(self.link_target, RunTarget)

    @property
    def path(self) -> str:
        """Path of the page that shares it."""
        return f"{self.page}/share"


def find_target(services: Services, run: str, session: str | None) -> ShareTarget:
    """What these ids name; asks the database.

    Raises:
        NothingThereError: nothing.
    """
    if not is_id(run) or (session is not None and not is_id(session)):
        raise NothingThereError
    try:
        return _find(services, run, session)
    except RegistryError as error:
        if error.problem is not RegistryProblem.NOT_FOUND:
            raise
        raise NothingThereError from error


def target_text(target: LinkTarget) -> str:
    """`run/session`, or `run` for all sessions of a run."""
    return target.run if isinstance(target, RunTarget) else f"{target.run}/{target.session}"


def target_path(target: LinkTarget) -> str:
    """Path of the page about it, below the hub's prefix."""
    if isinstance(target, RunTarget):
        return run_page("", target.run)
    return session_page("", target.run, target.session)


def _find(services: Services, run: str, session: str | None) -> ShareTarget:
    record = get_run(services.database, run)
    run_title, page_of_run = record.display_name or run, run_prefix(services, run)
    way = (("Runs", f"{services.settings.path_prefix}/runs"), (run_title, page_of_run))
    if session is None:
        return ShareTarget(RunTarget(run, record.uid), run_title, page_of_run, way)
    found = get_session(services.database, run, session)
    title, page = found.display_name or session, session_prefix(services, run, session)
    target = SessionTarget(run, session, found.uid)
    return ShareTarget(target, title, page, (*way, (title, page)))
