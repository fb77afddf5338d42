"""Which parts of a resource an update changes, as AIP-134 and AIP-161 have it."""

from __future__ import annotations

import pytest

from server.http.errors import ApiError
from server.http.limited_body import MAX_BODY_BYTES
from server.http.masks import Document, Mask, changed_document, merged_document, read_mask

FIELDS = frozenset({"display_name", "labels", "configs"})
DOCUMENTS = frozenset({"labels", "configs"})


def mask(text: str, *sent: str) -> Mask:
    return read_mask(text, fields=FIELDS, documents=DOCUMENTS, sent=sent)


def test_fields_are_named_in_either_spelling() -> None:
    assert mask("displayName").paths == {("display_name",)}
    assert mask("display_name, labels").paths == {("display_name",), ("labels",)}
    assert mask("*").paths == {(name,) for name in FIELDS}
    assert mask("", "labels", "etag").paths == {("labels",)}


def test_keys_are_taken_as_they_stand() -> None:
    found = mask("labels.myTeam,configs.user_Configs.a,labels.`a.b, c`").paths
    assert found == {("labels", "myTeam"), ("configs", "user_Configs", "a"), ("labels", "a.b, c")}


@pytest.mark.parametrize(
    "text",
    [
        "uid",
        "displayName,",
        ",labels",
        "labels.",
        "labels..a",
        "displayName.x",
        "nothing",
        "labels.`a",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ApiError, match="updateMask"):
        mask(text)


@pytest.mark.parametrize("start", ["", "labels", "labels,", "labels.", "`a` "])
def test_no_mask_takes_longer_than_it_is(start: str) -> None:
    # With any other than linear time this would take days, and nothing else of a front end would go on.
    with pytest.raises(ApiError):
        mask(start + " " * 60_000 + "`")


def test_a_mask_has_an_end() -> None:
    with pytest.raises(ApiError, match="200"):
        mask(",".join(f"labels.k{number}" for number in range(201)))


def test_a_path_changes_what_it_names_and_nothing_else() -> None:
    old: Document = {"a": {"x": 1, "y": 2}, "b": 3}
    body: Document = {"a": {"x": 10, "y": 20}, "b": 30}
    changed = changed_document("configs", old, body, mask("configs.a.x"))
    assert changed == {"a": {"x": 10, "y": 2}, "b": 3}
    assert old == {"a": {"x": 1, "y": 2}, "b": 3}


def test_a_path_that_the_body_lacks_is_taken_out() -> None:
    old: Document = {"a": {"x": 1, "y": 2}, "b": 3}
    assert changed_document("configs", old, {}, mask("configs.a.x")) == {"a": {"y": 2}, "b": 3}
    assert changed_document("configs", old, {}, mask("configs.b,configs.c.d")) == {
        "a": {"x": 1, "y": 2}
    }


def test_a_path_makes_the_objects_on_its_way() -> None:
    body: Document = {"a": {"x": {"y": 1}}}
    assert changed_document("configs", {"a": 5}, body, mask("configs.a.x.y")) == body


def test_a_document_that_is_not_named_stays() -> None:
    assert changed_document("labels", {"a": 1}, {"a": 2}, mask("configs,displayName")) is None


def test_small_changes_do_not_add_up_without_end() -> None:
    old: Document = {"a": "x" * MAX_BODY_BYTES}
    with pytest.raises(ApiError, match="configs"):
        changed_document("configs", old, {"b": 1}, mask("configs.b"))


def test_documents_are_merged_at_every_depth() -> None:
    old: Document = {"h0": {"state": "ACTIVE", "times": {"start": 1}}, "h1": {"state": "ACTIVE"}}
    new: Document = {"h0": {"times": {"end": 2}, "state": "DONE"}, "h2": {}}
    assert merged_document(old, new) == {
        "h0": {"state": "DONE", "times": {"start": 1, "end": 2}},
        "h1": {"state": "ACTIVE"},
        "h2": {},
    }


@pytest.mark.parametrize("name", ["xph_Chh6neL5-yD_x", "Display_Name", "some_name", "éa_B"])
def test_a_wrong_name_is_told_as_it_was_sent(name: str) -> None:
    with pytest.raises(ApiError) as refused:
        mask(name)
    # Spelled anew, a token would pass for something else and not be redacted.
    assert f"{name!r} can't be changed" in refused.value.message
