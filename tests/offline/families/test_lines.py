"""Crossings of two lines, paths on subway maps, rows and columns of tables."""

from __future__ import annotations

import random

from PIL import Image, ImageDraw

from tests.offline.drawings import seeds, table
from tests.offline.loop import ask
from tests.offline.maps import subway, two_lines


@seeds(12, quick=4)
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


@seeds(8)
def test_the_paths_between_two_stations_are_counted(seed: int) -> None:
    picture, truth = subway(seed)
    (start, end), count = next(iter(truth.items()))
    assert ask(f"How many single-coloured paths go from {start} to {end}?", picture).answer == str(count)


def test_stations_without_a_path_have_zero_paths() -> None:
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


@seeds(14, quick=4)
def test_a_ruled_table_is_counted(seed: int) -> None:
    picture, (rows, columns) = table(seed)
    assert ask("How many rows and columns does the table have?", picture).answer == f"({rows}, {columns})"


def test_the_answer_has_the_form_that_was_asked_for() -> None:
    picture, (rows, columns) = table(3)
    assert rows != columns
    assert ask("How many rows are in the table?", picture).answer == str(rows)
    assert ask("How many columns are there?", picture).answer == str(columns)
    assert ask("How many columns and rows are there?", picture).answer == f"({columns}, {rows})"


@seeds(6)
def test_a_table_without_lines_is_counted(seed: int) -> None:
    chance = random.Random(seed)
    rows, columns = chance.randint(3, 8), chance.randint(2, 6)
    picture = Image.new("RGB", (columns * 110 + 20, rows * 46 + 20), "white")
    pen = ImageDraw.Draw(picture)
    for row in range(rows):
        for column in range(columns):
            word = chance.choice(("apple", "door", "kites", "moon"))
            pen.text((20 + column * 110, 20 + row * 46), word, fill="black", font_size=18)
    run = ask("How many rows and columns are in the table?", picture)
    assert run.answer == f"({rows}, {columns})"
    assert len(run.cells) == 2


@seeds(4)
def test_a_chequered_board_is_counted(seed: int) -> None:
    chance = random.Random(seed)
    rows, columns, side = chance.randint(3, 9), chance.randint(3, 9), chance.randint(15, 50)
    picture = Image.new("RGB", (columns * side, rows * side), "wheat")
    pen = ImageDraw.Draw(picture)
    for row in range(rows):
        for column in range(row % 2, columns, 2):
            pen.rectangle(
                (column * side, row * side, column * side + side - 1, row * side + side - 1), fill="maroon"
            )
    assert ask("How many rows and columns are there?", picture).answer == f"({rows}, {columns})"


def test_a_picture_without_a_table_is_declined() -> None:
    run = ask("How many rows are in the table?", Image.new("RGB", (200, 200), "white"))
    assert run.answer is None
    assert run.reply.finish == "refusal"
