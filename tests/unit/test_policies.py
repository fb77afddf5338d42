"""What our pages may load (nothing of others, no text as code), and who may show them in a frame."""

from __future__ import annotations

from typing import get_args

import pytest

from server.ui.policies import DATA_POLICY, PageKind, Policies

WIKI = "https://wiki.example"


def directives(policy: str) -> dict[str, str]:
    """A policy's directives with their values."""
    return {name: value for name, _, value in (part.partition(" ") for part in policy.split("; "))}


@pytest.mark.parametrize("kind", get_args(PageKind))
def test_policies_allow_no_other_host_no_eval_and_no_inline_script(kind: PageKind) -> None:
    policy = directives(Policies().of(kind))
    assert policy["default-src"] == "'none'"
    assert policy["form-action"] == ("'self'" if kind in {"form", "site", "unlock"} else "'none'")
    for directive, sources in policy.items():
        allowed = {"'none'", "'self'", "data:", "blob:", "'wasm-unsafe-eval'"}
        if directive == "style-src":
            allowed.add("'unsafe-inline'")
        assert set(sources.split()) <= allowed, directive


def test_what_names_no_other_policy_is_sandboxed() -> None:
    assert Policies(WIKI).of("data") == DATA_POLICY
    assert directives(DATA_POLICY)["sandbox"] == ""


@pytest.mark.parametrize(
    ("ancestors", "around_the_page", "around_its_frames"),
    [
        ("'self'", "'self'", "'self'"),
        # The frames inside XProf's page are shown by that page, whoever may show the page.
        ("'none'", "'none'", "'self'"),
        (WIKI, WIKI, f"'self' {WIKI}"),
        (f"'self' {WIKI}", f"'self' {WIKI}", f"'self' {WIKI}"),
    ],
)
def test_who_may_show_pages_in_a_frame(
    ancestors: str, around_the_page: str, around_its_frames: str
) -> None:
    found = {
        kind: directives(Policies(ancestors).of(kind))["frame-ancestors"]
        for kind in get_args(PageKind)
    }
    assert found == {
        "index": around_the_page,
        "message": around_the_page,
        "unlock": around_the_page,
        "trace": around_its_frames,
        "graph": around_its_frames,
        "words": "'none'",
        "form": "'none'",
        "site": "'none'",
        "data": "'none'",
    }


def test_a_form_may_lead_to_the_content_host_and_nothing_else_sends_one() -> None:
    content = "https://content.example"
    found = {
        kind: directives(Policies(content_url=content).of(kind))["form-action"]
        for kind in get_args(PageKind)
    }
    assert found.pop("form") == f"'self' {content}"
    assert found.pop("site") == f"'self' {content}"
    # It stands below the link that it opens, and leads there.
    assert found.pop("unlock") == "'self'"
    assert set(found.values()) == {"'none'"}
