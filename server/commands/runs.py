"""`xprof-hub runs`: create, list, show, change, end and delete runs."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer

from server.commands.changes import (
    EtagOption,
    LabelOption,
    SetOption,
    UnsetOption,
    read_changes,
)
from server.commands.console import (
    ConditionOption,
    DeletedOption,
    JsonLinesOption,
    JsonOption,
    LimitOption,
    OrderOption,
    RunArgument,
    TokenOption,
    UrlOption,
    YesOption,
    confirm,
    connected,
    examples,
    last_part,
    moment,
    print_fields,
    print_json,
    print_list,
    print_table,
    say,
    state_text,
)
from server.commands.terminal import print_line
from server.registry.records import RunState
from server.schemas import Run

app = typer.Typer(help="Runs: what profiles belong to.", no_args_is_help=True)

NameOption = Annotated[str, typer.Option(help="Name for people.")]
RunSetOption = Annotated[str, typer.Option(help="Group of runs.")]


@app.command(
    epilog=examples(
        "xprof-hub runs create llama-8b --label team=perf",
        "xprof-hub runs create llama-8b --run-set llama --set configs.batch=64",
    )
)
def create(
    run: RunArgument,
    name: Annotated[str, typer.Option(help="Name for people; the id unless set.")] = "",
    label: LabelOption = None,
    run_set: RunSetOption = "",
    sets: SetOption = None,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Create a run and print its id."""
    plain = {"displayName": name or run, "runSet": run_set}
    body, _ = read_changes(Run, dict(plain), sets or (), labels=label or ())
    with connected(url, token) as client:
        created = client.runs.create(body, run)
    if as_json:
        print_json(created)
    else:
        print_line(last_part(created.name))


@app.command(
    "list",
    epilog=examples(
        "xprof-hub runs list --filter 'state = ACTIVE AND labels.team = \"perf\"'",
        "xprof-hub runs list --order-by 'updateTime desc' --limit 20",
        "xprof-hub runs list --jsonl | jq -r .name",
    ),
)
def list_(
    condition: ConditionOption = "",
    order_by: OrderOption = "",
    limit: LimitOption = None,
    deleted: DeletedOption = False,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
    as_lines: JsonLinesOption = False,
) -> None:
    """List runs, newest first."""
    with connected(url, token) as client:
        print_list(
            islice(client.runs.list(condition, order_by, show_deleted=deleted), limit),
            as_json,
            ("RUN", "NAME", "GROUP", "STATE", "SESSIONS", "CREATOR", "CREATED"),
            lambda run: (
                last_part(run.name),
                run.display_name,
                run.run_set,
                state_text("DELETED" if run.delete_time else run.state),
                "" if run.session_count is None else str(run.session_count),
                run.creator,
                moment(run.create_time),
            ),
            as_lines,
        )


@app.command(epilog=examples("xprof-hub runs show llama-8b", "xprof-hub runs show llama-8b --json"))
def show(
    run: RunArgument,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show a run with the attempts of its job."""
    with connected(url, token) as client:
        found = client.runs.get(run)
    if as_json:
        print_json(found)
    else:
        _print_run(found)


@app.command(
    epilog=examples(
        "xprof-hub runs update llama-8b --name 'Llama 8B, batch 64' --label team=perf",
        "xprof-hub runs update llama-8b --set configs.batch=64 --unset labels.team",
    )
)
def update(
    run: RunArgument,
    name: NameOption = "",
    label: LabelOption = None,
    run_set: RunSetOption = "",
    sets: SetOption = None,
    unsets: UnsetOption = None,
    etag: EtagOption = "",
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Change fields of a run; all others stay as they are."""
    body, mask = read_changes(
        Run, {"displayName": name, "runSet": run_set}, sets or (), unsets or (), label or ()
    )
    if not mask:
        raise typer.BadParameter(
            "Say what to change: --name, --label, --run-set, --set or --unset."
        )
    with connected(url, token) as client:
        changed = client.runs.update(run, body, mask, etag=etag)
    if as_json:
        print_json(changed)
    else:
        say(f"Changed {', '.join(mask)} of run {run}.")


@app.command(epilog=examples("xprof-hub runs end llama-8b", "xprof-hub runs end llama-8b --failed"))
def end(
    run: RunArgument,
    failed: Annotated[bool, typer.Option("--failed", help="The job has failed.")] = False,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Say that a run has ended; 'runs update RUN --set state=ACTIVE' opens it again."""
    state = RunState.FAILED if failed else RunState.COMPLETED
    with connected(url, token) as client:
        ended = client.runs.end(run, state)
    if as_json:
        print_json(ended)
    else:
        say(f"Run {run} has {'failed' if failed else 'ended'}.")


@app.command(epilog=examples("xprof-hub runs delete llama-8b", "xprof-hub runs delete old --yes"))
def delete(
    run: RunArgument,
    yes: YesOption = False,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Delete a run with its sessions and links; profiles in storage stay."""
    with connected(url, token) as client:
        count = client.runs.get(run).session_count or 0
        sessions = f"{count} session" if count == 1 else f"{count} sessions"
        confirm(f"Delete run {run} with its {sessions} and their links?", yes)
        client.runs.delete(run)
    if as_json:
        typer.echo("{}")
    else:
        say(f"Deleted run {run} with its {sessions} and their links. Profiles in storage stay.")
        say(f"For some days it can come back: xprof-hub runs undelete {run}")


@app.command(epilog=examples("xprof-hub runs undelete llama-8b"))
def undelete(
    run: RunArgument,
    url: UrlOption = "",
    token: TokenOption = "",
    as_json: JsonOption = False,
) -> None:
    """Bring back a run that was deleted, with its sessions; its links stay ended."""
    with connected(url, token) as client:
        found = client.runs.undelete(run)
    if as_json:
        print_json(found)
    else:
        say(f"Run {run} is back with {found.session_count or 0} sessions. Its links stay ended.")


def _print_run(run: Run) -> None:
    labels = ", ".join(f"{key}={value}" for key, value in sorted(run.labels.items()))
    print_fields(
        [
            ("Run", last_part(run.name)),
            ("Name", run.display_name),
            ("Set", run.run_set),
            ("Labels", labels),
            ("State", (run.state or "").lower()),
            ("Sessions", "" if run.session_count is None else str(run.session_count)),
            ("Writes to", run.storage_root),
            ("Legal hold", "yes" if run.held else ""),
            ("Creator", run.creator),
            ("Created", moment(run.create_time)),
            ("Changed", moment(run.update_time)),
            ("Last seen", moment(run.last_seen_time)),
            ("Ended", moment(run.end_time)),
            *(("Warning", warning) for warning in run.warnings or ()),
        ]
    )
    if run.attempts:
        typer.echo()
        rows = [
            (
                str(attempt.number),
                state_text(attempt.state),
                moment(attempt.start_time),
                moment(attempt.end_time),
            )
            for attempt in run.attempts
        ]
        print_table(("ATTEMPT", "STATE", "STARTED", "ENDED"), rows)
