"""Crossings of two drawn lines."""

from __future__ import annotations

import pytest

from tests.offline.loop import ask
from tests.offline.maps import two_lines


@pytest.mark.parametrize("seed", range(12))
def test_crossings_of_two_lines_are_counted(seed: int) -> None:
    picture, (one, other), crossings = two_lines(seed)
    question = f"How many times do the {one} and {other} lines intersect?"
    assert ask(question, picture).answer == str(crossings)


def test_the_lines_need_not_be_named() -> None:
    picture, _, crossings = two_lines(5)
    assert ask("How often do the two lines cross?", picture).answer == str(crossings)


def test_a_line_that_is_not_there_is_not_guessed() -> None:
    picture, _, _ = two_lines(2)
    assert ask("How many times do the green and yellow lines intersect?", picture).answer is None
