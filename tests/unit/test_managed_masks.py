"""Updates of the managed API's messages: `*`, no mask, and paths in both spellings."""

from __future__ import annotations

import pytest

from server.http.errors import ApiError
from server.managed.masks import Rules, updated
from server.managed.shapes import RUN
from server.registry.records import Json

RULES = Rules(RUN, frozenset({"name", "etag", "state"}))
OLD: dict[str, Json] = {
    "displayName": "old",
    "runSet": "s",
    "labels": {"a": "1", "b": "2"},
    "configs": {"userConfigs": {"x_y": "1"}, "softwareConfigs": {"z": "2"}},
    "newField": 1,
}


def test_a_star_replaces_all_but_what_the_server_sets() -> None:
    sent: dict[str, Json] = {"displayName": "new", "etag": "e", "name": "n", "other": 2}
    assert updated(OLD, sent, "*", RULES) == {"displayName": "new", "other": 2}


def test_without_a_mask_what_was_sent_is_changed() -> None:
    assert updated(OLD, {"displayName": "new", "etag": "e"}, "", RULES) == {
        **OLD,
        "displayName": "new",
    }


@pytest.mark.parametrize(
    "mask", ["displayName,runSet", "display_name,run_set", "run_set, displayName"]
)
def test_what_is_named_and_not_sent_is_taken_out(mask: str) -> None:
    sent: dict[str, Json] = {"displayName": "new", "labels": {}}
    left = {key: value for key, value in OLD.items() if key != "runSet"}
    assert updated(OLD, sent, mask, RULES) == {**left, "displayName": "new"}


@pytest.mark.parametrize("mask", ["configs.user_configs.x_y", "configs.userConfigs.x_y"])
def test_parts_are_found_in_both_spellings_and_keys_as_they_are(mask: str) -> None:
    sent: dict[str, Json] = {"configs": {"userConfigs": {"x_y": "new", "more": "3"}}}
    assert updated(OLD, sent, mask, RULES)["configs"] == {
        "userConfigs": {"x_y": "new"},
        "softwareConfigs": {"z": "2"},
    }


def test_a_key_of_a_map_may_hold_what_it_likes() -> None:
    sent: dict[str, Json] = {"labels": {"created_by": "me"}}
    assert updated(OLD, sent, "labels.created_by", RULES)["labels"] == {
        "a": "1",
        "b": "2",
        "created_by": "me",
    }


def test_fields_that_the_api_does_not_name_can_be_masked_too() -> None:
    assert updated(OLD, {"newField": 2}, "new_field", RULES) == {**OLD, "newField": 2}


def test_fields_that_only_the_server_sets_stay() -> None:
    assert updated(OLD, {"state": "x", "runSet": "t"}, "state,etag,run_set", RULES) == {
        **OLD,
        "runSet": "t",
    }


def test_a_field_that_is_nowhere_is_named() -> None:
    with pytest.raises(ApiError) as refused:
        updated(OLD, {}, "colour", RULES)
    assert refused.value.details[0]["field"] == "updateMask"
    assert "colour" in refused.value.message
