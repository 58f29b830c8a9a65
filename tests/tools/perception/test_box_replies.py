"""Boxes are read out of whatever dialect a model words them in, and hostile replies end in one error."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.errors import FormatError
from pyvision.tools.perception.model import SCALES, parse_boxes

SIZE = (200, 100)


def edges(text: str, scale: str = "pixels") -> list[tuple[float, float, float, float]]:
    return [(b.left, b.top, b.right, b.bottom) for b in parse_boxes(text, scale, SIZE, "thing")]


@pytest.mark.parametrize(
    "text",
    [
        '[{"box": [20, 10, 60, 50], "label": "cat"}]',
        '```json\n[{"bbox_2d": [20, 10, 60, 50], "label": "cat"}]\n```',
        'Here it is: {"objects": [{"bbox": [20.0, 10.0, 60.0, 50.0], "name": "cat"}]} as you wished.',
        '{"label": "cat", "x1": 20, "y1": 10, "x2": 60, "y2": 50}',
        '{"name": "cat", "bounding_box": {"xmin": 20, "ymin": 10, "xmax": 60, "ymax": 50}}',
        '[{"box": {"left": "20", "top": "10", "right": "60", "bottom": "50"}, "object": "cat"}]',
        '[{"box": [60, 50, 20, 10], "label": "cat"}]',
        '[{"box": [[20, 10], [60, 50]], "label": "cat"}]',
    ],
)
def test_every_dialect_gives_the_same_box(text: str) -> None:
    (box,) = parse_boxes(text, "pixels", SIZE, "thing")
    assert (box.left, box.top, box.right, box.bottom, box.label) == (20, 10, 60, 50, "cat")


@pytest.mark.parametrize("text", ["[20, 10, 60, 50]", "[[20, 10, 60, 50]]", "It is at (20, 10, 60, 50)."])
def test_a_box_without_a_label_gets_the_one_that_was_asked_for(text: str) -> None:
    (box,) = parse_boxes(text, "pixels", SIZE, "thing")
    assert (box.right, box.label, box.score) == (60, "thing", 1.0)


def test_thousandths_are_of_each_side() -> None:
    assert edges('[{"box": [100, 100, 300, 500]}]', "1000") == [(20, 10, 60, 50)]


def test_the_box_of_gemini_gives_thousandths_with_rows_first() -> None:
    assert edges('[{"box_2d": [100, 100, 500, 300], "label": "cat"}]', "pixels") == [(20, 10, 60, 50)]


def test_shares_are_known_by_their_numbers() -> None:
    boxes = '[{"box": [0.1, 0.1, 0.3, 0.5]}]'
    for scale in SCALES:
        assert edges(boxes, scale) == [pytest.approx((20, 10, 60, 50))]


def test_of_a_list_that_was_cut_short_the_whole_boxes_count() -> None:
    cut = '[{"box": [1, 2, 3, 4], "label": "a"}, {"box": [5, 6, 7, 8], "label": "b"}, {"box": [9, 1'
    assert edges(cut) == [(1, 2, 3, 4), (5, 6, 7, 8)]


@pytest.mark.parametrize("text", ["[]", "There is none: []", '{"objects": []}', "```json\n[]\n```"])
def test_an_empty_list_means_that_there_is_no_box(text: str) -> None:
    assert parse_boxes(text, "1000", SIZE, "thing") == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I see a cat.",
        "[1, 2, 3]",
        '{"box": "left"}',
        '[{"box": [1, 2, null, true]}]',
        "[" * 30_000,
        "{" * 30_000,
    ],
)
def test_a_reply_without_boxes_is_an_error_that_quotes_it(text: str) -> None:
    with pytest.raises(FormatError, match=r"^the reply contains no boxes: '"):
        parse_boxes(text, "1000", SIZE, "thing")


def test_boxes_off_their_scale_are_an_error_that_names_the_others() -> None:
    with pytest.raises(FormatError, match=r"lies on the scale 'unit'.*detect=model:1000\|pixels\|unit"):
        parse_boxes('[{"box": [100, 100, 300, 500]}]', "unit", SIZE, "thing")


def test_a_score_may_be_a_share_or_per_cent() -> None:
    boxes = '[{"box": [1, 2, 3, 4], "score": 0.25}, {"box": [1, 2, 3, 4], "confidence": 80}, {"box": [1, 2, 3, 4]}]'
    assert [box.score for box in parse_boxes(boxes, "pixels", SIZE, "thing")] == [0.25, 0.8, 1.0]


def test_invalid_numbers_are_no_coordinates() -> None:
    boxes = '[{"box": [NaN, 2, 3, 4]}, {"box": [1, 2, Infinity, 4]}, {"box": [1, 2, 1' + "0" * 400 + ", 4]}]"
    with pytest.raises(FormatError):
        parse_boxes(boxes, "pixels", SIZE, "thing")


def read_or_refused(text: str, scale: str) -> None:
    try:
        boxes = parse_boxes(text, scale, SIZE, "thing")
    except FormatError:
        return
    for box in boxes:
        assert all(map(math.isfinite, (box.left, box.top, box.right, box.bottom, box.score)))
        assert box.left <= box.right
        assert box.top <= box.bottom


@given(st.text(), st.sampled_from(sorted(SCALES)))
def test_any_text_is_read_or_refused(text: str, scale: str) -> None:
    read_or_refused(text, scale)


ODD = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(
            st.sampled_from(["box", "bbox_2d", "box_2d", "x1", "y1", "x2", "y2", "label", "score"]), inner
        )
    ),
    max_leaves=20,
)


@given(ODD, st.text(max_size=20), st.integers(0, 60), st.sampled_from(sorted(SCALES)))
def test_any_json_in_any_prose_is_read_or_refused(value: object, prose: str, cut: int, scale: str) -> None:
    boxes = json.dumps(value)
    read_or_refused(f"{prose}{boxes[: len(boxes) - cut] or boxes}{prose}", scale)


@given(
    st.lists(st.tuples(st.integers(0, 99), st.integers(0, 49), st.integers(100, 200), st.integers(50, 100)))
)
def test_what_is_written_as_asked_comes_back(boxes: list[tuple[int, int, int, int]]) -> None:
    reply = json.dumps([{"box": box, "label": "cat", "score": 0.5} for box in boxes])
    assert edges(f"Sure.\n{reply}\nDone.") == boxes


def test_a_box_whose_object_was_cut_short_comes_last() -> None:
    cut = '[{"box": [20, 10, 60, 50], "label": "cat", "score": 0.4}, {"box": [0, 0, 9, 9], "lab'
    first, last = parse_boxes(cut, "pixels", SIZE, "thing")
    assert (first.label, first.score) == ("cat", 0.4)
    assert (last.right, last.score) == (9, 0.0)
