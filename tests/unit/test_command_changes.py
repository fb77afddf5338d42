"""`--set`, `--unset` and `--label`: what they mean as a body and a mask."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import typer
from pydantic import JsonValue

from server.commands.changes import read_changes
from server.schemas import Run, Session


@pytest.mark.parametrize(
    ("sets", "body", "mask"),
    [
        (["displayName=a=b"], {"displayName": "a=b"}, ["displayName"]),
        (["display_name=5"], {"displayName": "5"}, ["display_name"]),
        (["state=COMPLETED"], {"state": "COMPLETED"}, ["state"]),
        (["configs.batch=64"], {"configs": {"batch": 64}}, ["configs.batch"]),
        (["configs.a.b=[1, true]"], {"configs": {"a": {"b": [1, True]}}}, ["configs.a.b"]),
        (["configs.name=llama 8B"], {"configs": {"name": "llama 8B"}}, ["configs.name"]),
        (['configs.name="64"'], {"configs": {"name": "64"}}, ["configs.name"]),
        (["configs.x="], {"configs": {"x": ""}}, ["configs.x"]),
        (['configs={"a": 1}'], {"configs": {"a": 1}}, ["configs"]),
        (["labels.step=5"], {"labels": {"step": "5"}}, ["labels.step"]),
        (["labels.`a.b`=5"], {"labels": {"a.b": "5"}}, ["labels.`a.b`"]),
        (
            ["configs.a=1", "configs.b=2"],
            {"configs": {"a": 1, "b": 2}},
            ["configs.a", "configs.b"],
        ),
    ],
)
def test_a_path_and_a_value(
    sets: Sequence[str], body: dict[str, JsonValue], mask: list[str]
) -> None:
    run, found = read_changes(Run, {}, sets)
    assert run.model_dump(mode="json", exclude_unset=True) == body
    assert found == mask


def test_options_of_their_own_come_first() -> None:
    run, mask = read_changes(
        Run, {"displayName": "x", "runSet": ""}, [], ["configs.a"], ["team=perf", "a.b=c=d"]
    )
    assert run.model_dump(mode="json", exclude_unset=True) == {
        "displayName": "x",
        "labels": {"team": "perf", "a.b": "c=d"},
    }
    assert mask == ["displayName", "labels.team", "labels.`a.b`", "configs.a"]


def test_numbers_are_read_where_the_field_is_one() -> None:
    session, _ = read_changes(Session, {}, ["expectedHosts=4"])
    assert session.expected_hosts == 4


@pytest.mark.parametrize(
    ("sets", "labels", "word"),
    [
        (["displayNam=x"], [], "displayNam"),
        (["state=SLEEPING"], [], "state"),
        (["=x"], [], "PATH=VALUE"),
        (["displayName"], [], "PATH=VALUE"),
        (["configs..a=1"], [], "PATH=VALUE"),
        (["configs.a=1", "configs.a.b=1"], [], "twice"),
        ([], ["team"], "KEY=VALUE"),
        ([], ["=perf"], "KEY=VALUE"),
    ],
)
def test_what_is_not_understood_is_named(
    sets: Sequence[str], labels: Sequence[str], word: str
) -> None:
    with pytest.raises(typer.BadParameter, match=word):
        read_changes(Run, {}, sets, labels=labels)
