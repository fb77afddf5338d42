"""What goes wrong is told a browser as a page, in the frame for who has signed in; programs get JSON."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from auth.identity import Role
from server.app import create_app
from tests.contract.api_calls import authorize, error_of, new_session
from tests.contract.browsing import DATA, browser, location, signed_in
from tests.services.api import Api, api_settings


def test_whoever_has_signed_in_keeps_the_frame(guarded_api: Api) -> None:
    authorize(guarded_api)
    new_session(guarded_api)
    with signed_in(guarded_api, Role.VIEWER) as client:
        for path, status, title in (
            ("/nowhere", 404, "There is nothing at this address"),
            ("/runs/none", 404, "There is nothing at this address"),
            ("/runs/" + "x" * 300, 404, "There is nothing at this address"),
            ("/runs/r/delete", 403, "You may not look at this"),
            ("/runs/r?pageToken=wrong", 400, "This can&#39;t be done"),
        ):
            answer = client.get(path)
            assert answer.status_code == status, path
            assert answer.headers["content-type"].startswith("text/html")
            assert title in answer.text
            assert 'class="top-nav"' in answer.text
            assert "script-src 'self'" in answer.headers["content-security-policy"]
            assert answer.headers["x-content-type-options"] == "nosniff"
            # What a page asks for in the background gets an error that it can read.
            assert error_of(client.get(path, headers=DATA))[0] == status


def test_strangers_see_plain_words(guarded_api: Api) -> None:
    with browser(guarded_api) as client:
        answer = client.get("/nowhere")
        assert answer.status_code == 404
        assert "There is nothing at this address" in answer.text
        assert "top-nav" not in answer.text
        door = client.get("/")
        assert door.status_code == 200
        assert "Profiles, opened by a link" in door.text


def test_the_api_answers_a_browser_in_its_own_shape(guarded_api: Api) -> None:
    with browser(guarded_api) as client:
        for path in ("/v1/nothing", "/v1/machineLearningRuns"):
            answer = client.get(path)
            assert answer.status_code in {401, 404}
            assert "text/html" not in answer.headers["content-type"], path


def test_the_front_door_leads_who_has_signed_in_to_the_runs(guarded_api: Api) -> None:
    authorize(guarded_api)
    with signed_in(guarded_api, Role.VIEWER) as client:
        assert location(client.get("/")) == "/runs"


def test_a_fault_is_a_page_with_all_headers_and_no_detail(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    app: FastAPI = create_app(api_settings(tmp_path_factory.mktemp("fault"), auth="dev"))

    @app.get("/broken")
    def broken() -> None:
        raise RuntimeError("/srv/secret")

    with TestClient(app, "http://127.0.0.1", raise_server_exceptions=False) as client:
        page = client.get("/broken", headers={"Accept": "text/html"})
        data = client.get("/broken", headers={"Accept": "*/*"})
    assert page.status_code == data.status_code == 500
    assert "XProf Hub failed at this request" in page.text
    assert "secret" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    safety = {"x-content-type-options", "referrer-policy"}
    assert safety <= set(page.headers)
    assert data.json()["error"]["code"] == 500
