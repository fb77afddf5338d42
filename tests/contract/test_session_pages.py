"""The page about a session without scripts: what it shows, and its forms, for each role."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import httpx2
import pytest

from auth.identity import Role
from server.figures.values import HostFigures, SessionFigures
from server.registry.database import Database
from server.registry.summaries import FigureState, HostSize, SessionSummary, keep_summary
from tests.contract.api_calls import (
    attach,
    authorize,
    create_run,
    new_session,
    session_path,
    write_profile,
)
from tests.contract.browsing import XPROF, browser, location, signed_in
from tests.services.api import Api, ApiServers

ATTACK = "\"'><img src=x onerror=alert(1)>{{ 7 * 7 }}"
PAGE = "/runs/r/sessions/s"


@pytest.fixture
def hub(api_servers: ApiServers) -> Api:
    """A hub that asks for tokens, with one session; nothing here depends on the database."""
    api = api_servers.get("sqlite", "token")
    authorize(api)
    new_session(api)
    return api


@pytest.fixture
def editor(hub: Api) -> Iterator[httpx2.Client]:
    with signed_in(hub, Role.EDITOR) as client:
        yield client


def session(hub: Api) -> dict[str, object]:
    found: dict[str, object] = hub.http.get(session_path("r", "s")).json()
    return found


def send(client: httpx2.Client, path: str, **fields: str) -> httpx2.Response:
    return client.post(f"{PAGE}{path}", data=fields)


def test_the_page_leads_to_everything_about_the_session(hub: Api, editor: httpx2.Client) -> None:
    text = editor.get(PAGE).text
    for address in (
        f"{PAGE}{XPROF}/",
        f"{PAGE}/share",
        "/compare?left=r%2Fs",
        "/runs/r",
        f"{PAGE}/hosts",
    ):
        assert f'href="{address}"' in text, address
    files = editor.get(f"{PAGE}/hosts").text
    assert "<title>" in files
    assert f'href="{PAGE}/files/vm"' in files
    assert f'href="{PAGE}{XPROF}/?tag=trace_viewer%40"' in files
    part = editor.get(f"{PAGE}/hosts", headers={"HX-Request": "true"}).text
    assert "<title>" not in part
    assert "1 host" in part


def test_each_role_sees_what_it_may_do(hub: Api) -> None:
    shown = {
        Role.VIEWER: set(),
        Role.EDITOR: {"rename", "pin", "expiry", "delete"},
        Role.ADMIN: {"rename", "pin", "expiry", "delete", "hold"},
    }
    for role, forms in shown.items():
        with signed_in(hub, role) as client:
            text = client.get(PAGE).text
            found = set(re.findall(rf'action="{PAGE}/(\w+)"', text))
            assert found == forms | {"comments"}
            assert (f'href="{PAGE}/share"' in text) == (role is not Role.VIEWER)
            files = client.get(f"{PAGE}/hosts").text
            assert ("/files/vm" in files) == (role is not Role.VIEWER)
            for form in {"rename", "pin", "expiry", "delete", "undelete", "hold"} - forms:
                if form != "undelete" or role is Role.VIEWER:
                    assert send(client, f"/{form}").status_code == 403, (role, form)


def test_strangers_are_led_to_sign_in_and_other_sites_change_nothing(hub: Api) -> None:
    with browser(hub) as stranger:
        for path in (PAGE, f"{PAGE}/hosts", f"{PAGE}/comments", f"{PAGE}/files/vm"):
            assert location(stranger.get(path)) == f"/signin?next={quote(path)}"
    with signed_in(hub, Role.ADMIN) as client:
        foreign = {"Origin": "https://evil.example"}
        for path in ("/rename", "/pin", "/hold", "/expiry", "/delete", "/undelete", "/comments"):
            assert client.post(f"{PAGE}{path}", headers=foreign).status_code == 403
    assert session(hub)["displayName"] == "s"


def test_it_is_renamed_pinned_given_an_end_and_held(hub: Api, editor: httpx2.Client) -> None:
    assert location(send(editor, "/rename", name=" step 1000 ")) == PAGE
    assert session(hub)["displayName"] == "step 1000"
    assert send(editor, "/rename", name="a\nb").status_code == 400
    assert send(editor, "/rename", name="x" * 501).status_code == 400
    location(send(editor, "/rename", name=""))
    assert session(hub)["displayName"] == "s"
    location(send(editor, "/pin", pinned="yes"))
    assert session(hub)["pinned"] is True
    location(send(editor, "/pin", pinned="no"))
    assert not session(hub).get("pinned")
    assert send(editor, "/pin", pinned="maybe").status_code == 400
    day = (datetime.now(UTC) + timedelta(days=9)).date()
    location(send(editor, "/expiry", expires=day.isoformat()))
    assert str(session(hub)["expireTime"]).startswith(f"{day}T23:59:59.999999")
    assert f'value="{day}"' in editor.get(PAGE).text
    for wrong in ("2020-01-01", "tomorrow", "9999-12-31", "2026-02-30"):
        assert send(editor, "/expiry", expires=wrong).status_code == 400, wrong
    location(send(editor, "/expiry", expires=""))
    assert session(hub).get("expireTime") is None
    with signed_in(hub, Role.ADMIN) as admin:
        location(send(admin, "/hold", held="yes"))
        assert "Lift the hold" in admin.get(PAGE).text
    refused = send(editor, "/delete")
    assert refused.status_code == 409
    assert "hold" in refused.text
    assert f'action="{PAGE}/delete"' not in editor.get(PAGE).text


def test_what_is_deleted_can_be_brought_back(hub: Api, editor: httpx2.Client) -> None:
    link = hub.http.post(f"{session_path('r', 's')}/shareLinks", json={}).json()["token"]
    there = location(send(editor, "/delete"))
    assert there == f"{PAGE}/deleted"
    assert "Bring it back" in editor.get(there).text
    assert editor.get(PAGE).status_code == 404
    assert location(send(editor, "/undelete")) == PAGE
    assert editor.get(PAGE).status_code == 200
    with browser(hub) as stranger:
        assert stranger.get(f"/s/{link}{XPROF}/").status_code == 410
    again = send(editor, "/undelete")
    assert again.status_code == 404
    assert "could be brought back" in again.text


def test_names_and_comments_that_attack_are_texts(hub: Api) -> None:
    create_run(hub, "x", displayName=ATTACK)
    attach(hub, "x", write_profile(hub, "t", 'a"><b>', log_directory="x"), displayName=ATTACK)
    place = session_path("x", "t")
    view = {"tool": "hlo_stats", "hosts": [ATTACK], "module": ATTACK, "op": "\u202e" + ATTACK}
    hub.http.post(f"{place}/comments", json={"text": ATTACK, "view": view})
    hub.http.post(
        f"{place}/comments", json={"text": 'javascript:alert(1) https://x.org/"onclick=x'}
    )
    with signed_in(hub, Role.ADMIN) as client:
        for path in ("", "/hosts", "/comments", f"/comment?tag=hlo_stats&host={quote(ATTACK)}"):
            text = client.get(f"/runs/x/sessions/t{path}").text
            assert "<img" not in text
            assert 'a"><b>' not in text
            assert "49" not in re.findall(r"\{\{ 7 \* 7 \}\}|>49<", text)
            assert 'href="javascript' not in text
            assert not re.search(r"<a[^>]*onclick", text)
        assert "{{ 7 * 7 }}" in client.get("/runs/x/sessions/t").text


def test_comments_are_said_changed_and_deleted_by_forms(hub: Api) -> None:
    with signed_in(hub) as ann, signed_in(hub) as ben, signed_in(hub, Role.ADMIN) as admin:
        form = ann.get(
            f"{PAGE}/comment?tag=trace_viewer@&hosts=vm&view_start=12.5&view_end=14"
        ).text
        assert "Trace Viewer, vm, 12.5-14 ms" in form
        (query,) = re.findall(r'name="view" value="([^"]*)"', form)
        query = query.replace("&amp;", "&")
        said = send(ann, "/comments", text="Look\nhere: https://x.org/a.", view=query)
        there = location(said)
        comment = there.partition("#comment-")[2]
        assert there == f"{PAGE}#comment-{comment}"
        page = ann.get(PAGE).text
        assert (
            f'href="{PAGE}{XPROF}/?tag=trace_viewer%40&amp;hosts=vm&amp;view_start=12.5&amp;view_end=14"'
            in page
        )
        assert (
            '<a href="https://x.org/a" target="_blank" rel="noopener noreferrer nofollow ugc">'
            in page
        )
        path = f"/comments/{comment}"
        assert f'href="{PAGE}{path}"' in page
        assert f'action="{PAGE}{path}/delete"' in page
        others = ben.get(PAGE).text
        assert path not in others
        assert f'action="{PAGE}{path}/delete"' in admin.get(PAGE).text
        for other in (ben, admin):
            assert other.get(f"{PAGE}{path}").status_code == 403
            assert send(other, path, text="theirs").status_code == 403
        assert send(ben, f"{path}/delete").status_code == 403
        assert "Look\nhere" in ann.get(f"{PAGE}{path}").text
        assert location(send(ann, path, text="Changed")) == f"{PAGE}#comment-{comment}"
        assert "changed since" in ben.get(PAGE).text
        for wrong in ("", " ", "x" * 4001):
            for where in (path, "/comments"):
                refused = send(ann, where, text=wrong)
                assert refused.status_code == 400
                assert 'role="alert"' in refused.text
        assert location(send(admin, f"{path}/delete")) == f"{PAGE}#comments"
        assert "Nobody has said anything yet" in ann.get(PAGE).text
        assert ann.get(f"{PAGE}{path}").status_code == 404


def test_old_comments_have_pages(hub: Api, editor: httpx2.Client) -> None:
    for number in range(52):
        hub.http.post(f"{session_path('r', 's')}/comments", json={"text": f"number {number}!"})
    first = editor.get(PAGE).text
    assert "All 52 comments" in first
    assert "number 32!" in first
    assert "number 31!" not in first
    page = editor.get(f"{PAGE}/comments").text
    (older,) = re.findall(r'rel="next" href="([^"]*)"', page)
    found = re.findall(r"number (\d+)!", page + editor.get(older).text)
    assert found == [str(number) for number in reversed(range(52))]
    assert editor.get(f"{PAGE}/comments?pageToken=x").status_code == 400


def test_share_links_show_no_comments(hub: Api) -> None:
    said = "only for those who have signed in"
    hub.http.post(f"{session_path('r', 's')}/comments", json={"text": said})
    link = hub.http.post(f"{session_path('r', 's')}/shareLinks", json={}).json()["token"]
    with browser(hub) as stranger:
        page = stranger.get(f"/s/{link}{XPROF}/")
        assert page.status_code == 200
        assert said not in page.text
        assert f"{PAGE}" not in page.text
        for path in ("/comments", "/comment", "/hosts", "/files/vm"):
            assert stranger.get(f"/s/{link}{path}").status_code == 404


def test_figures_and_stragglers_are_shown_once_they_are_known(
    hub: Api, editor: httpx2.Client
) -> None:
    waiting = editor.get(PAGE).text
    assert f'hx-get="{PAGE}/figures?looks=' in waiting
    hosts = (HostFigures("fast", 100.0, 101.0), HostFigures(ATTACK, 150.0, 160.0))
    figures = SessionFigures(
        step_times_ms=(100.0, 150.0),
        average_step_ms=125.0,
        device_type=ATTACK,
        device_count=4,
        hosts=hosts,
        gaps=(f"There is no memory profile of {ATTACK}.",),
    )
    known = SessionSummary(
        "digest",
        (HostSize("vm", 10),),
        10,
        figures,
        datetime.now(UTC),
        FigureState(engine="xprof"),
    )
    database = Database(hub.settings.resolved_database_url)
    assert keep_summary(database, str(session(hub)["uid"]), known)
    database.close()
    part = editor.get(f"{PAGE}/figures?looks=3", headers={"HX-Request": "true"}).text
    for text in (part, editor.get(PAGE).text):
        assert "125 ms" in text
        assert "1 straggler" in text
        assert "+20.0%" in text
        assert 'width="66.7%"' in text
        assert "hx-get" not in text.partition('id="figures"')[2].partition(">")[0]
        assert "<img" not in text
        assert 'aria-label="Step time, 100 ms to 150 ms"' in text
