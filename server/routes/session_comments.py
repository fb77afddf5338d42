"""Comments on pages: read, say, change and delete them. The API is `server.routes.comments`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request, Response
from pydantic import TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool

from auth.policy import Action
from server.audit.notes import note_audited
from server.callers.signed_in import NotAllowedError, NothingThereError, Person
from server.comment_schemas import LONGEST_COMMENT, CommentText
from server.comments.rules import is_author, require_author, require_deleter
from server.http.aip import PageToken
from server.http.redirects import lead_to
from server.names import comment_name, session_name
from server.registry.comments import (
    Comment,
    NewComment,
    change_comment,
    create_comment,
    delete_comment,
    get_comment,
)
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.records import ProfilerSession
from server.routes.session_pages import SESSION_PATH
from server.services import Services, ServicesDependency
from server.session_pages.addresses import SessionAddresses, addresses_of
from server.session_pages.commenting import page_of_comments
from server.session_pages.comments import CommentForm, comment_form, view_in_words
from server.session_pages.finding import require_session
from server.site.forms import read_form
from server.site.routes import page_response, page_router, person_who
from server.xprof.views import NewView, View, query_of, read_state, stored_view

router = page_router()

COMMENTS_PATH = SESSION_PATH + "/comments"
COMMENT_PATH = COMMENTS_PATH + "/{comment}"
NEW_COMMENT_PATH = SESSION_PATH + "/comment"

Reader = Annotated[Person, Depends(person_who(Action.COMMENTS_READ))]
Writer = Annotated[Person, Depends(person_who(Action.COMMENTS_WRITE))]
_TEXT: TypeAdapter[str] = TypeAdapter(CommentText)
_PROBLEM = f"Write at most {LONGEST_COMMENT} characters of plain text, and not nothing."


@router.get(COMMENTS_PATH)
def show_comments(
    services: ServicesDependency, person: Reader, run: str, session: str, page_token: PageToken = ""
) -> Response:
    """All that was said of a session, newest first."""
    record = require_session(services, run, session)
    part = page_of_comments(services, person.principal, record, page_token)
    return page_response(
        services,
        person,
        "comments.html",
        at=addresses_of(services, run, session),
        run=run,
        title=record.display_name or record.id,
        comments=part,
    )


@router.get(NEW_COMMENT_PATH)
def write_comment(
    request: Request, services: ServicesDependency, person: Writer, run: str, session: str
) -> Response:
    """A form for a comment about the view that the query names, as XProf's address does."""
    record = require_session(services, run, session)
    addresses = addresses_of(services, run, session)
    form = comment_form(addresses, _view_of(request.url.query))
    return _form_page(services, person, record, form, "New comment", "Comment")


@router.post(COMMENTS_PATH)
async def say(
    request: Request, services: ServicesDependency, person: Writer, run: str, session: str
) -> Response:
    """Takes in what was written."""
    fields = await read_form(request)
    return await run_in_threadpool(_say, request, services, person, run, session, fields)


@router.get(COMMENT_PATH)
def edit_comment(
    services: ServicesDependency, person: Writer, run: str, session: str, comment: str
) -> Response:
    """A form with the comment's text, for its author."""
    record = require_session(services, run, session)
    found = _find(services, record, comment)
    if not is_author(person.principal, found):
        raise NotAllowedError
    form = _form_of(services, record, found, found.text)
    return _form_page(services, person, record, form, "Change a comment", "Save")


@router.post(COMMENT_PATH)
async def save_comment(
    request: Request,
    services: ServicesDependency,
    person: Writer,
    run: str,
    session: str,
    comment: str,
) -> Response:
    """Takes in the changed text."""
    fields = await read_form(request)
    return await run_in_threadpool(_save, request, services, person, run, session, comment, fields)


@router.post(COMMENT_PATH + "/delete")
def remove_comment(
    request: Request,
    services: ServicesDependency,
    person: Writer,
    run: str,
    session: str,
    comment: str,
) -> Response:
    """Deletes a comment for good."""
    record = require_session(services, run, session)
    found = _find(services, record, comment)
    require_deleter(person.principal, found, session_name(run, session))
    delete_comment(services.database, run, session, comment, etag=None)
    note_audited(request, comment_name(run, session, comment), author=found.author)
    return _back(addresses_of(services, run, session))


def _say(
    request: Request,
    services: Services,
    person: Person,
    run: str,
    session: str,
    fields: dict[str, str],
) -> Response:
    record = require_session(services, run, session)
    addresses = addresses_of(services, run, session)
    view, text = _view_of(fields.get("view", "")), fields.get("text", "")
    principal = person.principal
    try:
        said = NewComment(
            principal.id, principal.name, _TEXT.validate_python(text), view.to_stored()
        )
        made = create_comment(services.database, run, session, said, now=datetime.now(UTC))
    except (ValidationError, RegistryError) as error:
        problem = _in_words(error)
        form = comment_form(addresses, view, text[:LONGEST_COMMENT], problem)
        return _form_page(services, person, record, form, "New comment", "Comment", 400)
    note_audited(request, comment_name(run, session, made.id), verb="create")
    return _back(addresses, made.id)


def _save(
    request: Request,
    services: Services,
    person: Person,
    run: str,
    session: str,
    comment: str,
    fields: dict[str, str],
) -> Response:
    record = require_session(services, run, session)
    found = _find(services, record, comment)
    require_author(person.principal, found)
    text = fields.get("text", "")
    try:
        change_comment(
            services.database,
            run,
            session,
            comment,
            _TEXT.validate_python(text),
            etag=None,
            now=datetime.now(UTC),
        )
    except (ValidationError, RegistryError) as error:
        form = _form_of(services, record, found, text[:LONGEST_COMMENT], _in_words(error))
        return _form_page(services, person, record, form, "Change a comment", "Save", 400)
    note_audited(request, comment_name(run, session, comment))
    return _back(addresses_of(services, run, session), comment)


def _find(services: Services, record: ProfilerSession, comment: str) -> Comment:
    """The comment of this id.

    Raises:
        NothingThereError: there is none.
    """
    try:
        return get_comment(services.database, record.run, record.id, comment)
    except RegistryError as error:
        if error.problem is not RegistryProblem.NOT_FOUND:
            raise
        raise NothingThereError from error


def _form_of(
    services: Services, record: ProfilerSession, found: Comment, text: str, problem: str = ""
) -> CommentForm:
    addresses, view = addresses_of(services, record.run, record.id), stored_view(found.view)
    return CommentForm(
        action=addresses.comment(found.id),
        text=text,
        query=query_of(view),
        view=view_in_words(view),
        view_href=addresses.view(view),
        problem=problem,
    )


def _form_page(
    services: Services,
    person: Person,
    record: ProfilerSession,
    form: CommentForm,
    heading: str,
    button: str,
    status: int = 200,
) -> Response:
    return page_response(
        services,
        person,
        "comment_form.html",
        status,
        at=addresses_of(services, record.run, record.id),
        run=record.run,
        title=record.display_name or record.id,
        form=form,
        heading=heading,
        button=button,
    )


def _view_of(query: str) -> View:
    """The view that XProf's query shows; an empty one when it shows nothing that can be named."""
    try:
        return read_state(query)
    except ValueError:
        return NewView()


def _in_words(error: ValidationError | RegistryError) -> str:
    return error.message if isinstance(error, RegistryError) else _PROBLEM


def _back(addresses: SessionAddresses, comment: str = "") -> Response:
    """To the session's page, at a comment."""
    mark = f"comment-{comment}" if comment else "comments"
    return lead_to(f"{addresses.page}#{mark}", 303)
