"""A scanner finds nothing in deploy/terraform without a reason written beside it, and would find mistakes."""

from __future__ import annotations

import re
from pathlib import Path

from tests.services.scanners import ROOT, checkov_findings
from tests.services.terraform import MODULE

SKIPPED = re.compile(r"checkov:skip=(.*)")
EXCEPTION = re.compile(r"(CKV\d?_GCP_\d+):(.+)")
CHECKS = 60
"""Fewer that pass mean that something was not looked at; the module and two examples passed 64."""


def test_module_and_examples_pass() -> None:
    passed, failed = checkov_findings("terraform", ["-d", str(MODULE)])
    assert failed == []
    assert passed >= CHECKS


def test_every_exception_has_a_reason() -> None:
    texts = [file.read_text() for file in sorted(MODULE.rglob("*.tf"))]
    exceptions = [found for text in texts for found in SKIPPED.findall(text)]
    assert exceptions
    for exception in exceptions:
        written = EXCEPTION.fullmatch(exception)
        assert written, f"one check, a colon, and the reason: {exception}"
        assert len(written[2].split()) >= 6, f"say why: {exception}"


def test_there_are_no_other_exceptions() -> None:
    """A configuration file would be found by the scanner itself, and leave checks out for everything."""
    folders = [ROOT, MODULE, *(MODULE / "examples").iterdir()]
    names = (".checkov.yaml", ".checkov.yml")
    assert [
        found for folder in folders for name in names if (found := folder / name).exists()
    ] == []


def test_mistakes_are_found(tmp_path: Path) -> None:
    """The module's own buckets, but with what keeps the public out turned off, and the public let in."""
    text = (MODULE / "storage.tf").read_text()
    assert text.count('"enforced"') == 2
    public = text.replace('"enforced"', '"inherited"')
    member = "google_service_account.this[each.value.part].member"
    assert member in public
    (tmp_path / "storage.tf").write_text(public.replace(member, '"allUsers"'))

    _, failed = checkov_findings("terraform", ["-d", str(tmp_path)])

    found = {tuple(line.split(":")[0].split()) for line in failed}
    assert {
        ("CKV_GCP_114", "google_storage_bucket.cache"),
        ("CKV_GCP_114", "google_storage_bucket.uploads"),
        ("CKV_GCP_28", "google_storage_bucket_iam_member.own"),
    } <= found
