"""Members: how they are written, who is one, and which role counts."""

from __future__ import annotations

import pytest

from auth.identity import Principal, Role
from auth.members import (
    KnownPerson,
    Membership,
    member_id,
    principal_of_person,
    read_member,
)

ANN = KnownPerson("ann@example.org", "Ann", ("sre", "/team/perf"))


@pytest.mark.parametrize(
    ("text", "member"),
    [
        ("user:ann@example.org", "user:ann@example.org"),
        (" Ann@Example.ORG ", "user:ann@example.org"),
        ("group:SRE", "group:SRE"),
        ("group:/team/perf: a", "group:/team/perf: a"),
        ("domain:Example.org", "domain:example.org"),
        ("domain:@example.org", "domain:example.org"),
    ],
)
def test_a_member_has_one_spelling(text: str, member: str) -> None:
    assert read_member(text) == member
    assert read_member(member) == member


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ann",
        "user:",
        "user:ann",
        "user:@example.org",
        "user:a@b@example.org",
        'user:"x@evil.example"@example.org',
        "user:ann@",
        "user:an n@example.org",
        "user:ann@example.org\n",
        "user:ann@ex\u200bample.org",
        "user:\u212aate@example.org",
        "user:kate@\u212aorp.example",
        "role:admin",
        "allUsers",
        "token:1234",
        "domain:",
        "domain:*",
        "domain:a@b",
        "group: ",
        "group:" + "x" * 500,
    ],
)
def test_nothing_else_is_one(text: str) -> None:
    if text.endswith("\n"):
        # Blanks around are typing; a line break within is not.
        text = text.replace("@", "\n@")
    with pytest.raises(ValueError, match=r"[a-z]+"):
        read_member(text)


def test_the_greatest_role_counts() -> None:
    memberships = [
        Membership("domain:example.org", Role.VIEWER),
        Membership("group:/team/perf", Role.ADMIN),
        Membership("user:ann@example.org", Role.EDITOR),
    ]
    for some in (memberships, memberships[::-1]):
        assert principal_of_person(ANN, some, ()) == Principal(
            "ann@example.org", Role.ADMIN, "user:ann@example.org"
        )


@pytest.mark.parametrize(
    "member",
    [
        "user:bob@example.org",
        "user:ann@example.org.evil.example",
        "domain:org",
        "domain:sub.example.org",
        "domain:ample.org",
        "group:SRE",
        "group:perf",
        "user:sre",
        "group:ann@example.org",
    ],
)
def test_other_members_give_no_role(member: str) -> None:
    assert principal_of_person(ANN, [Membership(member, Role.ADMIN)], {member}) is None


@pytest.mark.parametrize("member", ["user:ann@example.org", "group:sre", "domain:example.org"])
def test_a_setting_makes_admins(member: str) -> None:
    principal = principal_of_person(ANN, [Membership("group:sre", Role.VIEWER)], {member})
    assert principal is not None
    assert principal.role is Role.ADMIN


def test_nobody_has_a_role_by_being_known() -> None:
    assert principal_of_person(ANN, (), ()) is None


def test_ids_are_fit_for_paths_and_differ() -> None:
    ids = {member_id(member) for member in ("user:a@b.c", "group:a@b.c", "group:a/b", "group:a")}
    assert len(ids) == 4
    assert all(text.isalnum() and text.isascii() for text in ids)
