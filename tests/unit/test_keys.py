"""Keys: equal for equal questions, different for everything that an answer depends on."""

from dataclasses import replace

from loader.catalog import HostFile
from loader.keys import (
    ToolRequest,
    artifact_key,
    encoded_key,
    failure_key,
    kept_answer_key,
    key_without,
    result_key,
    session_mark,
    tool_failure_key,
)
from loader.storage.base import StoredFile
from loader.tools import ArtifactKind


def host(name: str, generation: str = "1", size: int = 10) -> HostFile:
    return HostFile(
        name, StoredFile(f"/r/s/{name}.xplane.pb", f"{name}.xplane.pb", size, generation)
    )


REQUEST = ToolRequest(("/r/s",), "trace_viewer@", None, {"resolution": 8000, "full_dma": False})
FILES = (host("a"), host("b"))


def test_everything_an_answer_depends_on_changes_the_key() -> None:
    base = result_key("xprof-1", REQUEST, FILES)
    others = [
        result_key("xprof-2", REQUEST, FILES),
        result_key("xprof-1", replace(REQUEST, tool="op_profile"), FILES),
        result_key("xprof-1", replace(REQUEST, options={"resolution": 8001}), FILES),
        result_key("xprof-1", replace(REQUEST, locations=("/r/t",)), FILES),
        result_key("xprof-1", replace(REQUEST, as_csv=True), FILES),
        result_key("xprof-1", REQUEST, (host("a"),)),
        result_key("xprof-1", REQUEST, (host("a"), host("b", generation="2"))),
        result_key("xprof-1", REQUEST, (host("a"), host("b", size=11))),
        result_key("xprof-1", REQUEST, (host("a"), host("c"))),
        encoded_key(base, "gzip"),
        encoded_key(base, "br"),
    ]
    assert len({base, *others}) == len(others) + 1


def test_the_same_question_has_one_key() -> None:
    reordered = replace(REQUEST, options={"full_dma": False, "resolution": 8000}, hosts=("a", "b"))
    assert result_key("x", REQUEST, FILES) == result_key("x", reordered, FILES)


def test_names_cannot_be_shifted_into_each_other() -> None:
    assert result_key("x", REQUEST, (host("a,1"),)) != result_key("x", REQUEST, (host("a", ",11"),))
    assert artifact_key("x", ("/r",), ArtifactKind.TRACE, FILES) != artifact_key(
        "x", ("/r",), ArtifactKind.OP_STATS, FILES
    )


def test_all_keys_of_a_session_begin_with_its_mark_and_no_other_ones_do() -> None:
    answer = result_key("x", REQUEST, FILES)
    shared = artifact_key("x", REQUEST.locations, ArtifactKind.TRACE, FILES)
    keys = [
        answer,
        shared,
        tool_failure_key("x", REQUEST, FILES),
        key_without(shared, ["a"]),
        kept_answer_key(answer),
        failure_key(answer),
        encoded_key(answer, "br"),
    ]
    mark = session_mark(REQUEST.locations)
    assert all(key.startswith(mark) and len(key) == 64 for key in keys)
    assert len(set(keys)) == len(keys)
    other = result_key("x", replace(REQUEST, locations=("/r/s", "/r/t")), FILES)
    assert not other.startswith(mark)
    assert other.startswith(session_mark(("/r/s", "/r/t")))
