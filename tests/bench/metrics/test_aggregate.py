"""Circular evaluation, and the harmonic mean of InfoSeek's two splits."""

from __future__ import annotations

from statistics import harmonic_mean as statistics_harmonic_mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics.aggregate import circular, harmonic_mean, infoseek, question_of
from pyvision.bench.samples import Sample, Score
from tests.bench.metrics.samples import sample

FOUR = ("a", "b", "c", "d")


def pair(value: float, split: str) -> tuple[Sample, Score]:
    return sample("A", data_split=split), Score(value)


# AVIS, Table 1 prints 50.7 (unseen entity) and 56.4 (unseen question); worked by hand: 2 * 50.7 * 56.4 / 107.1.
def test_the_harmonic_mean_of_two_splits() -> None:
    assert harmonic_mean(56.4, 50.7) == pytest.approx(53.398, abs=1e-3)
    assert harmonic_mean(0, 1) == harmonic_mean(1, 0) == 0


def test_infoseek_combines_its_two_splits() -> None:
    question = [pair(value, "val_unseen_question") for value in (1, 1, 0, 0)]
    entity = [pair(value, "val_unseen_entity") for value in (1, 0, 0, 0)]
    assert infoseek(question + entity) == pytest.approx(2 / (1 / 0.5 + 1 / 0.25))
    assert infoseek(question) is None


@given(st.floats(0.001, 1), st.floats(0.001, 1))
def test_the_harmonic_mean_is_that_of_the_standard_library(one: float, other: float) -> None:
    assert harmonic_mean(one, other) == pytest.approx(statistics_harmonic_mean([one, other]))


def rows(
    *values: float | None, base: str = "7", choices: tuple[str, ...] = FOUR
) -> list[tuple[Sample, Score]]:
    return [(sample("A", *choices, name=f"{base}#{turn}"), Score(value)) for turn, value in enumerate(values)]


@pytest.mark.parametrize(
    ("row", "question"),
    [
        ("12", "12"),
        ("12#3", "12"),
        ("1000012", "12"),  # VLMEvalKit: index = base + k * 1e6
        ("3000012", "12"),
        ("0", "0"),
        ("mm-dev-4", "mm-dev-4"),
        ("a#b#2", "a#b"),
        ("#1", "#1"),
        ("12#x", "12#x"),
        ("9" * 40, "9" * 40),
    ],
)
def test_the_question_of_a_row(row: str, question: str) -> None:
    assert question_of(row) == question


def circular_value(pairs: list[tuple[Sample, Score]]) -> float | None:
    ((_, score),) = circular(pairs)
    return score.value


def test_a_question_is_right_in_every_rotation_or_wrong() -> None:
    assert circular_value(rows(1, 1, 1, 1)) == 1
    assert circular_value(rows(1, 1, 0, 1)) == 0


def test_a_question_without_all_its_rotations_has_no_score_unless_one_is_wrong() -> None:
    assert circular_value(rows(1, 1, 1)) is None
    assert circular_value(rows(1, None, 1, 1)) is None
    assert circular_value(rows(0, None)) == 0


def test_the_sizes_of_questions_differ() -> None:
    assert circular_value(rows(1, 1, choices=("a", "b"))) == 1


def test_questions_keep_the_order_of_their_first_samples() -> None:
    pairs = rows(1, 1, 1, 1, base="b") + rows(0, base="a")
    assert [(first.id, score.value) for first, score in circular(pairs)] == [("b#0", 1), ("a#0", 0)]


def test_rows_of_vlmevalkit_are_combined() -> None:
    pairs = [(sample("A", *FOUR, name=str(5 + turn * 10**6)), Score(1.0)) for turn in range(4)]
    assert [score.why for _, score in circular(pairs)] == ["4 of 4 rotations are right"]


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0.0, 1.0, None])), max_size=40))
def test_a_circular_mean_never_exceeds_that_of_its_rows(rows: list[tuple[int, float | None]]) -> None:
    pairs = [(sample("A", name=f"{base}#{turn}"), Score(value)) for turn, (base, value) in enumerate(rows)]
    for first, score in circular(pairs):
        own = [value for base, value in rows if str(base) == question_of(first.id)]
        assert score.value in (0, 1, None)
        assert score.value != 1 or set(own) == {1.0}
