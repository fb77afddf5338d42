"""How filters are written, and what is said of those that are wrong (AIP-160, docs/api.md)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from server.filters import RUN_FIELDS, SESSION_FIELDS, read_filter
from server.http.errors import ApiError
from server.registry.conditions import (
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Matches,
    Not,
    Operator,
    Present,
    Subject,
)


def equal(field: str, value: str | float | bool | datetime, *path: str) -> Compare:
    return Compare(Subject(field, path), Operator.EQUAL, value)


A, B, C = (equal("run_set", value) for value in "abc")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("runSet=a", A),
        ("run_set = 'a'", A),
        ('runSet="a" AND runSet=b', AllOf((A, B))),
        ("runSet=a OR runSet=b", AnyOf((A, B))),
        # OR binds closer than AND.
        ("runSet=a AND runSet=b OR runSet=c", AllOf((A, AnyOf((B, C))))),
        ("runSet=a OR runSet=b AND runSet=c", AllOf((AnyOf((A, B)), C))),
        ("(runSet=a AND runSet=b) OR runSet=c", AnyOf((AllOf((A, B)), C))),
        ("NOT runSet=a", Not(A)),
        ("-runSet=a", Not(A)),
        ("-(runSet=a OR runSet=b)", Not(AnyOf((A, B)))),
        ("runSet!=a", Not(A)),
        ('displayName = "x AND y"', equal("display_name", "x AND y")),
        (r'runSet = "a \"b\" \\ \* \u00fc \ud83d\ude00"', equal("run_set", 'a "b" \\ * ü \U0001f600')),
        ("displayName = llama*", Matches(Subject("display_name"), ("llama", ""))),
        ('displayName = "*8B*"', Matches(Subject("display_name"), ("", "8B", ""))),
        ("displayName:8B", Matches(Subject("display_name"), ("", "8B", ""))),
        ("displayName:*", Present(Subject("display_name"))),
        ("name = machineLearningRuns/r1", equal("id", "r1")),
        ("state = failed", equal("state", "FAILED")),
        ("labels.team=perf", equal("labels", "perf", "team")),
        ('labels."a.b c" = "v"', equal("labels", "v", "a.b c")),
        ("labels:team", Present(Subject("labels", ("team",)))),
        ("labels.team:*", Present(Subject("labels", ("team",)))),
        ("orchestrator=GKE", equal("workload", "GKE", "orchestrator")),
        ('configs.a.b = "64"', equal("configs", "64", "a", "b")),
        ("configs.a = 64", AnyOf((equal("configs", "64", "a"), equal("configs", 64.0, "a")))),
        ("configs.a = true", AnyOf((equal("configs", "true", "a"), equal("configs", True, "a")))),
        ("configs.a > 2", Compare(Subject("configs", ("a",)), Operator.GREATER, 2.0)),
        ('configs.a > "2"', Compare(Subject("configs", ("a",)), Operator.GREATER, "2")),
    ],
)  # fmt: skip
def test_a_filter_means(text: str, expected: Condition) -> None:
    assert read_filter(text, RUN_FIELDS) == expected


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-31T13:00:00+01:00",
        '"2026-01-31T12:00:00Z"',
        "2026-01-31T12:00:00.000000Z",
        '"2026-01-31 12:00:00Z"',
    ],
)
def test_a_moment_is_one_in_any_spelling(text: str) -> None:
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert read_filter(f"createTime = {text}", RUN_FIELDS) == equal("created", noon)


def test_a_date_is_its_first_moment() -> None:
    midnight = datetime(2026, 1, 31, tzinfo=UTC)
    expected = Compare(Subject("ended"), Operator.GREATER_OR_EQUAL, midnight)
    assert read_filter("endTime >= 2026-01-31", RUN_FIELDS) == expected


def test_sessions_have_fields_of_their_own() -> None:
    expected = AllOf((equal("kind", "SCANNED"), equal("attempt", 2.0)))
    assert read_filter("kind = SCANNED AND attempt = 2", SESSION_FIELDS) == expected
    with pytest.raises(ApiError, match="no field 'kind'"):
        read_filter("kind = SCANNED", RUN_FIELDS)


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_an_empty_filter_asks_for_nothing(text: str) -> None:
    assert read_filter(text, RUN_FIELDS) is None


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("llama", 6, "one of ="),
        ("runSet", 7, "one of ="),
        ("runSet =", 9, "a value"),
        ("runSet = a runSet = b", 12, "AND, OR"),
        ("runSet = a AND", 15, "a condition"),
        ("AND runSet = a", 1, "a condition"),
        ("NOT NOT runSet = a", 5, "a condition"),
        ("(runSet = a", 12, "AND, OR or )"),
        ("runSet = a)", 11, "AND, OR"),
        ("runSet = (a)", 10, "a value"),
        ('runSet = "a', 10, "no end"),
        (r'runSet = "\x"', 11, "backslash"),
        (r'runSet = "\u0000"', 10, "control"),
        (r'runSet = "\ud800"', 10, "control"),
        ("runSet == a", 9, "a value"),
        ("size > 1", 1, "no field 'size'"),
        ("runSet.x = a", 1, "no parts"),
        ("labels = a", 8, "labels.KEY"),
        ("labels. = a", 8, "next part"),
        (r'labels."a\"b" = c', 8, "quotes"),
        ("runSet < a*", 10, "with *"),
        ("state = DONE", 9, "ACTIVE"),
        ("state < ACTIVE", 7, "!= = :"),
        ("createTime > yesterday", 14, "a moment"),
        ("createTime > 2026-01-31T12:00:00", 14, "zone"),
        ("createTime > 0001-01-01T00:00:00+23:00", 14, "a moment"),
        ("createTime:2026", 11, ":*"),
        ("runSet = a*b*c*d*e*f", 10, "4 stars"),
        ("runSet = " + "a" * 2000, 2001, "2000 characters"),
        ("(" * 17 + "runSet = a" + ")" * 17, 17, "16 deep"),
        (" AND ".join(["runSet=a"] * 51), 651, "50 conditions"),
        ("labels" + ".a" * 17 + " = 1", 1, "17 parts"),
    ],
)
def test_what_is_no_filter_is_told_with_its_place(text: str, position: int, words: str) -> None:
    with pytest.raises(ApiError) as caught:
        read_filter(text, RUN_FIELDS)
    (detail,) = caught.value.details
    assert (detail["field"], detail["position"]) == ("filter", str(position))
    assert words in detail["description"]
    assert caught.value.message == f"filter: At character {position}: {detail['description']}"
    assert caught.value.answer.http == 400


def test_an_attempt_is_a_number() -> None:
    for text in ("attempt = x", "attempt = 1e999", "attempt = nan"):
        with pytest.raises(ApiError, match="number"):
            read_filter(text, SESSION_FIELDS)
