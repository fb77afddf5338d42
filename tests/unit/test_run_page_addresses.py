"""The query of the list of runs: whatever an address holds there is a page, and addresses lead back to it."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlsplit

import pytest
from starlette.datastructures import QueryParams

from server.registry.conditions import Compare
from server.registry.records import RunState
from server.registry.run_lists import RunOrder
from server.run_pages.addresses import ReadChoice, RunChoice, read_choice

EVERYTHING = (
    "q=two+words&group=a%26b&state=FAILED&framework=jax&owner=ann&label=team%3Dperf&label=gpu"
    "&since=2026-11-01&until=2026-11-30&filter=runSet+%3D+%22x%22&sort=-name&page=3"
)


def read(query: str) -> ReadChoice:
    return read_choice(QueryParams(query))


def test_an_address_is_read_and_written_alike() -> None:
    found = read(EVERYTHING)
    assert found.problems == {}
    assert found.choice.address("/hub/runs") == f"/hub/runs?{EVERYTHING}"
    assert read(urlsplit(found.choice.address("/runs")).query) == found


def test_the_query_means_what_the_address_says() -> None:
    query = read(EVERYTHING).query
    assert query.words == ("two", "words")
    assert query.group == "a&b"
    assert query.state is RunState.FAILED
    assert query.framework == "jax"
    assert query.owner == "ann"
    assert query.labels == (("team", "perf"), ("gpu", ""))
    assert query.since == datetime(2026, 11, 1, tzinfo=UTC)
    assert query.until == datetime(2026, 12, 1, tzinfo=UTC)
    assert isinstance(query.condition, Compare)
    assert (query.order, query.reverse, query.page) == (RunOrder.NAME, True, 3)


def test_what_a_form_sends_empty_is_nothing() -> None:
    found = read("q=&group=&state=&framework=&owner=&label=&since=&until=&filter=&sort=newest")
    assert found.choice == RunChoice()
    assert found.choice.address("/runs") == "/runs"
    assert not found.choice.is_narrowed
    assert found.query == read("").query


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("state=SLEEPING", "state"),
        ("since=yesterday", "since"),
        ("until=2026-02-30", "until"),
        ("until=9999-12-31", "until"),
        ("since=0001-01-01", "since"),
        ("since=2026-11-30&until=2026-11-29", "until"),
        ("filter=runSet+%3D", "filter"),
        ("filter=nothing+%3D+1", "filter"),
    ],
)
def test_what_cannot_be_meant_is_said_beside_its_field(query: str, field: str) -> None:
    found = read(query)
    assert set(found.problems) == {field}
    assert found.problems[field].endswith(".")
    # What was typed stays, so that it can be put right.
    assert found.choice.address("/runs") == f"/runs?{query}"


@pytest.mark.parametrize(
    ("query", "page"), [("page=0", 1), ("page=-4", 1), ("page=x", 1), ("page=9" + "9" * 30, 1)]
)
def test_a_page_that_is_none_is_the_first(query: str, page: int) -> None:
    assert read(query).choice.page == page
    assert read("page=%D9%A3").choice.page == 1


def test_nothing_that_a_database_cannot_hold_gets_through() -> None:
    found = read("q=a%00b%0Ac&group=%00&owner=%ED%A0%80x&label=a%22b%3D1&label=%3D1&label=ok%3D%00")
    assert found.query.words == ("a", "b", "c")
    assert found.query.group == ""
    assert "\x00" not in found.query.owner
    assert found.query.labels == (("ok", ""),)


def test_long_texts_and_many_labels_have_an_end() -> None:
    labels = "&".join(f"label=k{number}" for number in range(100))
    found = read(f"q={'x ' * 5000}&group={'g' * 5000}&filter={'f' * 5000}&{labels}")
    assert len(found.query.words) == 8
    assert len(found.query.group) == 500
    assert len(found.choice.filter) == 2000
    assert len(found.query.labels) == 8


def test_one_pair_is_taken_away_and_the_rest_stays() -> None:
    choice = read(EVERYTHING).choice
    shorter = urlsplit(choice.address_without("/runs", "label", "gpu")).query
    wanted = [
        pair for pair in parse_qsl(EVERYTHING) if pair not in {("label", "gpu"), ("page", "3")}
    ]
    assert parse_qsl(shorter) == wanted


def test_the_panel_counts_what_stands_in_it() -> None:
    assert read("q=x&state=FAILED&sort=name").choice.panel_count == 0
    assert read(EVERYTHING).choice.panel_count == 8
