"""Means over samples and categories, and the harmonic mean of InfoSeek."""

from __future__ import annotations

from statistics import harmonic_mean as statistics_harmonic_mean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics.aggregate import Mean, by_category, harmonic_mean, infoseek, macro, mean, micro
from pyvision.bench.samples import Sample, Score
from tests.bench.metrics.samples import sample


def pair(category: str, value: float | None, **metadata: Any) -> tuple[Sample, Score]:
    return sample("A", category=category, **metadata), Score(value)


PAIRS = [pair("a/x", 1), pair("a/x", 0), pair("a/y", 1), pair("b", 0), pair("b", None)]


def test_micro_counts_samples_and_macro_categories() -> None:
    assert micro(PAIRS) == Mean(0.5, 4, 1)
    assert macro(PAIRS).value == pytest.approx(0.5)  # (0.5 + 1 + 0) / 3
    assert (macro(PAIRS).scored, macro(PAIRS).unscored) == (4, 1)
    assert macro(PAIRS, depth=1).value == pytest.approx((2 / 3 + 0) / 2)


def test_categories_may_be_cut_at_a_depth() -> None:
    assert list(by_category(PAIRS)) == ["a/x", "a/y", "b"]
    assert by_category(PAIRS, depth=1)["a"].value == pytest.approx(2 / 3)
    assert by_category(PAIRS)["b"] == Mean(0.0, 1, 1)


# BDoG, Table 2, MMBench-Dev, Gemini: the abilities of 118, 199, 115, 293, 143 and 296 questions average to 75.2.
def test_micro_weighs_categories_by_their_size_as_published_tables_do() -> None:
    sizes = {
        "LR": (118, 55.9),
        "AR": (199, 80.4),
        "RR": (115, 73.9),
        "FP-S": (293, 79.5),
        "FP-C": (143, 61.5),
    }
    sizes["CP"] = (296, 82.1)
    pairs = [pair(name, percent / 100) for name, (count, percent) in sizes.items() for _ in range(count)]
    value = micro(pairs).value
    assert value is not None
    assert round(100 * value, 1) == 75.2


def test_nothing_scored_has_no_mean() -> None:
    assert mean([]) == Mean(None, 0, 0)
    assert macro([pair("a", None)]) == Mean(None, 0, 1)


# AVIS, Table 1 prints 50.7 (unseen entity) and 56.4 (unseen question); worked by hand: 2 * 50.7 * 56.4 / 107.1.
def test_the_harmonic_mean_of_two_splits() -> None:
    assert harmonic_mean(56.4, 50.7) == pytest.approx(53.398, abs=1e-3)
    assert harmonic_mean(0, 1) == harmonic_mean(1, 0) == 0


def test_infoseek_joins_its_two_splits() -> None:
    question = [pair("", value, data_split="val_unseen_question") for value in (1, 1, 0, 0)]
    entity = [pair("", value, data_split="val_unseen_entity") for value in (1, 0, 0, 0)]
    assert infoseek(question + entity) == pytest.approx(2 / (1 / 0.5 + 1 / 0.25))
    assert infoseek(question) is None


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c/d"]), st.floats(0, 1)), min_size=1))
def test_means_lie_between_the_least_and_the_greatest(rows: list[tuple[str, float]]) -> None:
    pairs = [pair(category, value) for category, value in rows]
    values = [value for _, value in rows]
    for found in (micro(pairs).value, macro(pairs).value):
        assert found is not None
        assert min(values) - 1e-9 <= found <= max(values) + 1e-9


@given(st.floats(0.001, 1), st.floats(0.001, 1))
def test_the_harmonic_mean_is_that_of_the_standard_library(one: float, other: float) -> None:
    assert harmonic_mean(one, other) == pytest.approx(statistics_harmonic_mean([one, other]))
