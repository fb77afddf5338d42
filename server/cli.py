"""The command `xprof-hub`."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from server.commands import (
    audit,
    comments,
    compare,
    discovery,
    download,
    groups,
    links,
    members,
    operations,
    pages,
    runs,
    sessions,
    share,
    sharing_rules,
    signing_in,
    tokens,
    upload,
)
from server.commands.console import examples
from server.commands.exits import MEANINGS
from server.commands.hub_settings import load_settings

if TYPE_CHECKING:
    from server.start_checks import Part

app = typer.Typer(
    name="xprof-hub",
    help="Open an XProf profile by a link.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=True,
    epilog="Exit status: "
    + "; ".join(f"{int(status)} {meaning}" for status, meaning in MEANINGS.items()),
)
_HUB = "Talk to a hub"
_HERE = "Run a hub"
app.add_typer(runs.app, name="runs", rich_help_panel=_HUB)
app.add_typer(sessions.app, name="sessions", rich_help_panel=_HUB)
app.add_typer(comments.app, name="comments", rich_help_panel=_HUB)
app.add_typer(groups.app, name="groups", rich_help_panel=_HUB)
app.add_typer(links.app, name="links", rich_help_panel=_HUB)
app.add_typer(tokens.app, name="tokens", rich_help_panel=_HUB)
app.add_typer(members.app, name="members", rich_help_panel=_HUB)
app.add_typer(audit.app, name="audit", rich_help_panel=_HUB)
app.add_typer(operations.app, name="operations", rich_help_panel=_HUB)
app.add_typer(sharing_rules.app, name="sharing-rules", rich_help_panel=_HUB)
app.command("share", epilog=share.EXAMPLES, rich_help_panel=_HUB)(share.share)
app.command("compare", epilog=compare.EXAMPLES, rich_help_panel=_HUB)(compare.compare)
app.command("upload", epilog=upload.EXAMPLES, rich_help_panel=_HUB)(upload.upload)
app.command("download", epilog=download.EXAMPLES, rich_help_panel=_HUB)(download.download)
app.command("import", epilog=discovery.IMPORT_EXAMPLES, rich_help_panel=_HUB)(discovery.import_)
app.command("scan", epilog=discovery.SCAN_EXAMPLES, rich_help_panel=_HUB)(discovery.scan)
app.command("open", epilog=pages.OPEN_EXAMPLES, rich_help_panel=_HUB)(pages.open_)
app.command("login", epilog=signing_in.LOGIN_EXAMPLES, rich_help_panel=_HUB)(signing_in.login)
app.command("logout", epilog=signing_in.LOGOUT_EXAMPLES, rich_help_panel=_HUB)(signing_in.logout)
app.command("whoami", epilog=signing_in.WHOAMI_EXAMPLES, rich_help_panel=_HUB)(signing_in.whoami)


@app.command(rich_help_panel=_HERE)
def serve(
    only: Annotated[
        str | None, typer.Option(help="Only this part: front or worker.", metavar="front|worker")
    ] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
) -> None:
    """Serve links and the API, and convert profiles; configured by XPROF_HUB_ variables."""
    from server import serve as serving
    from server.machine.listening import StartError
    from server.machine.logs import configure_logs

    part = _part_of(only)
    overrides = {
        name: value for name, value in (("host", host), ("port", port)) if value is not None
    }
    settings = load_settings().model_copy(update=overrides)
    configure_logs(settings.log_level, google_project=settings.google_project)
    serving.stop_on_terminate()
    try:
        serving.serve(settings, on_ready=_announcement(part), part=part)
    except StartError as problem:
        typer.echo(str(problem), err=True)
        raise typer.Exit(1) from problem
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


def _part_of(only: str | None) -> Part | None:
    """What `--only` names.

    Raises:
        typer.BadParameter: no part has this name.
    """
    if only not in {None, "front", "worker"}:
        raise typer.BadParameter("must be front or worker", param_hint="--only")
    return "front" if only == "front" else "worker" if only == "worker" else None


def _announcement(part: str | None) -> Callable[[str], None] | None:
    """Says where a server listens; one that another of ours has started says nothing."""
    from server.fleet.local_worker import is_local_worker

    if is_local_worker():
        return None
    name = f"XProf Hub's {part}" if part else "XProf Hub"
    return lambda url: typer.echo(f"{name} listens on {url}", err=True)


@app.command(rich_help_panel=_HERE)
def demo(
    path: Annotated[
        Path | None,
        typer.Argument(help="A log directory, session directory or .xplane.pb file of yours."),
    ] = None,
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.")] = 8080,
    hosts: Annotated[int, typer.Option(min=1, max=64, help="Hosts of the made session.")] = 4,
    events: Annotated[
        int, typer.Option(min=1000, max=5_000_000, help="Events of each host.")
    ] = 20_000,
    browser: Annotated[bool, typer.Option(help="Open a browser when there is a display.")] = True,
) -> None:
    """Serve a realistic multi-host session, or your own, and print a link that opens it."""
    from server.demo.command import run_demo

    run_demo(path, port, hosts, events, browser)


@app.command("compress-assets", rich_help_panel=_HERE)
def compress_assets(
    gently: Annotated[
        bool, typer.Option(help="With the lowest priority, as beside a server.")
    ] = False,
) -> None:
    """Make the smallest copies of all static files ahead of time, as the image's build does."""
    from server.asset_copies import make_copies, take_lowest_priority
    from server.ui.xprof_files import XprofNotInstalledError

    if gently:
        take_lowest_priority()
    try:
        typer.echo(make_copies(load_settings()))
    except (XprofNotInstalledError, OSError) as problem:
        typer.echo(str(problem), err=True)
        raise typer.Exit(1) from problem


@app.command(
    rich_help_panel=_HERE,
    epilog=examples("xprof-hub prune --dry-run", "xprof-hub prune --json"),
)
def prune(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done.")
    ] = False,
    every: Annotated[
        float,
        typer.Option(min=0, metavar="HOURS", help="Go on, with so many hours between; 0: once."),
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a pass.")] = False,
) -> None:
    """Delete what is due: sessions whose time is over, and what was deleted long enough ago."""
    from server.commands.prune import run_prune
    from server.machine.logs import configure_logs
    from server.serve import stop_on_terminate

    settings = load_settings()
    configure_logs(settings.log_level, google_project=settings.google_project)
    stop_on_terminate()
    raise typer.Exit(run_prune(settings, is_dry=dry_run, as_json=as_json, every_hours=every))


@app.command(
    rich_help_panel=_HERE, epilog=examples("xprof-hub migrate --check", "xprof-hub migrate --json")
)
def migrate(
    check: Annotated[
        bool,
        typer.Option("--check", help="Change nothing; exit with 1 when it is not up to date."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Bring the database to what this version needs; hubs of the version before go on meanwhile."""
    from server.commands.database import run_migrate
    from server.serve import stop_on_terminate

    stop_on_terminate()
    raise typer.Exit(run_migrate(load_settings(), is_check=check, as_json=as_json))


@app.command(rich_help_panel=_HERE, epilog=examples("xprof-hub backup /backups/monday.sqlite"))
def backup(
    file: Annotated[Path, typer.Argument(help="Where the copy is to be; nothing is overwritten.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Copy the SQLite database while hubs work on it; for PostgreSQL, say which program does so."""
    from server.commands.database import run_backup

    raise typer.Exit(run_backup(load_settings(), file, as_json=as_json))


@app.command(
    rich_help_panel=_HERE,
    epilog=examples(
        "xprof-hub doctor",
        "xprof-hub doctor --only worker",
        "xprof-hub doctor --link https://hub.example/s/xph_...",
    ),
)
def doctor(
    only: Annotated[
        str | None,
        typer.Option(help="Only what this part needs: front or worker.", metavar="front|worker"),
    ] = None,
    link: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Open this link as a reader does instead, and say where the time goes.",
        ),
    ] = "",
) -> None:
    """Say what works here and what is missing; or why a link is slow."""
    if link:
        from auth.tokens import read_link_token
        from server.links.doctor import print_visit

        if not link.startswith(("http://", "https://")) or not read_link_token(link):
            raise typer.BadParameter("give the whole address of a link", param_hint="--link")
        raise typer.Exit(0 if print_visit(link) else 1)
    from server.doctor import print_report

    if not print_report(load_settings(), _part_of(only)):
        raise typer.Exit(1)


def main() -> None:
    """Entry point of the installed command."""
    # At its end Python looks at every object once more: 0.6 s of CPU after `serve`, to free what ends anyway.
    atexit.register(gc.freeze)
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
