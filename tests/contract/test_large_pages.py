"""A page of a list has an end in bytes, too: a thousand runs of a megabyte each are not answered at once."""

from __future__ import annotations

import pytest

from server.registry.pages import MOST_BYTES
from tests.services.api import Api

RUNS = "/machineLearningRuns"
EACH = 900_000


@pytest.mark.parametrize("place", ["/v1", "/v1alpha/projects/-/locations/-"])
def test_a_page_ends_before_it_is_too_large_and_nothing_is_lost(api: Api, place: str) -> None:
    names = {f"r{number}" for number in range(2 * MOST_BYTES // EACH)}
    for name in names:
        answer = api.http.patch(RUNS, json={"logicalId": name, "configs": {"k": "x" * EACH}})
        assert answer.status_code == 200
    found: list[str] = []
    token, pages = "", 0
    while token or not pages:
        query = {"pageSize": "1000", "pageToken": token}
        answer = api.http.get(f"{api.url}{place}{RUNS}", params=query)
        assert answer.status_code == 200, answer.text
        assert len(answer.content) < MOST_BYTES + 2 * EACH
        found += [run["name"].rpartition("/")[2] for run in answer.json()["machineLearningRuns"]]
        token, pages = answer.json().get("nextPageToken", ""), pages + 1
    assert sorted(found) == sorted(names)
    assert pages == 2
