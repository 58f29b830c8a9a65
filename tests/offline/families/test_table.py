"""Rows and columns of drawn tables."""

from __future__ import annotations

import random

import pytest
from PIL import Image, ImageDraw

from tests.offline.drawings import table
from tests.offline.loop import ask


@pytest.mark.parametrize("seed", range(14))
def test_rows_and_columns_of_a_ruled_table_are_counted(seed: int) -> None:
    picture, (rows, columns) = table(seed)
    assert ask("How many rows and columns does the table have?", picture).answer == f"({rows}, {columns})"


def test_the_answer_has_the_form_that_was_asked_for() -> None:
    picture, (rows, columns) = table(3)
    assert rows != columns
    assert ask("How many rows are in the table?", picture).answer == str(rows)
    assert ask("How many columns are there?", picture).answer == str(columns)
    assert ask("How many columns and rows are there?", picture).answer == f"({columns}, {rows})"


@pytest.mark.parametrize("seed", range(6))
def test_words_in_rows_and_columns_without_lines_are_counted(seed: int) -> None:
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


@pytest.mark.parametrize("seed", range(4))
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
