"""`xprof-hub comments`: read what people say about a session, and say something."""

from __future__ import annotations

import sys
from itertools import islice
from typing import Annotated

import typer
from pydantic import ValidationError

from server.commands.console import (
    JsonLinesOption,
    JsonOption,
    LimitOption,
    SessionArgument,
    TokenOption,
    UrlOption,
    YesOption,
    confirm,
    connected,
    examples,
    last_part,
    moment,
    print_json,
    print_list,
    say,
    split_session,
)
from server.commands.share import ViewOption, read_view
from server.commands.terminal import print_line
from server.comment_schemas import NewComment
from server.xprof.views import in_words

app = typer.Typer(help="Comments: what people say about sessions.", no_args_is_help=True)


@app.command("list", epilog=examples("xprof-hub comments list llama-8b/2026_01_31"))
def list_(
    session: SessionArgument,
    limit: LimitOption = None,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
    as_lines: JsonLinesOption = False,
) -> None:
    """List the comments on a session, newest first."""
    run, session_id = split_session(session)
    with connected(url, token) as client:
        print_list(
            islice(client.comments.list(run, session_id), limit),
            as_json,
            ("COMMENT", "AUTHOR", "SAID", "VIEW", "TEXT"),
            lambda comment: (
                comment.uid,
                comment.creator,
                moment(comment.create_time),
                in_words(comment.view),
                " ".join(comment.text.split()),
            ),
            as_lines,
        )


@app.command(
    epilog=examples(
        "xprof-hub comments add llama-8b/2026_01_31 'host 3 is slow' "
        "--view 'tag=trace_viewer@&hosts=vm3&view_start=12.5&view_end=14'",
        "git log -1 --format=%B | xprof-hub comments add llama-8b/2026_01_31 -",
    )
)
def add(
    session: SessionArgument,
    text: Annotated[str, typer.Argument(help="What to say; - reads it from standard input.")],
    view: ViewOption = "",
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Say something about a session, or about a view of it, and print the comment's id."""
    run, session_id = split_session(session)
    said = sys.stdin.read() if text == "-" else text
    try:
        body = NewComment(text=said, view=read_view(view))
    except ValidationError as problem:
        raise typer.BadParameter(str(problem.errors()[0]["msg"]), param_hint="TEXT") from problem
    with connected(url, token) as client:
        made = client.comments.create(run, session_id, body.text, body.view)
    if as_json:
        print_json(made)
    else:
        print_line(made.uid)


@app.command(
    epilog=examples(
        "xprof-hub comments delete llama-8b/2026_01_31 0123456789abcdef0123456789abcdef"
    )
)
def delete(
    session: SessionArgument,
    comment: Annotated[
        str, typer.Argument(metavar="COMMENT", help="Its id, as `comments list` shows it.")
    ],
    yes: YesOption = False,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Delete a comment for good: one's own, or anybody's for admins."""
    run, session_id = split_session(session)
    confirm("Delete this comment for good?", yes)
    with connected(url, token) as client:
        client.comments.delete(run, session_id, last_part(comment))
    if as_json:
        typer.echo("{}")
    else:
        say("Deleted the comment.")
