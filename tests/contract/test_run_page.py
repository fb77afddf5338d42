"""The page of a run as plain HTML: what it shows, and what its forms change, by whom."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import httpx2
import pytest

from auth.identity import Role
from tests.contract.api_calls import attach, authorize, create_run, new_session, write_profile
from tests.contract.browsing import DATA, browser, location, signed_in
from tests.services.api import Api


@pytest.fixture
def page(api: Api) -> Iterator[httpx2.Client]:
    """A browser at a hub where everybody may do everything."""
    with browser(api) as client:
        yield client


def words_of(text: str) -> str:
    """What the page's main part says."""
    main = text.partition('<main id="main"')[2]
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", main)).split())


def test_a_run_is_told_whole(api: Api, page: httpx2.Client) -> None:
    create_run(
        api,
        "r",
        displayName="<b>Llama</b>",
        labels={"team": "perf"},
        runSet="big models",
        configs={
            "userConfigs": {"optimizer": {"name": "adamw", "betas": [0.9, 0.95]}},
            "softwareConfigs": {"framework": "JAX"},
            "hardwareConfigs": {"device_type": "TPU v5e"},
        },
        workload={"orchestrator": "GKE"},
        storageRoot="gs://elsewhere/runs",
        note="See https://example.org/a?b=1&c=2.",
    )
    new = attach(api, "r", write_profile(api, "s1", "h0", "h1"), expectedHosts=3)
    assert new.status_code == 200, new.text
    text = page.get("/runs/r").text
    told = words_of(text)
    for sentence in (
        "<b>Llama</b> Active",
        "team=perf",
        "big models",
        "User optimizer 2 values betas 0.9, 0.95 name adamw",
        "Software framework JAX",
        "Hardware device_type TPU v5e",
        "Workload orchestrator GKE",
        "not below XPROF_HUB_STORAGE_ROOTS",
        "s1 Attached",
        "The run was made",
        "Session added: s1",
    ):
        assert sentence in told, sentence
    assert "<b>Llama" not in text
    assert 'href="https://example.org/a?b=1&amp;c=2" rel="noopener noreferrer nofollow ugc"' in text
    assert 'href="/runs/r/sessions/s1"' in text
    assert 'href="/runs/r/share"' in text
    assert 'href="/runs?group=big+models"' in text


def test_a_run_without_sessions_says_how_one_comes(api: Api, page: httpx2.Client) -> None:
    create_run(api, "it's $(mine)")
    told = words_of(page.get("/runs/it's%20$(mine)").text)
    assert "No session yet" in told
    assert """xprof-hub sessions attach 'it'"'"'s $(mine)' gs://""" in told
    assert """xprof-hub upload 'it'"'"'s $(mine)' path/to/the/profile""" in told


def test_sessions_come_in_pages(api: Api, page: httpx2.Client) -> None:
    create_run(api, "r")
    for number in range(26):
        folder = write_profile(api, f"s{number:02}", log_directory=f"l{number}")
        assert attach(api, "r", folder).status_code == 200
    first = page.get("/runs/r").text
    assert len(re.findall(r'class="name"', first)) == 25
    more = re.search(r'rel="next" href="([^"]*)"', first)
    assert more
    second = page.get(html.unescape(more[1])).text
    assert re.findall(r'class="name" href="([^"]*)"', second) == ["/runs/r/sessions/s00"]
    assert 'rel="prev" href="/runs/r"' in second


def test_the_note_is_changed_on_the_page_and_over_the_api(api: Api, page: httpx2.Client) -> None:
    create_run(api, "r")
    answer = page.post("/runs/r/note", data={"note": "first line\r\n<i>second</i> "})
    assert (answer.status_code, location(answer)) == (303, "/runs/r")
    run = "/machineLearningRuns/r"
    assert api.http.get(run).json()["note"] == "first line\n<i>second</i>"
    assert "<i>second" not in page.get("/runs/r").text
    changed = api.http.patch(run, json={"note": "from the API"}, params={"updateMask": "note"})
    assert changed.json()["note"] == "from the API"
    assert "from the API" in words_of(page.get("/runs/r").text)
    refused = page.post("/runs/r/note", data={"note": "x" * 4001})
    assert refused.status_code == 400
    assert "at most 4000 characters" in words_of(refused.text)
    assert "x" * 4001 in refused.text
    assert api.http.get(run).json()["note"] == "from the API"
    assert api.http.patch(run, json={"note": "\x00"}).status_code == 400


def test_a_deleted_run_can_be_brought_back(api: Api, page: httpx2.Client) -> None:
    new_session(api, "r", "s")
    asked = words_of(page.get("/runs/r/delete").text)
    assert "links to it and to its sessions end at once" in asked
    assert "For 7 days it can be brought back" in asked
    answer = page.post("/runs/r/delete")
    assert (answer.status_code, location(answer)) == (303, "/runs/r/deleted")
    assert page.get("/runs/r").status_code == 404
    assert 'action="/runs/r/undelete"' in page.get("/runs/r/deleted").text
    back = page.post("/runs/r/undelete")
    assert (back.status_code, location(back)) == (303, "/runs/r")
    assert 'href="/runs/r/sessions/s"' in page.get("/runs/r").text
    again = page.post("/runs/r/undelete")
    assert again.status_code == 404
    assert "no deleted run" in words_of(again.text)


def test_a_held_run_stays(api: Api, page: httpx2.Client) -> None:
    create_run(api, "r")
    assert page.post("/runs/r/hold", data={"held": "yes"}).status_code == 303
    assert "On hold" in words_of(page.get("/runs/r").text)
    refused = page.post("/runs/r/delete")
    assert refused.status_code == 409
    assert "hold" in words_of(refused.text)
    assert page.post("/runs/r/hold", data={"held": "perhaps"}).status_code == 400
    assert page.post("/runs/r/hold", data={"held": "no"}).status_code == 303
    assert page.post("/runs/r/delete").status_code == 303


def test_two_ticked_sessions_are_compared(api: Api, page: httpx2.Client) -> None:
    new_session(api, "r", "old")
    attach(api, "r", write_profile(api, "new", log_directory="other"))
    text = page.get("/runs/r").text
    assert re.findall(r'class="pick" type="checkbox" name="session" value="(\w+)"', text) == [
        "new",
        "old",
    ]
    there = location(page.get("/runs/r/compare?session=new&session=old"))
    assert there == "/compare?left=r/old&right=r/new"
    for query in (
        "",
        "?session=new",
        "?session=new&session=old&session=x",
        "?session=a/b&session=c",
    ):
        refused = page.get(f"/runs/r/compare{query}")
        assert refused.status_code == 400
        assert "Tick two sessions" in words_of(refused.text)


def test_sessions_of_one_capture_are_looked_for(api: Api, page: httpx2.Client) -> None:
    create_run(api, "r")
    for second, host in enumerate(("h0", "h1")):
        folder = write_profile(api, f"2026_11_30_12_00_0{second}", host)
        assert attach(api, "r", folder).status_code == 200
    assert 'hx-get="/runs/r/mergeable"' in page.get("/runs/r").text
    offers = page.get("/runs/r/mergeable").text
    # No worker reads the times in the profiles here; tests/integration/test_session_merges.py has one.
    assert "can't be looked for now" in words_of(offers)


def test_a_merge_that_cannot_be_is_explained(api: Api, page: httpx2.Client) -> None:
    new_session(api, "r", "s")
    for sessions, sentence in (("", "Name the sessions"), ("s/s", "twice"), ("s/none", "none")):
        refused = page.post("/runs/r/merge", data={"sessions": sessions})
        assert refused.status_code == 400, sessions
        assert sentence in words_of(refused.text)


def test_each_sees_and_does_what_the_role_allows(guarded_api: Api) -> None:
    authorize(guarded_api)
    new_session(guarded_api, "r", "s")
    changes = {"note": {"note": "x"}, "merge": {"sessions": "a/b"}, "delete": {}, "undelete": {}}
    with signed_in(guarded_api, Role.VIEWER) as viewer:
        text = viewer.get("/runs/r").text
        for part in ("/runs/r/note", "/runs/r/delete", "/runs/r/share", "/runs/r/hold"):
            assert part not in text, part
        for path, fields in {**changes, "hold": {"held": "yes"}}.items():
            assert viewer.post(f"/runs/r/{path}", data=fields).status_code == 403, path
        for path in ("delete", "deleted", "mergeable"):
            assert viewer.get(f"/runs/r/{path}").status_code == 403, path
    with signed_in(guarded_api, Role.EDITOR) as editor:
        text = editor.get("/runs/r").text
        assert "/runs/r/note" in text
        assert "/runs/r/share" in text
        assert "/runs/r/hold" not in text
        assert editor.post("/runs/r/hold", data={"held": "yes"}).status_code == 403
        assert editor.post("/runs/r/note", data={"note": "x"}).status_code == 303
    with signed_in(guarded_api, Role.ADMIN) as admin:
        text = admin.get("/runs/r").text
        assert "/runs/r/hold" in text
        # What people did stands in the history of those who may read the audit log.
        assert "Run changed" in words_of(text)
        assert "Admin" in text
    with browser(guarded_api) as nobody:
        for path in changes:
            assert nobody.post(f"/runs/r/{path}", headers=DATA).status_code == 401, path


def test_no_other_site_changes_a_run(api: Api, page: httpx2.Client) -> None:
    create_run(api, "r")
    for path in ("note", "hold", "delete", "undelete", "merge"):
        sent = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
        answer = page.post(f"/runs/r/{path}", data={"note": "evil", "held": "yes"}, headers=sent)
        assert answer.status_code == 403, path
    assert api.http.get("/machineLearningRuns/r").json()["note"] == ""
