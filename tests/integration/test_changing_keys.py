"""Changing the secret key while people use the hub: in no step of it anybody is turned away.

Three steps lead from the old key to the new one, and processes of two neighbouring steps serve together.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from auth.identity import Role
from tests.contract.api_calls import token_for
from tests.contract.browsing import DATA, PAGE, XPROF, location, sign_in
from tests.contract.link_visits import PASSWORD
from tests.services.api import Api, api_settings, serve_api
from tests.services.hub import HubFactory, copy_of

OLD, NEW = "the key of the last year", "the key of this year, with a comma"
STEPS = {"before": (OLD, []), "listed": (OLD, [NEW]), "used": (NEW, [OLD]), "after": (NEW, [])}
"""What `SECRET_KEY` and `OLD_SECRET_KEYS` are in each step."""
ASKS = {"before": "listed", "listed": "used", "used": "listed", "after": "used"}
"""Of which step the worker is that each front end has, at the worst moment of a change."""


@dataclass(frozen=True)
class Hub:
    """Front ends of all steps on one database, each with a worker of a neighbouring step.

    Attributes:
        fronts: by step.
        plain: path of a link that asks for a password.
        redacted: path of a redacted link to the same session.
    """

    fronts: dict[str, Api]
    plain: str
    redacted: str

    def cookies_of(self, step: str) -> dict[str, str]:
        """What a browser keeps that has signed in and given the password at this front end."""
        api = self.fronts[step]
        _, secret = token_for(api, Role.VIEWER)
        with httpx2.Client(base_url=api.url, trust_env=False, headers=PAGE) as client:
            assert sign_in(client, api, secret).status_code == 303
            unlocked = client.post(f"{self.plain}/unlock", data={"password": PASSWORD, "next": ""})
            assert unlocked.status_code == 303
            return {cookie.name: cookie.value or "" for cookie in client.cookies.jar}

    def is_let_in(self, step: str, cookies: dict[str, str]) -> tuple[bool, bool]:
        """Whether this front end knows the browser: who signed in, and that the password was right."""
        sent = "; ".join(f"{name}={value}" for name, value in cookies.items())
        with httpx2.Client(
            base_url=self.fronts[step].url, trust_env=False, headers={**PAGE, "Cookie": sent}
        ) as client:
            runs, page = client.get("/runs"), client.get(f"{self.plain}{XPROF}/")
        if runs.status_code != 200:
            assert location(runs).startswith("/signin")
        if page.status_code != 200:
            assert "/unlock" in location(page)
        return runs.status_code == 200, page.status_code == 200


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, small_session: Path) -> Iterator[Hub]:
    folder = tmp_path_factory.mktemp("changing-keys")
    (folder / "profiles").mkdir()
    session = copy_of(small_session, folder / "profiles" / "s")
    factory = HubFactory(folder)
    with ExitStack() as exits:
        exits.callback(factory.stop_all)
        workers = {step: start_worker(factory, folder, step) for step in ("listed", "used")}
        fronts = {}
        for step, (key, others) in STEPS.items():
            settings = api_settings(
                folder,
                auth="token",
                secret_key=key,
                old_secret_keys=json.dumps(others),
                workers=workers[ASKS[step]],
                data_dir=folder / step,
            )
            fronts[step] = exits.enter_context(serve_api(settings))
        yield Hub(fronts, *make_links(fronts["before"], session))


def start_worker(factory: HubFactory, folder: Path, step: str) -> str:
    key, others = STEPS[step]
    env = {
        "XPROF_HUB_SECRET_KEY": key,
        "XPROF_HUB_OLD_SECRET_KEYS": json.dumps(others),
        "XPROF_HUB_STORAGE_ROOTS": str(folder / "profiles"),
    }
    return factory.start(env, only="worker").url


def make_links(api: Api, session: Path) -> tuple[str, str]:
    _, secret = token_for(api, Role.EDITOR)
    made = []
    with httpx2.Client(
        base_url=f"{api.url}/v1",
        trust_env=False,
        headers={"Authorization": f"Bearer {secret}"},
    ) as client:
        runs = "/machineLearningRuns"
        client.post(runs, params={"machineLearningRunId": "r"}, json={}).raise_for_status()
        at = f"{runs}/r/profilerSessions"
        body = {"storageFolderUri": str(session)}
        client.post(at, params={"profilerSessionId": "s"}, json=body).raise_for_status()
        for asked in ({"password": PASSWORD}, {"redacted": True}):
            answer = client.post(f"{at}/s/shareLinks", json=asked).raise_for_status()
            made.append("/s/" + str(answer.json()["uri"]).rpartition("/s/")[2])
    return made[0], made[1]


def test_whoever_was_let_in_before_stays_so_until_the_old_key_is_dropped(hub: Hub) -> None:
    cookies = hub.cookies_of("before")
    assert [hub.is_let_in(step, cookies) for step in STEPS] == [(True, True)] * 3 + [(False, False)]


def test_who_comes_while_the_key_changes_is_known_to_front_ends_on_both_sides(hub: Hub) -> None:
    cookies = hub.cookies_of("used")
    found = [hub.is_let_in(step, cookies) for step in STEPS]
    # The first one shows why the new key has to be listed everywhere before it is used anywhere.
    assert found == [(False, False)] + [(True, True)] * 3


def test_workers_convert_for_front_ends_one_step_apart_with_the_pseudonyms_of_the_front_ends_key(
    hub: Hub,
) -> None:
    tables = {step: hlo_stats(api, hub.redacted) for step, api in hub.fronts.items()}
    assert len(tables["before"]["rows"]) > 3
    assert tables["before"] == tables["listed"], "the key that is in use is the same"
    assert tables["used"] == tables["after"]
    assert tables["before"] != tables["used"], "another key, other pseudonyms"


def hlo_stats(api: Api, link: str) -> dict[str, list[object]]:
    address = f"{api.url}{link}{XPROF}/data?tag=hlo_stats&host=ALL_HOSTS"
    answer = httpx2.get(address, headers=DATA, timeout=120, trust_env=False)
    assert answer.status_code == 200, answer.text
    table: dict[str, list[object]] = answer.json()
    return table
