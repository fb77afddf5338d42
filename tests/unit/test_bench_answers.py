"""What the conversion bench accepts as the same answer."""

from __future__ import annotations

import json

from bench.answers import Expected, Window, is_same
from bench.users import Answer


def bar(begin: float, duration: float, **more: object) -> dict[str, object]:
    return {"ph": "X", "pid": 1, "tid": 2, "ts": begin, "dur": duration, "name": "dot", **more}


def trace(*events: dict[str, object]) -> bytes:
    return json.dumps({"traceEvents": events}).encode()


def answers(body: bytes, status: int = 200) -> list[Answer]:
    return [Answer(status, "", body)]


def test_order_and_layout_do_not_matter_but_values_do() -> None:
    assert is_same(b'[{"a": 1, "b": [1, 2]}, 3]', b'[3, {"b":[2,1],"a":1}]')
    assert not is_same(b"[1, 1, 2]", b"[1, 2, 2]")
    assert not is_same(b'{"a": 1}', b'{"a": 2}')


def test_flows_may_have_other_numbers_but_tie_the_same_events() -> None:
    def tied(*numbers: int) -> bytes:
        return trace(*(bar(place, 1, bind_id=number) for place, number in enumerate(numbers)))

    assert is_same(tied(7, 7, 8), tied(1, 1, 5))
    assert not is_same(tied(7, 7, 8), tied(1, 5, 5))
    assert not is_same(tied(7, 7, 8), trace(bar(0, 1), bar(1, 1), bar(2, 1)))


def test_the_first_answer_is_what_the_others_must_be() -> None:
    expected = Expected()
    assert expected.is_right("tool", answers(b"[1]"))
    assert expected.is_right("tool", answers(b"[ 1 ]"))
    assert not expected.is_right("tool", answers(b"[2]"))
    assert not expected.is_right("tool", answers(b"[1]", status=404))
    assert expected.is_right("other", answers(b"[2]"))


def test_a_zoom_may_show_more_but_nothing_less_that_can_be_seen() -> None:
    window = Window(0.0, 0.1, 100)  # 100 microseconds, a pixel is one
    expected = Expected()
    theirs = [bar(0, 2), bar(10, 0.5), bar(20, 1)]
    assert expected.is_right("zoom", answers(trace(*theirs)), window)
    more = [bar(-5, 50), *theirs, bar(101, 5)]
    assert expected.is_right("zoom", answers(trace(*more)), window)
    other_speck = [bar(0, 2), bar(10.2, 0.5), bar(20, 1)]
    assert expected.is_right("zoom", answers(trace(*other_speck)), window)
    without_bar = [bar(0, 2), bar(10, 0.5), bar(30, 0.5)]
    assert not expected.is_right("zoom", answers(trace(*without_bar)), window)
    fewer = [bar(0, 2), bar(20, 1), bar(200, 1)]
    assert not expected.is_right("zoom", answers(trace(*fewer)), window)


def test_zooms_are_fiftieths_spread_over_the_events() -> None:
    expected = Expected()
    expected.is_right("trace", answers(trace(bar(5000, 10), bar(54_000, 1000))))
    windows = expected.windows("trace", 2, 8000)
    assert [(window.start_ms, window.end_ms) for window in windows] == [(17.5, 18.5), (42.5, 43.5)]
    assert windows[0].query() == {
        "start_time_ms": "17.5",
        "end_time_ms": "18.5",
        "resolution": "8000",
    }
