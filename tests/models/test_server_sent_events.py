from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.models.server_sent_events import events

STREAM = 'event: a\ndata: {"x": 1}\n\n: still here\n\ndata:{"y":\r\ndata: "ü\u2028"}\r\n\r\ndata: [DONE]\r\r'
DATA = ['{"x": 1}', '{"y":\n"ü\u2028"}', "[DONE]"]


def test_the_data_of_each_event_comes_out() -> None:
    assert list(events([STREAM.encode()])) == DATA


@given(st.lists(st.integers(1, 5)))
def test_it_comes_out_the_same_however_the_bytes_are_split(lengths: list[int]) -> None:
    raw, pieces = STREAM.encode(), []
    for length in lengths:
        pieces.append(raw[:length])
        raw = raw[length:]
    assert list(events([*pieces, raw])) == DATA


@pytest.mark.parametrize("rest", ["data: {", 'data: {"x": 1}', 'data: {"x": 1}\n', "event: a\n\n"])
def test_an_event_that_the_stream_breaks_off_in_is_left_out(rest: str) -> None:
    assert list(events([b"data: 1\n\n", rest.encode()])) == ["1"]
