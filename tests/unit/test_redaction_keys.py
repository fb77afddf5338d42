"""Answers with and without pseudonyms never meet in a cache, and no worker redacts with a foreign key."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loader.catalog import HostFile
from loader.errors import ErrorCode, LoaderError
from loader.inspection.result import Inspection
from loader.keys import ToolRequest, artifact_key, result_key, tool_failure_key
from loader.redaction.pseudonyms import Pseudonyms
from loader.storage.base import StoredFile
from loader.tools import HEALTH, ArtifactKind
from server.fleet.protocol import ToolRequestBody
from tests.service_bench import StandInEngine, make_bench

PLAIN = ToolRequest(("/r/s",), "hlo_stats")
REDACTED = replace(PLAIN, redaction="0123456789abcdef")
OTHERWISE = replace(PLAIN, redaction="fedcba9876543210")
FILES = (HostFile("a", StoredFile("/r/s/a.xplane.pb", "a.xplane.pb", 10, "g1", None)),)


def test_every_key_says_which_pseudonyms_it_is_for() -> None:
    requests = (PLAIN, REDACTED, OTHERWISE)
    kind = ArtifactKind.OP_STATS
    keys = [result_key("e", request, FILES) for request in requests]
    keys += [tool_failure_key("e", request, FILES) for request in requests]
    keys += [artifact_key("e", ("/r/s",), kind, FILES, request.redaction) for request in requests]
    assert len(set(keys)) == 9


def test_a_front_end_tells_the_worker() -> None:
    body = ToolRequestBody.model_validate_json(ToolRequestBody.of(REDACTED).model_dump_json())
    assert body.to_request() == REDACTED


@pytest.mark.parametrize("tool", ["hlo_stats", HEALTH])
def test_a_worker_without_these_pseudonyms_answers_nothing(tmp_path: Path, tool: str) -> None:
    bench = make_bench(tmp_path)
    seen: list[Path] = []

    def watched(path: Path, _file: StoredFile, _target: Path) -> Inspection:
        seen.append(path)
        raise AssertionError("the profile itself is taken in")

    bench.intake = watched
    engine = StandInEngine()
    mark = Pseudonyms("another secret").mark
    request = replace(bench.request(tool), redaction=mark)
    with pytest.raises(LoaderError) as caught:
        bench.service(engine).get(request)
    assert caught.value.code is ErrorCode.INTERNAL
    assert not seen
    assert not engine.jobs
