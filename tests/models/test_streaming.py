"""Where a reply ends: at the first stop string, however it comes in pieces, but not inside what it quotes."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.errors import ModelError
from pyvision.models.scripted import Scripted
from pyvision.models.streaming import (
    StopCutter,
    in_one_piece,
    parse_events,
    stream_of,
    truncate_at_stop,
    whole,
)
from pyvision.offline import Offline
from pyvision.text.replies import find_code
from pyvision.types import Message, Reply, Restart, Sampling, Text, Usage

HELLO = (Message("user", (Text("hello"),)),)


class WholeOnly:
    """A caller's own model, from before there were streams."""

    name = "whole only"

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        return Reply("hi")


def test_a_stream_in_one_piece_is_its_text_before_its_reply() -> None:
    assert list(in_one_piece(Reply("hi"))) == ["hi", Reply("hi")]


def test_a_stream_without_text_is_its_reply_alone() -> None:
    assert list(in_one_piece(Reply("", finish="refusal"))) == [Reply("", finish="refusal")]


def test_the_reply_of_a_stream_is_its_last_piece() -> None:
    assert whole(["a", Restart(), "b", Reply("b")]) == Reply("b")
    with pytest.raises(ModelError, match="without a reply"):
        whole(["a"])


def test_a_model_without_a_stream_has_one_of_one_piece() -> None:
    model: object = WholeOnly()
    assert list(stream_of(model, HELLO, Sampling())) == ["hi", Reply("hi")]  # type: ignore[arg-type]


def test_models_without_an_endpoint_stream_what_they_complete() -> None:
    stop = Sampling(stop=("</code>",))
    cell = "<code>\nprint(1)\n"
    assert list(Scripted([cell + "</code>"]).stream(HELLO, stop)) == [cell, Reply(cell, finish="stop")]
    *_, reply = Offline().stream(HELLO, stop)
    assert reply == Offline().complete(HELLO, stop)


CLOSE = ("</code>",)
CELL = "I look.\n<code>\n```python\nprint(1)\n```\n</code>"


def cut(pieces: list[str], stop: tuple[str, ...] = CLOSE) -> tuple[str, bool]:
    """The text up to the cut, and whether there was one; pieces after it are not fed."""
    cutting, text = StopCutter(stop), ""
    for piece in pieces:
        text += cutting.feed(piece)
        if cutting.is_cut:
            break
    text += cutting.rest()
    assert text == cutting.text
    return text, cutting.is_cut


def test_the_first_stop_string_in_the_text_ends_it() -> None:
    assert truncate_at_stop(Reply("a END b STOP", Usage(1, 1)), ("STOP", "END")) == Reply(
        "a ", Usage(1, 1), "stop"
    )


def test_a_reply_without_a_stop_string_stays_as_it_is() -> None:
    reply = Reply("a", finish="length")
    assert truncate_at_stop(reply, ("STOP", "")) is reply


@given(st.lists(st.integers(1, 9)))
def test_the_cut_is_the_same_however_the_text_is_split(lengths: list[int]) -> None:
    text = CELL + "\nimagined </code> <code>"
    pieces = []
    for length in lengths:
        pieces.append(text[:length])
        text = text[length:]
    assert cut([*pieces, text]) == (CELL.removesuffix("</code>"), True)


@given(st.text(alphabet="</code> \n"), st.text(alphabet="</code> \n"))
def test_nothing_is_lost_or_doubled(left: str, right: str) -> None:
    text, is_cut = cut([left, right], ("STOP", "</co"))
    whole = left + right
    assert text == (whole[: whole.index("</co")] if is_cut else whole)
    assert is_cut is ("</co" in whole)


def test_what_may_begin_a_stop_string_is_held_back() -> None:
    cutting = StopCutter(CLOSE)
    assert [cutting.feed(piece) for piece in ("a </", "co", "l> b")] == ["a ", "", "</col> b"]


def test_what_was_held_back_is_the_rest_at_the_end() -> None:
    cutting = StopCutter(CLOSE)
    assert cutting.feed(" <") == " "
    assert cutting.rest() == "<"


@pytest.mark.parametrize(
    "reply",
    [
        "<code>\n```python\nprint('</code>')\n```\n</code>",
        '<code>\n```python\nx = """a </code> b"""\nprint(x)\n```\n</code>',
        "<code>\n```python\n# a comment\nprint(f'<b></code>' + '</code>')\n```\n</code>",
        "The tags `<code>` and `</code>` stand around cells.\n<code>\n```python\nprint(2)\n```\n</code>",
        "I call <code>f(x)</code> in the cell.\n<code>\n```python\nprint(3)\n```\n</code>",
        "<think>\nIs it </code> here?\n</think>\n<code>\n```python\nprint(4)\n```\n</code>",
    ],
)
def test_a_closing_tag_that_closes_nothing_is_passed_over(reply: str) -> None:
    for pieces in ([reply + "\nand on"], [*reply, "\n", "a"]):
        text, is_cut = cut(pieces)
        assert (text, is_cut) == (reply.removesuffix("</code>"), True)
        assert find_code(text) == find_code(reply)


@pytest.mark.parametrize(
    "reply",
    ["a</code>b", "<code>\n</code>b", "<code>\n```python\nx = (\n</code>b", "<code>\nprint(1)</code>b"],
)
def test_a_closing_tag_in_prose_or_after_broken_code_ends_the_reply(reply: str) -> None:
    assert cut([reply]) == (reply.removesuffix("</code>b"), True)


def test_many_tags_inside_a_string_do_not_take_forever() -> None:
    inside = "<code>\n```python\nx = '" + "</code> " * 20_000
    began = time.thread_time()
    text, is_cut = cut([inside[start : start + 7] for start in range(0, len(inside), 7)])
    assert is_cut
    assert text.count("</code>") == 32
    assert time.thread_time() - began < 20.0  # of the processor, whatever else runs


@pytest.mark.parametrize(
    ("text", "seems"),
    [
        ("<code>\n```python\nprint(1)\n```\n", True),
        ("<code>\nprint(1)\n", True),
        ("<code>\n```python\n", True),
        ("It is 3.", False),
        ("<code>\n```python\nprint('", False),
    ],
)
def test_a_reply_that_the_endpoint_cut_is_known_by_its_open_code(text: str, seems: object) -> None:
    cutting = StopCutter(CLOSE)
    cutting.feed(text)
    cutting.rest()
    assert cutting.seems_cut() is seems


STREAM = 'event: a\ndata: {"x": 1}\n\n: still here\n\ndata:{"y":\r\ndata: "ü\u2028"}\r\n\r\ndata: [DONE]\r\r'
DATA = ['{"x": 1}', '{"y":\n"ü\u2028"}', "[DONE]"]


def test_the_data_of_each_event_comes_out() -> None:
    assert list(parse_events([STREAM.encode()])) == DATA


@given(st.lists(st.integers(1, 5)))
def test_it_comes_out_the_same_however_the_bytes_are_split(lengths: list[int]) -> None:
    raw, pieces = STREAM.encode(), []
    for length in lengths:
        pieces.append(raw[:length])
        raw = raw[length:]
    assert list(parse_events([*pieces, raw])) == DATA


def test_an_event_with_an_id_that_came_before_is_skipped() -> None:
    raw = b"id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 2\ndata: b\n\nid: 1\ndata: a\n\nid: 3\ndata: b\n\n"
    assert list(parse_events([raw])) == ["a", "b", "b"]


def test_ids_that_are_always_the_same_say_nothing() -> None:
    assert list(parse_events([b"id: 0\ndata: a\n\n" * 3])) == ["a"] * 3


@pytest.mark.parametrize("piece", [b"x" * (1 << 20), (b"data: " + b"x" * 1000 + b"\n") * 1000])
def test_an_event_without_end_is_given_up(piece: bytes) -> None:
    with pytest.raises(ValueError, match="more than 16 MiB"):
        list(parse_events(piece for _ in range(64)))


def test_an_event_that_is_not_utf_8_is_an_error() -> None:
    with pytest.raises(UnicodeDecodeError):
        list(parse_events([b"data: \xff\n\n"]))


@pytest.mark.parametrize("rest", ["data: {", 'data: {"x": 1}', 'data: {"x": 1}\n', "event: a\n\n"])
def test_an_interrupted_event_is_left_out(rest: str) -> None:
    assert list(parse_events([b"data: 1\n\n", rest.encode()])) == ["1"]
