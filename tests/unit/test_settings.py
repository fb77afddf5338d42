"""Settings as people write them: lists, home directories, and what must not start."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from server.fleet.local_worker import environment_of
from server.secret_strength import weakness_of
from server.settings import Settings
from server.start_checks import problems_of_settings

OURS = "qU3uZ0n8T1vXw5yB7cD9eF2gH4jK6mPr"
"""A secret key that is just as long as one has to be."""
ROOTS = ("/data/a, b", " /blanks ", 'gs://bucket/"quoted"', "gs://bucket/[x]", "/data/ü")
"""Names that separate, surround or start a list somewhere."""


def test_a_list_is_separated_by_commas_and_blanks_are_dropped() -> None:
    settings = Settings.model_validate({"storage_roots": " gs://a/b , /data,, "})
    assert settings.storage_roots == ("gs://a/b", "/data")


def test_a_json_list_keeps_its_texts_as_they_are() -> None:
    text = ' ["/data/a, b", " /blanks ", ""]'
    assert Settings.model_validate({"storage_roots": text}).storage_roots == (
        "/data/a, b",
        " /blanks ",
    )


@pytest.mark.parametrize("text", ["[/data]", '["a"', "[1]", '[["a"]]'])
def test_a_list_in_brackets_must_be_one_of_texts(text: str) -> None:
    with pytest.raises(ValidationError, match="a list in brackets"):
        Settings.model_validate({"storage_roots": text})


def test_settings_survive_the_way_through_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings.model_validate(
        {"storage_roots": ROOTS, "workers": ("http://a:1", "http://b:2"), "secret_key": "s, [x"}
    )
    for name, value in environment_of(settings).items():
        monkeypatch.setenv(name, value)
    assert Settings() == settings


def test_a_tilde_is_the_home_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = Settings.model_validate(
        {"data_dir": "~/data", "cache_root": "~/cache", "asset_cache": "~/assets"}
    )
    assert settings.data_dir == tmp_path / "data"
    assert settings.resolved_cache_root == str(tmp_path / "cache")
    assert settings.resolved_asset_cache == tmp_path / "assets"


def test_a_bucket_has_no_home_directory() -> None:
    settings = Settings.model_validate({"cache_root": "gs://bucket/~/x"})
    assert settings.resolved_cache_root == "gs://bucket/~/x"


def test_static_files_lie_in_no_bucket() -> None:
    with pytest.raises(ValidationError, match="gs://bucket/x: this has to be a directory"):
        Settings.model_validate({"asset_cache": "gs://bucket/x"})


def test_a_home_that_nobody_has_is_refused() -> None:
    with pytest.raises(ValidationError, match="no such home"):
        Settings.model_validate({"data_dir": "~nobody-of-this-name/x"})


@pytest.mark.parametrize(
    ("changes", "at_fault"),
    [
        ({}, []),
        ({"base_url": "http://hub.internal:8080"}, []),
        ({"base_url": ""}, ["BASE_URL"]),
        ({"base_url": "xprof.example.org"}, ["BASE_URL"]),
        ({"secret_key": "change-me"}, ["SECRET_KEY"]),
        ({"secret_key": ""}, ["SECRET_KEY"]),
        ({"secret_key": OURS[:31]}, ["SECRET_KEY"]),
        ({"secret_key": OURS[:32]}, []),
        ({"secret_key": "abcdefg" * 10}, ["SECRET_KEY"]),
        ({"old_secret_keys": OURS[:31]}, ["OLD_SECRET_KEYS:"]),
        ({"old_secret_keys": f"{OURS[::-1]},x{OURS}"}, []),
        ({"old_secret_keys": f"short,{OURS[::-1]},none"}, ["OLD_SECRET_KEYS:"] * 2),
        ({"auth": "dev"}, ["AUTH"]),
        ({"database_url": ""}, ["DATABASE_URL"]),
    ],
)
def test_production_needs_what_strangers_could_otherwise_abuse(
    changes: dict[str, str], at_fault: list[str]
) -> None:
    complete = {
        "base_url": "https://xprof.example.org",
        "secret_key": OURS,
        "auth": "token",
        "database_url": "postgresql://db/hub",
    }
    settings = Settings.model_validate({**complete, **changes})
    problems = settings.problems_in_production()
    assert [line.split(" ")[0] for line in problems] == [f"XPROF_HUB_{name}" for name in at_fault]
    # A worker makes no links and has neither callers nor a database.
    of_worker = {**changes, "environment": "production", "base_url": "", "database_url": ""}
    worker = Settings.model_validate({"secret_key": OURS, **of_worker})
    assert problems_of_settings(worker, "worker") == [line for line in problems if "KEY" in line]


@pytest.mark.parametrize("key", ["correct horse battery staple", "x" * 99])
def test_who_has_a_weak_key_is_told_how_to_make_another_but_not_which_it_was(key: str) -> None:
    (line,) = Settings.model_validate({"secret_key": key}).problems_with_secrets()
    assert "openssl rand -base64 32" in line
    assert key not in line


def test_what_our_guides_make_is_strong_enough() -> None:
    for _ in range(200):
        made = base64.b64encode(os.urandom(32)).decode(), os.urandom(16).hex()
        assert [weakness_of(key) for key in made] == [None, None]


@pytest.mark.parametrize(
    ("roots", "data_dir", "cache_root", "at_fault"),
    [
        ("/profiles", "/profiles/hub", "", ["DATA_DIR"]),
        ("/profiles", "/profiles", "", ["DATA_DIR"]),
        ("/profiles", "/data", "/profiles/x/cache", ["CACHE_ROOT"]),
        ("/profiles,/", "/data", "", ["DATA_DIR"]),
        ("gs://b/p", "/data", "gs://b/p/cache", ["CACHE_ROOT"]),
        ("gs://b/p/", "/data", "gs://b/p", ["CACHE_ROOT"]),
        ("gs://b", "/data", "gs://b/cache", ["CACHE_ROOT"]),
        # Neighbours, however alike, and folders that profiles lie in.
        ("/profiles", "/profiles-data", "/profiles2", []),
        ("gs://b/p", "/data", "gs://b/p-cache", []),
        ("gs://b/p", "/data", "gs://b", []),
        ("/data/profiles", "/data", "", []),
    ],
)
def test_own_folders_may_not_lie_in_a_storage_root(
    roots: str, data_dir: str, cache_root: str, at_fault: list[str]
) -> None:
    settings = Settings.model_validate(
        {"storage_roots": roots, "data_dir": data_dir, "cache_root": cache_root}
    )
    problems = settings.problems_with_folders()
    assert [line.split(" ")[0] for line in problems] == [f"XPROF_HUB_{name}" for name in at_fault]


def test_a_link_into_a_storage_root_is_seen_through(tmp_path: Path) -> None:
    (tmp_path / "profiles").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "profiles")
    settings = Settings.model_validate(
        {"storage_roots": str(tmp_path / "profiles"), "data_dir": str(tmp_path / "link" / "hub")}
    )
    assert len(settings.problems_with_folders()) == 1


@pytest.mark.parametrize(
    ("host", "secret", "count"),
    [
        ("127.0.0.1", "change-me", 0),
        ("::1", "change-me", 0),
        ("0.0.0.0", "a secret of ours", 0),
        ("0.0.0.0", "change-me", 1),
        ("0.0.0.0", "", 1),
        ("192.0.2.7", "change-me", 1),
    ],
)
def test_a_worker_with_a_known_secret_listens_on_this_machine_only(
    host: str, secret: str, count: int
) -> None:
    settings = Settings.model_validate({"host": host, "secret_key": secret})
    assert len(settings.problems_with_worker_binding()) == count
