"""Operations through the API, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from server.registry.database import Database
from server.registry.operations import add_operation
from tests.contract.api_calls import error_of
from tests.services.api import Api

PARENT = "projects/p/locations/l"
NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def test_operations_of_all_locations_are_listed_newest_first(api: Api) -> None:
    database = Database(api.settings.resolved_database_url)
    target = f"{PARENT}/machineLearningRuns/r"
    made = add_operation(database, parent=PARENT, verb="create", target=target, now=NOW)
    later = add_operation(
        database,
        parent="projects/q/locations/l",
        verb="update",
        target="x",
        now=NOW + timedelta(seconds=1),
    )
    database.close()
    shown = {
        "name": f"operations/{made.id}",
        "parent": PARENT,
        "verb": "create",
        "target": target,
        "done": True,
        "createTime": "2026-01-31T12:00:00Z",
    }
    assert api.http.get(f"/operations/{made.id}").json() == shown
    newest, oldest = api.http.get("/operations").json()["operations"]
    assert (newest["name"], newest["verb"]) == (f"operations/{later.id}", "update")
    assert oldest == shown
    first = api.http.get("/operations", params={"pageSize": 1}).json()
    rest = api.http.get("/operations", params={"pageToken": first["nextPageToken"]}).json()
    assert (first["operations"], rest["operations"]) == ([newest], [oldest])


def test_an_operation_that_is_not_there_says_how_long_it_is_kept(api: Api) -> None:
    answer = api.http.get("/operations/x")
    assert error_of(answer) == (404, "NOT_FOUND")
    assert "kept a day" in answer.json()["error"]["message"]
