"""A typed client of the JSON API, used by the commands; knows HTTP and the resources, prints nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Self, TypeVar
from urllib.parse import quote, urlsplit

import httpx2
from pydantic import ValidationError

from auth.identity import Role
from auth.tokens import redact
from server.link_schemas import CreatedLink, NewLink, ShareLink, ShareLinkList
from server.schemas import (
    ApiModel,
    ApiToken,
    ApiTokenList,
    CreatedToken,
    EmptyAnswer,
    ErrorResponse,
    NewToken,
    Run,
    RunList,
    Session,
    SessionList,
)
from server.session_schemas import MergeOffer, MergeOfferList, NewMerge
from server.settings import LOOPBACK

DEFAULT_URL = "http://127.0.0.1:8080"
"""Where `xprof-hub serve` listens unless told otherwise."""
TIMEOUT_SECONDS = 60.0
_PAGE = 500

Answer = TypeVar("Answer", bound=ApiModel)


class HubError(Exception):
    """A request that failed; the message is one sentence for a person.

    Attributes:
        status: HTTP status, or None when there was no answer.
        hints: further lines, such as the sessions to choose from.
    """

    def __init__(
        self, message: str, status: int | None = None, hints: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        self.status = status
        self.hints = hints


class HubClient:
    """Talks to one XProf Hub. Use it as a context manager, or call `close`.

    Every method raises `HubError`. Ids are plain text; they are percent-encoded here.
    """

    def __init__(self, url: str = DEFAULT_URL, token: str = "") -> None:
        """Opens no connection yet.

        Args:
            url: the hub's address, with its path prefix if it has one.
            token: API token, empty for a hub with `XPROF_HUB_AUTH=dev`.
        """
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._url = url.rstrip("/")
        # A proxy in the environment knows nothing of this machine's own addresses.
        self._http = httpx2.Client(
            headers=headers, timeout=TIMEOUT_SECONDS, trust_env=not _is_loopback(url)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def create_run(self, run: Run, run_id: str = "") -> Run:
        """Makes a run; the hub makes up an id unless one is given."""
        parameters = {"machineLearningRunId": run_id} if run_id else {}
        return self._send("POST", "/machineLearningRuns", Run, parameters, run)

    def get_run(self, run: str) -> Run:
        """One run."""
        return self._send("GET", _run(run), Run)

    def list_runs(self, condition: str = "") -> Iterator[Run]:
        """All runs, newest first, page by page; `condition` is a `filter` of the API."""
        parameters = {"filter": condition} if condition else {}
        for page in self._pages("/machineLearningRuns", RunList, parameters):
            yield from page.machine_learning_runs

    def delete_run(self, run: str) -> None:
        """Deletes a run with its sessions and links."""
        self._send("DELETE", _run(run), EmptyAnswer)

    def attach_session(self, run: str, session: Session, session_id: str = "") -> Session:
        """Attaches a profile to a run; its folder's name is the id unless one is given."""
        parameters = {"profilerSessionId": session_id} if session_id else {}
        path = f"{_run(run)}/profilerSessions"
        return self._send("POST", path, Session, parameters, session)

    def get_session(self, run: str, session: str) -> Session:
        """One session with its hosts."""
        return self._send("GET", _session(run, session), Session)

    def list_sessions(self, run: str) -> Iterator[Session]:
        """All sessions of a run, newest first, page by page."""
        for page in self._pages(f"{_run(run)}/profilerSessions", SessionList):
            yield from page.profiler_sessions

    def delete_session(self, run: str, session: str) -> None:
        """Takes a session off its run and ends its links."""
        self._send("DELETE", _session(run, session), EmptyAnswer)

    def list_merge_offers(self, run: str) -> list[MergeOffer]:
        """Sessions of a run that are hosts of one capture."""
        path = f"{_run(run)}/profilerSessions:mergeable"
        return list(self._send("GET", path, MergeOfferList).merge_offers)

    def merge_sessions(self, run: str, merge: NewMerge) -> Session:
        """Makes one session of several that are hosts of one capture."""
        return self._send("POST", f"{_run(run)}/profilerSessions:merge", Session, {}, merge)

    def create_link(self, run: str, session: str, link: NewLink) -> CreatedLink:
        """Makes a link to a session."""
        path = f"{_session(run, session)}/shareLinks"
        return self._send("POST", path, CreatedLink, {}, link)

    def create_run_link(self, run: str, link: NewLink) -> CreatedLink:
        """Makes a link to a run with all its sessions."""
        return self._send("POST", f"{_run(run)}/shareLinks", CreatedLink, {}, link)

    def list_links(self) -> Iterator[ShareLink]:
        """All links, newest first, page by page."""
        for page in self._pages("/shareLinks", ShareLinkList):
            yield from page.share_links

    def revoke_link(self, link: str) -> ShareLink:
        """Ends a link by its id."""
        return self._send("DELETE", f"/shareLinks/{quote(link, safe='')}", ShareLink)

    def create_token(self, name: str, role: Role, ttl: str | None = None) -> CreatedToken:
        """Makes an API token."""
        body = NewToken(display_name=name, role=role, ttl=ttl)
        return self._send("POST", "/apiTokens", CreatedToken, {}, body)

    def list_tokens(self) -> Iterator[ApiToken]:
        """All API tokens, newest first, page by page."""
        for page in self._pages("/apiTokens", ApiTokenList):
            yield from page.api_tokens

    def revoke_token(self, token: str) -> ApiToken:
        """Ends an API token by its id."""
        return self._send("DELETE", f"/apiTokens/{quote(token, safe='')}", ApiToken)

    def _pages(
        self, path: str, kind: type[Answer], parameters: Mapping[str, str] | None = None
    ) -> Iterator[Answer]:
        token = ""
        while True:
            wanted = {**(parameters or {}), "pageSize": str(_PAGE)}
            if token:
                wanted["pageToken"] = token
            page = self._send("GET", path, kind, wanted)
            yield page
            token = str(getattr(page, "next_page_token", ""))
            if not token:
                return

    def _send(
        self,
        method: str,
        path: str,
        kind: type[Answer],
        parameters: Mapping[str, str] | None = None,
        body: ApiModel | None = None,
    ) -> Answer:
        content = None if body is None else body.model_dump_json(exclude_unset=True)
        headers = {} if body is None else {"Content-Type": "application/json"}
        url = f"{self._url}/v1{path}"
        try:
            response = self._http.request(
                method, url, params=parameters, content=content, headers=headers
            )
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            reason = redact(str(error)) or type(error).__name__
            raise HubError(f"XProf Hub at {redact(self._url)} does not answer: {reason}") from error
        if not response.is_success:
            raise _refusal(response)
        try:
            # A newer hub may tell more than this client knows.
            return kind.model_validate_json(response.content, extra="ignore")
        except ValidationError as error:
            raise HubError(f"What answers at {redact(self._url)} is not XProf Hub.") from error


def _run(run: str) -> str:
    return f"/machineLearningRuns/{quote(run, safe='')}"


def _session(run: str, session: str) -> str:
    return f"{_run(run)}/profilerSessions/{quote(session, safe='')}"


def _refusal(response: httpx2.Response) -> HubError:
    try:
        problem = ErrorResponse.model_validate_json(response.content, extra="ignore").error
    except ValidationError:
        return HubError(f"The address answered {response.status_code}.", response.status_code)
    hints = tuple(
        detail["description"]
        for detail in problem.details
        if detail.get("description") and detail["description"] not in problem.message
    )
    return HubError(problem.message, response.status_code, hints)


def _is_loopback(url: str) -> bool:
    try:
        return urlsplit(url).hostname in LOOPBACK
    except ValueError:  # no URL at all; the first request says so
        return False
