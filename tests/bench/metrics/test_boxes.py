"""Boxes: how they are written, how much they share, and from which corner they count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics import find_metric
from pyvision.bench.metrics.boxes import Box, find_box, overlap
from pyvision.errors import ConfigError
from tests.bench.metrics.samples import sample, score, value

SQUARE = sample([10, 20, 110, 120], height=200)
EVERY = [
    ("box_iou", "top-left"),
    ("box_iou", "paper"),
    ("box_accuracy", "vlmevalkit"),
    ("box_accuracy@0.7", "strict"),
    ("box_accuracy@0.7", "paper"),
]
corners = st.tuples(*[st.integers(0, 500)] * 4).map(
    lambda four: (
        min(four[0], four[2]),
        min(four[1], four[3]),
        max(four[0], four[2]) + 1,
        max(four[1], four[3]) + 1,
    )
)


@pytest.mark.parametrize(
    "answer",
    [
        "[10, 20, 110, 120]",
        "(10,20,110,120)",
        r"\boxed{[10, 20, 110, 120]}",
        "[10.0, 20.0, 110., 120]",
        "(10, 20), (110, 120)",
        "[10, 20] to [110, 120]",
        "<box>(10,20),(110,120)</box>",
        "<point>(10,20)</point><point>(110,120)</point>",
        "x1=10, y1=20, x2=110, y2=120",
        '{"xmin": 10, "ymin": 20, "xmax": 110, "ymax": 120}',
        '{"bbox_2d": [10, 20, 110, 120], "label": "cat"}',
        "left: 10, top: 20, right: 110, bottom: 120",
        '{"x": 10, "y": 20, "width": 100, "height": 100}',
        "First I took [0, 0, 5, 5], but it is [10, 20, 110, 120].",
    ],
)
def test_a_box_is_read_in_any_of_its_notations(answer: str) -> None:
    assert find_box(answer) == (10, 20, 110, 120)
    assert value("box_iou", answer, SQUARE) == 1


@pytest.mark.parametrize(
    "answer", ["", "no box", "10 20 110 120", "[1, 2, 3]", "[a, b, c, d]", "left: 10, top: 20"]
)
def test_what_is_no_box_scores_nothing(answer: str) -> None:
    assert find_box(answer) is None
    assert (value("box_iou", answer, SQUARE), score("box_iou", answer, SQUARE).parsed) == (0, None)


def test_four_numbers_are_always_two_corners() -> None:
    assert value("box_iou", "(10, 20, 100, 100)", SQUARE) == pytest.approx(90 * 80 / 10_000)


def test_corners_out_of_order_make_an_empty_box() -> None:
    assert value("box_iou", "[110, 120, 10, 20]", SQUARE) == 0
    assert score("box_iou", "[110, 120, 10, 20]", SQUARE).parsed is not None


# Worked by hand: areas 100x100 and 100x50, shared 100x50.
def test_half_a_box_shares_half_of_the_union() -> None:
    assert value("box_iou", "[10, 20, 110, 70]", SQUARE) == pytest.approx(0.5)


HALF_OF_THE_SQUARE = "[10, 20, 110, 70]"  # its overlap is exactly 0.5


def test_vlmevalkit_accepts_an_overlap_equal_to_the_threshold() -> None:
    assert value("box_accuracy@0.5", HALF_OF_THE_SQUARE, SQUARE, "vlmevalkit") == 1


def test_vlmevalkit_rejects_an_overlap_below_the_threshold() -> None:
    assert value("box_accuracy@0.7", HALF_OF_THE_SQUARE, SQUARE, "vlmevalkit") == 0


def test_strict_rejects_an_overlap_equal_to_the_threshold() -> None:
    assert value("box_accuracy@0.5", HALF_OF_THE_SQUARE, SQUARE, "strict") == 0


def test_any_threshold_may_be_named() -> None:
    assert value("box_accuracy@0.45", "[10, 20, 110, 70]", SQUARE) == 1
    assert value("box_accuracy", "[10, 20, 110, 70]", SQUARE) == 1


# VDebugger turns the truth over: (x1, H - y2, x2, H - y1).
def test_the_papers_boxes_count_from_the_bottom_left() -> None:
    turned = "[10, 80, 110, 180]"
    assert value("box_iou", turned, SQUARE, "paper") == 1
    assert value("box_iou", turned, SQUARE, "top-left") == pytest.approx(40 / 160)
    assert value("box_accuracy@0.7", turned, SQUARE, "paper") == 1
    assert value("box_accuracy@0.5", "[10, 80, 110, 130]", SQUARE, "paper") == 0  # 0.5 is not above 0.5


def test_counting_from_the_bottom_needs_the_height_of_the_image() -> None:
    with pytest.raises(ConfigError, match="sample 's1': metadata has no height"):
        value("box_iou", "[1, 2, 3, 4]", sample([1, 2, 3, 4]), "paper")


def test_a_target_that_is_not_a_box_is_named() -> None:
    with pytest.raises(ConfigError, match=r"target \[1, 2\] cannot be scored; this metric needs a box"):
        value("box_iou", "[1, 2, 3, 4]", sample([1, 2]))


def read_box(four: tuple[int, ...]) -> Box:
    box = find_box(str(list(four)))
    assert box is not None
    return box


@given(corners, corners)
def test_an_overlap_is_within_0_to_1(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    assert 0 <= overlap(read_box(one), read_box(other)) <= 1


@given(corners, corners)
def test_an_overlap_is_symmetric(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    a, b = read_box(one), read_box(other)
    assert overlap(a, b) == overlap(b, a)


@given(corners, corners)
def test_only_equal_boxes_overlap_completely(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    a, b = read_box(one), read_box(other)
    assert overlap(a, a) == 1
    assert (overlap(a, b) == 1) == (a == b)


@given(corners)
def test_the_right_box_scores_one_in_each_notation(box: tuple[int, int, int, int]) -> None:
    left, top, right, bottom = box
    for form in (
        f"{list(box)}",
        f"{box}",
        f"({left},{top}) ({right},{bottom})",
        f"x1={left} y1={top} x2={right} y2={bottom}",
    ):
        assert value("box_iou", form, sample(list(box))) == 1


@given(st.text() | st.text("[](),.0123456789- x1y2=:"), st.sampled_from(EVERY))
def test_any_text_is_scored_from_0_to_1(answer: str, metric: tuple[str, str]) -> None:
    found = find_metric(*metric)(answer, SQUARE).value
    assert found is not None
    assert 0 <= found <= 1
