"""The numbers of one experiment."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.analysis.statistics import wilson
from pyvision.bench.analysis.summary import Summary, percentile, summarise
from pyvision.bench.samples import UNGRADED, Record, Result, Score, pair
from tests.bench.analysis.records import results, run_of


def three_scored_of_four() -> Summary:
    return summarise([*run_of([1, 1, 0]), results("s3", None, end_reason="model_error")])


def test_accuracy_is_over_what_was_scored() -> None:
    assert three_scored_of_four().accuracy == wilson(2, 3)


def test_unscored_samples_are_part_of_the_total() -> None:
    found = three_scored_of_four()
    assert (found.n, found.samples, found.unscored) == (4, 4, 1)


def test_the_bounds_count_unscored_samples_as_all_wrong_or_all_right() -> None:
    found = three_scored_of_four()
    assert (found.low, found.high) == (0.5, 0.75)


def test_unscored_samples_are_counted_by_their_reason() -> None:
    assert three_scored_of_four().unscored_reasons == {"model_error": 1}


def test_a_remark_is_counted_only_beside_an_answer() -> None:
    best = results("a", 1.0, error="best effort: nowhere is left to go")
    failed = results("b", None, end_reason="model_error", answer=None, error="no connection")
    assert summarise([best, failed, results("c", 1.0)]).remarked == 1


@pytest.mark.parametrize("reason", ["model_error", "sandbox_error", "interrupted", "error"])
def test_a_fault_of_the_machinery_is_unscored_even_if_someone_gave_it_a_zero(reason: str) -> None:
    found = summarise([results("a", 1.0), results("b", 0.0, end_reason=reason)])
    assert found.accuracy == wilson(1, 1)
    assert found.unscored == 1


@pytest.mark.parametrize("reason", ["truncated", "refused", "turn_limit", "no_answer"])
def test_a_fault_of_the_model_is_a_wrong_answer(reason: str) -> None:
    found = summarise([results("a", 1.0), results("b", 0.0, end_reason=reason, answer=None)])
    assert found.accuracy == wilson(1, 2)
    assert found.end_reasons[reason] == 1  # type: ignore[index]


def test_an_answered_sample_without_a_score_says_why() -> None:
    assert summarise([results(value=None, why="the verdict was unreadable")]).unscored_reasons == {
        "the verdict was unreadable": 1
    }


def test_a_record_without_a_score_is_paired_as_ungraded() -> None:
    record = Record("a", 0, "", "4", "answered")
    assert pair([record], {}) == (Result(record, UNGRADED),)


def test_a_record_is_paired_with_its_score() -> None:
    record = Record("a", 0, "", "4", "answered")
    assert pair([record], {("a", 0): Score(1.0)})[0].value == 1.0


def test_a_sub_category_counts_for_its_category_too() -> None:
    found = summarise(
        [results("a", 1, category="x/one"), results("b", 0, category="x/two"), results("c", 1, category="y")]
    )
    rows = {row.name: (row.n, row.accuracy.value if row.accuracy else None) for row in found.categories}
    assert rows == {"x": (2, 0.5), "x/one": (1, 1.0), "x/two": (1, 0.0), "y": (1, 1.0)}


def test_a_category_without_any_score_has_no_accuracy() -> None:
    found = summarise([results("a", 1, category="x"), results("b", None, category="y", end_reason="error")])
    assert [row.accuracy is None for row in found.categories] == [False, True]


def test_repeats_of_a_sample_weigh_as_one_sample() -> None:
    found = summarise(
        [results("a", 1, repeat=0), results("a", 1, repeat=1), results("a", 1, repeat=2), results("b", 0)]
    )
    assert found.accuracy is not None
    assert (found.accuracy.value, found.accuracy.n) == (0.5, 2)
    assert (found.samples, found.repeats, found.n) == (2, 3, 4)


def test_what_was_spent_adds_up() -> None:
    first = results(
        "a", input_tokens=100, cached_tokens=40, output_tokens=5, cost=0.5, seconds=1.0, cells=2, figures=1
    )
    second = results("b", input_tokens=300, cached_tokens=60, output_tokens=7, seconds=9.0, sent_pixels=500)
    found = summarise([first, second])
    assert (found.spending.input_tokens, found.spending.output_tokens) == (400, 12)
    assert found.spending.cached_share == 0.25
    assert (found.spending.cost, found.spending.unpriced) == (0.5, 1)
    assert (found.spending.seconds_median, found.spending.seconds_p95) == (5.0, 9.0)
    assert (found.working.cells, found.working.sent_pixels, found.working.without_cell) == (1.0, 250.0, 1)


def test_an_empty_experiment_has_a_summary_too() -> None:
    found = summarise([])
    assert (found.n, found.accuracy, found.categories, found.spending.seconds_p95) == (0, None, (), 0.0)


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0.01, 1))
def test_a_percentile_is_a_value_that_its_share_do_not_exceed(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9
