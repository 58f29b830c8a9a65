"""Four numbers, and which convention they are meant in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.doctor.pictures import BOX, BOXED_SIZE, convention, overlap


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        ("[300, 120, 780, 420]", "pixels"),
        ("The box is [298, 123, 783, 417].", "pixels"),
        ("[250, 200, 650, 700]", "0-1000"),
        ("[0.25, 0.2, 0.65, 0.7]", "0-1"),
        ("[200, 250, 700, 650]", "0-1000, y first"),
        ("[120, 300, 420, 780]", "pixels, y first"),
        ("[150, 60, 390, 210]", "pixels of a copy 600 px wide"),
        ('{"bbox_2d": [300, 120, 780, 420], "label": "red"}', "pixels"),
    ],
)
def test_each_convention_is_distinguished_from_the_others(reply: str, name: str) -> None:
    found = convention(reply, BOX, BOXED_SIZE)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "reply", ["", "I see no rectangle.", "[1, 2, 3]", "[0, 0, 5, 5]", "[780, 420, 300, 120]"]
)
def test_a_box_that_fits_no_convention_is_rejected(reply: str) -> None:
    assert convention(reply, BOX, BOXED_SIZE) is None


@given(st.text())
def test_no_reply_makes_it_fail(reply: str) -> None:
    convention(reply, BOX, BOXED_SIZE)


def test_the_overlap_of_a_box_with_itself_is_one() -> None:
    assert overlap(BOX, BOX) == 1


def test_the_overlap_of_boxes_apart_is_zero() -> None:
    assert overlap((0, 0, 1, 1), (1, 1, 2, 2)) == 0
