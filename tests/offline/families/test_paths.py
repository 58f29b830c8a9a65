"""Paths on drawn subway maps."""

from __future__ import annotations

import pytest
from PIL import Image

from tests.offline.loop import ask
from tests.offline.maps import subway


@pytest.mark.parametrize("seed", range(8))
def test_the_paths_between_two_stations_are_counted(seed: int) -> None:
    picture, truth = subway(seed)
    (start, end), count = next(iter(truth.items()))
    assert ask(f"How many single-coloured paths go from {start} to {end}?", picture).answer == str(count)


def test_stations_without_a_path_have_none() -> None:
    picture, truth = subway(3)
    letters = sorted({letter for pair in truth for letter in pair})
    missing = next((a, b) for a in letters for b in letters if a < b and not {(a, b), (b, a)} & truth.keys())
    assert ask(f"How many paths lead from {missing[0]} to {missing[1]}?", picture).answer == "0"


def test_a_station_that_is_not_drawn_is_not_guessed() -> None:
    picture, _ = subway(1)
    run = ask("How many single-coloured paths go from A to Q?", picture)
    assert run.answer is None
    assert "no letter Q was found" in run.reply.text


def test_an_empty_picture_is_not_guessed() -> None:
    assert ask("How many paths go from A to B?", Image.new("RGB", (300, 300), "white")).answer is None
