"""The README's three calls by curl, run as they stand there but for the hub's address and the bucket's."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import httpx2

from auth.identity import Role
from tests.contract.api_calls import token_for, write_profile
from tests.services.api import Api
from tests.services.missing import find_program, missing

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
FOLDER = re.compile(r"gs://my-bucket/[^\"]+")


def curl_lines() -> str:
    """The lines from the first variable to the last call."""
    lines = [line.strip() for line in README.splitlines() if line.startswith("    ")]
    first = next(number for number, line in enumerate(lines) if line.startswith("api="))
    last = next(number for number, line in enumerate(lines) if "shareLinks" in line)
    return "\n".join(lines[first : last + 1])


def test_a_run_a_session_and_a_link_by_curl(guarded_api: Api) -> None:
    curl = find_program(["curl"], [])
    if curl is None:
        missing("curl", "curl")
    _, token = token_for(guarded_api, Role.EDITOR)
    folder = write_profile(guarded_api, "2026_11_30_10_00_00")
    script = FOLDER.sub(str(folder), curl_lines()).replace("curl ", f"{curl} -sS ")
    done = subprocess.run(
        ["/bin/sh", "-euc", script],
        env={"XPROF_HUB_URL": guarded_api.url, "XPROF_HUB_TOKEN": token},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answers = answers_in(done.stdout)
    assert [one["name"].split("/")[0] for one in answers] == [
        "machineLearningRuns",
        "machineLearningRuns",
        "shareLinks",
    ]
    assert answers[1]["hosts"]
    assert httpx2.get(answers[2]["uri"]).is_redirect


def answers_in(text: str) -> list[dict[str, Any]]:
    """The JSON objects that were printed one after the other."""
    decoder, found, position = json.JSONDecoder(), [], 0
    while position < len(text.rstrip()):
        answer, position = decoder.raw_decode(text, position)
        found.append(answer)
    return found
