"""Members by the API, by commands and by the page: who gets a role, and that somebody stays admin."""

from __future__ import annotations

import re
import threading
from datetime import UTC, datetime

import pytest

from auth.identity import Role
from auth.members import member_id
from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.members import add_member, list_members, remove_member
from server.registry.pages import PageRequest
from server.routes import member_pages
from tests.contract.api_calls import authorize, error_of, fields_of
from tests.contract.browsing import location, signed_in
from tests.contract.commands import Commands
from tests.services.api import Api, ApiServers

ANN = "user:ann@example.org"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.fixture
def admin(guarded_api: Api) -> Api:
    """An API whose client calls as an admin."""
    authorize(guarded_api)
    return guarded_api


def add(api: Api, member: str, role: str = "viewer") -> dict[str, object]:
    answer = api.http.post("/members", json={"member": member, "role": role})
    assert answer.status_code == 200, answer.text
    made: dict[str, object] = answer.json()
    return made


def test_a_member_is_made_read_changed_and_deleted(admin: Api) -> None:
    made = add(admin, "Ann@Example.org", "editor")
    assert made["name"] == f"members/{member_id(ANN)}"
    assert (made["member"], made["role"], made["creator"]) == (ANN, "editor", "admin")
    path = f"/{made['name']}"
    read = admin.http.get(path)
    assert read.json() == made
    assert read.headers["etag"] == f'"{made["etag"]}"'
    changed = admin.http.patch(path, json={"role": "admin"}).json()
    assert changed["role"] == "admin"
    assert changed["etag"] != made["etag"]
    late = admin.http.patch(path, json={"role": "viewer", "etag": made["etag"]})
    assert error_of(late) == (409, "ABORTED")
    add(admin, "group:sre", "admin")
    late = admin.http.delete(path, headers={"If-Match": f'"{made["etag"]}"'})
    assert error_of(late) == (409, "ABORTED")
    assert admin.http.delete(path, params={"etag": changed["etag"]}).json() == {}
    assert error_of(admin.http.get(path)) == (404, "NOT_FOUND")
    assert error_of(admin.http.delete(path)) == (404, "NOT_FOUND")
    # Whoever comes back is another state than whoever was there.
    assert add(admin, ANN, "editor")["etag"] != made["etag"]


def test_members_are_listed_page_by_page(admin: Api) -> None:
    for number in range(5):
        add(admin, f"user:a{number}@example.org")
    found: list[str] = []
    token = ""
    while token or not found:
        page = admin.http.get("/members", params={"pageSize": 2, "pageToken": token}).json()
        found += [member["member"] for member in page["members"]]
        token = page["nextPageToken"]
    assert found == [f"user:a{number}@example.org" for number in reversed(range(5))]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"member": "ann", "role": "viewer"}, "member"),
        ({"member": "allUsers", "role": "viewer"}, "member"),
        ({"member": ANN, "role": "ingest"}, "role"),
        ({"member": ANN, "role": "owner"}, "role"),
        ({"member": ANN}, "role"),
        ({"role": "viewer"}, "member"),
        ({"member": ANN, "role": "viewer", "name": "x"}, "name"),
    ],
)
def test_what_is_no_member_is_refused_by_field(
    admin: Api, body: dict[str, str], field: str
) -> None:
    refused = admin.http.post("/members", json=body)
    assert error_of(refused) == (400, "INVALID_ARGUMENT")
    assert fields_of(refused) == [field]


def test_a_member_has_one_role(admin: Api) -> None:
    add(admin, ANN)
    again = admin.http.post("/members", json={"member": "ann@example.ORG", "role": "admin"})
    assert error_of(again) == (409, "ALREADY_EXISTS")
    path = f"/members/{member_id(ANN)}"
    assert error_of(admin.http.patch(path, json={"role": "ingest"})) == (400, "INVALID_ARGUMENT")
    other = admin.http.patch(path, json={"role": "editor"}, params={"updateMask": "member"})
    assert error_of(other) == (400, "INVALID_ARGUMENT")
    assert admin.http.get(path).json()["role"] == "viewer"


def test_the_last_admin_stays_one(admin: Api) -> None:
    """Unless a setting names one: nobody could let anybody in any more."""
    add(admin, ANN, "admin")
    path = f"/members/{member_id(ANN)}"
    for refused in (admin.http.delete(path), admin.http.patch(path, json={"role": "viewer"})):
        assert error_of(refused) == (400, "FAILED_PRECONDITION")
        assert "last admin" in refused.json()["error"]["message"]
    assert admin.http.patch(path, json={"role": "admin"}).status_code == 200
    add(admin, "group:sre", "admin")
    assert admin.http.patch(path, json={"role": "viewer"}).status_code == 200
    database = Database(admin.settings.resolved_database_url)
    group = member_id("group:sre")
    assert remove_member(database, group, etag=None, is_admin_set=True).role is Role.ADMIN


def test_of_two_admins_who_remove_each_other_one_stays(guarded_api: Api) -> None:
    database = Database(guarded_api.settings.resolved_database_url)
    for _ in range(10):
        ids = [
            add_member(database, f"user:{name}@example.org", Role.ADMIN, "test", NOW).id
            for name in ("ann", "bob")
        ]
        problems: list[RegistryProblem] = []
        start = threading.Barrier(2)

        def remove(
            member: str,
            problems: list[RegistryProblem] = problems,
            start: threading.Barrier = start,
        ) -> None:
            start.wait()
            try:
                remove_member(database, member, etag=None, is_admin_set=False)
            except RegistryError as error:
                problems.append(error.problem)

        threads = [threading.Thread(target=remove, args=(member,)) for member in ids]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert problems == [RegistryProblem.LAST_ADMIN]
        (left,) = list_members(database, PageRequest(10)).records
        remove_member(database, left.id, etag=None, is_admin_set=True)


def test_who_calls_is_told_his_id(admin: Api) -> None:
    caller = admin.http.get("/caller").json()
    assert (caller["name"], caller["role"]) == ("admin", "admin")
    assert caller["id"].startswith("token:")


def test_commands_do_the_same(api_servers: ApiServers) -> None:
    hub = Commands(api_servers.get("sqlite", "dev").url)
    assert hub.said("members", "add", "Ann@example.org", "--role", "admin") == (
        f"Added {ANN} as admin.\n"
    )
    assert hub.said("members", "add", "group:/team/perf") == "Added group:/team/perf as viewer.\n"
    hub.complaint("members", "add", ANN, status=6)
    assert "last admin" in hub.complaint("members", "remove", ANN)
    hub.said("members", "update", "group:/team/perf", "--role", "admin")
    assert hub.said("members", "update", ANN, "--role", "editor") == (
        f"{ANN} is editor from now on.\n"
    )
    listed = hub.json("members", "list")
    assert isinstance(listed, list)
    assert [(one["member"], one["role"]) for one in listed] == [
        ("group:/team/perf", "admin"),
        (ANN, "editor"),
    ]
    assert hub.said("members", "remove", member_id(ANN)) != ""
    assert len(hub.lines("members", "list")) == 2
    for change in (("remove", ANN), ("update", ANN, "--role", "viewer")):
        complaint = hub.complaint("members", *change, status=3)
        assert f"{ANN} has no role." in complaint
        assert "xprof-hub members list" in complaint


@pytest.mark.parametrize(
    "arguments", [("add", "ann"), ("add", ANN, "--role", "ingest"), ("remove", "role:admin")]
)
def test_commands_refuse_what_is_no_member(arguments: tuple[str, ...]) -> None:
    done = Commands("http://127.0.0.1:1").run("members", *arguments)
    assert done.exit_code == 2


def test_the_page_does_the_same(api_servers: ApiServers) -> None:
    api = api_servers.get("sqlite", "token")
    with signed_in(api, Role.ADMIN) as client:
        assert "Nobody has a role yet" in client.get("/admin/members").text
        form = {"member": "Ann@example.org", "role": "admin"}
        assert location(client.post("/admin/members", data=form)) == "/admin/members"
        group = {"member": "group:<b>sre</b>", "role": "viewer"}
        client.post("/admin/members", data=group)
        page = client.get("/admin/members").text
        assert '<bdi class="name">ann@example.org</bdi>' in page
        assert "&lt;b&gt;sre" in page
        place = f"/admin/members/{member_id(ANN)}"
        for path in (f"{place}/remove", place):
            refused = client.post(path, data={"role": "viewer"})
            assert refused.status_code == 400
            assert "is the last admin" in refused.text
        client.post(f"/admin/members/{member_id('group:<b>sre</b>')}", data={"role": "admin"})
        assert location(client.post(f"{place}/remove")) == "/admin/members"
        assert '<bdi class="name">ann@example.org</bdi>' not in client.get("/admin/members").text
        for wrong in ({"member": "ann", "role": "viewer"}, {"member": ANN, "role": "ingest"}, {}):
            again = client.post("/admin/members", data=wrong)
            assert again.status_code == 400
            assert 'role="alert"' in again.text


def test_the_page_goes_on_where_it_ended(
    api_servers: ApiServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(member_pages, "_PAGE_SIZE", 1)
    api = api_servers.get("sqlite", "token")
    with signed_in(api, Role.ADMIN) as client:
        for name in ("group:one", "group:two"):
            client.post("/admin/members", data={"member": name, "role": "viewer"})
        first = client.get("/admin/members").text
        (more,) = re.findall(r'rel="next" href="(/admin/members\?pageToken=[^"]+)"', first)
        rest = client.get(more).text
        for page, shown, hidden in ((first, "two", "one"), (rest, "one", "two")):
            assert f'<bdi class="name">{shown}</bdi>' in page
            assert f'<bdi class="name">{hidden}</bdi>' not in page
        assert 'rel="next"' not in rest
        assert client.get("/admin/members?pageToken=nonsense").status_code == 400


def test_only_admins_see_the_page(api_servers: ApiServers) -> None:
    api = api_servers.get("sqlite", "token")
    for role in (Role.VIEWER, Role.EDITOR):
        with signed_in(api, role) as client:
            assert client.get("/admin/members").status_code == 403
            form = {"member": ANN, "role": "admin"}
            assert client.post("/admin/members", data=form).status_code == 403
    database = Database(api.settings.resolved_database_url)
    assert list_members(database, PageRequest(10)).records == ()
