"""Runs against each other, as they are and at equal budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.analysis.compare import (
    ComparedRun,
    Comparison,
    at_equal_tokens,
    ballot,
    compare,
    price,
    vote,
)
from pyvision.bench.analysis.comparison_report import compare_report, format_verdict
from pyvision.bench.analysis.document import to_markdown
from pyvision.bench.analysis.statistics import samples_needed
from pyvision.bench.harness_card import Differences
from pyvision.bench.samples import Result
from pyvision.errors import ConfigError
from tests.bench.analysis.records import results, run_of


def run(name: str, rows: list[Result]) -> ComparedRun:
    return ComparedRun(name, tuple(rows))


def voting(answers: dict[str, str], *, tokens: int = 100, right: str = "4") -> ComparedRun:
    """Samples with their repeats' answers, a letter each; a dot has no answer."""
    rows = [
        results(
            key,
            float(letter == right),
            repeat=number,
            answer=None if letter == "." else letter,
            input_tokens=tokens,
        )
        for key, letters in answers.items()
        for number, letter in enumerate(letters)
    ]
    return run("cheap", rows)


def test_runs_are_paired_by_sample_in_any_order() -> None:
    first = run("a", [results("x", 1), results("y", 0)])
    second = run("b", [results("y", 0), results("x", 1)])
    (found,) = compare(first, second)
    assert (found.only_first, found.only_second, found.difference.value) == (0, 0, 0.0)


def compare_known_table() -> Comparison:
    first = run("a", run_of([1] * 4 + [0] * 12 + [1] * 20))
    second = run("b", run_of([0] * 4 + [1] * 12 + [1] * 20))
    (found,) = compare(first, second)
    return found


def test_discordant_pairs_are_counted_in_each_direction() -> None:
    found = compare_known_table()
    assert (found.only_first, found.only_second) == (4, 12)


def test_the_p_of_a_known_table_is_that_of_statsmodels() -> None:
    assert compare_known_table().p == pytest.approx(0.0768, abs=1e-4)  # mcnemar(exact=True)


def test_the_difference_of_a_known_table_is_the_net_share_of_discordant_pairs() -> None:
    assert compare_known_table().difference.value == pytest.approx(8 / 36)


def test_the_interval_of_a_known_table_reaches_almost_to_zero() -> None:
    assert compare_known_table().difference.low < 0.03


def test_a_sample_without_a_score_in_one_run_counts_as_left_out() -> None:
    first = run("a", [results("x", 1), results("y", None, end_reason="model_error"), results("z", 1)])
    second = run("b", [results("x", 0), results("y", 1)])
    (found,) = compare(first, second)
    assert (found.difference.n, found.unpaired) == (1, 2)


def test_runs_without_a_common_sample_are_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="left and right have no scored sample in common"):
        compare(run("left", [results("x", 1)]), run("right", [results("y", 1)]))


def test_fractional_scores_have_the_p_of_their_interval() -> None:
    (found,) = compare(run("a", run_of([0.5, 0.2, 1])), run("b", run_of([0.7, 0.4, 1])))
    assert (found.p, found.only_first) == (found.difference.p, None)
    assert found.difference.value == pytest.approx(0.4 / 3)


def test_repeats_have_the_p_of_their_interval() -> None:
    first = run("a", [results("x", 1), results("x", 0, repeat=1)])
    (found,) = compare(first, run("b", [results("x", 1)]))
    assert (found.p, found.only_first) == (found.difference.p, None)
    assert found.difference.value == 0.5


def table(only_first: int, only_second: int, both: int, name: str = "b") -> tuple[ComparedRun, ComparedRun]:
    first = [1] * only_first + [0] * only_second + [1] * both
    second = [0] * only_first + [1] * only_second + [1] * both
    return run("a", run_of(first)), run(name, run_of(second))


def test_a_clear_difference_has_a_verdict() -> None:
    (better,) = compare(*table(4, 30, 20))
    (worse,) = compare(*table(30, 4, 20))
    assert (better.verdict, worse.verdict) == ("better", "worse")
    assert format_verdict(better).startswith("b is better than a by 48.1 points [")


def test_an_undecided_comparison_says_how_many_more_samples_are_missing() -> None:
    (found,) = compare(*table(4, 12, 84))
    assert (found.verdict, found.target) == ("undecided", 0.08)
    assert found.more == samples_needed(0.08, found.deviation) - 100
    assert format_verdict(found).startswith(f"b against a is undecided, {found.more} more samples find")


def test_a_larger_difference_to_detect_needs_fewer_samples() -> None:
    (found,) = compare(*table(4, 12, 84))
    (wide,) = compare(*table(4, 12, 84), detect=0.1)
    assert found.more is not None
    assert wide.more is not None
    assert wide.more < found.more


def test_runs_within_the_difference_to_detect_are_the_same() -> None:
    (found,) = compare(*table(5, 5, 490), detect=0.03)
    assert found.verdict == "alike"
    assert format_verdict(found).endswith("a difference of 3.0 points is ruled out.")


def test_no_difference_at_all_leaves_the_number_open() -> None:
    (found,) = compare(*table(5, 5, 90))
    assert (found.verdict, found.more) == ("undecided", None)
    assert "more samples would not help soon" in format_verdict(found)


def test_one_of_many_comparisons_needs_a_smaller_p() -> None:
    first, second = table(4, 15, 20)
    (alone,) = compare(first, second)
    among = compare(first, second, *[run(f"c{i}", list(first.results)) for i in range(9)])
    assert (alone.verdict, among[0].verdict) == ("better", "undecided")
    assert alone.p == among[0].p


def test_the_report_states_the_verdict_before_the_table() -> None:
    text = to_markdown(compare_report(table(4, 12, 84)))
    assert text.index("- b against a is undecided") < text.index("| run")


def test_the_report_warns_of_different_harnesses_first() -> None:
    found = Differences(("b: model.model: 1 -> 2",), ("b: limits.max_turns: 20 -> 5",))
    text = to_markdown(compare_report(table(4, 12, 84), differences=found))
    assert text.index("limits.max_turns: 20") < text.index("undecided")


def test_what_was_compared_follows_the_finding() -> None:
    found = Differences(("b: model.model: 1 -> 2",), ())
    text = to_markdown(compare_report(table(4, 12, 84), differences=found))
    assert text.index("undecided") < text.index("model.model: 1")


def test_the_price_of_a_run_is_that_of_a_record() -> None:
    found = price(
        run("a", [results("x", input_tokens=10, output_tokens=5, cost=0.2), results("y", seconds=4.0)])
    )
    assert (found.tokens, found.cost, found.seconds) == (7.5, 0.2, 2.0)


def test_the_majority_is_right_where_single_answers_are_not() -> None:
    repeats = voting({"x": "44144"}).results
    assert vote(repeats, 5) == 1.0
    assert vote(repeats, 1) == 0.8


def test_votes_are_counted_from_every_repeat_on() -> None:
    # windows of three in a ring: 441 414 144 444 444 -> the majority is 4 in all
    assert vote(voting({"x": "44144"}).results, 3) == 1.0
    # 112 124 244 441 411: the 1 wins, a tie that the 1 wins, then 4, 4 and 1
    assert vote(voting({"x": "11244"}).results, 3) == pytest.approx(2 / 5)


def test_an_answer_that_is_missing_has_no_vote() -> None:
    assert vote(voting({"x": "..4"}).results, 3) == 1.0
    assert vote(voting({"x": "..."}).results, 3) == 0.0


def test_a_vote_goes_to_what_the_metric_found() -> None:
    spelled = results(answer="The answer is  FOUR. ")
    assert ballot(spelled) == "theanswerisfour"
    assert ballot(Result(spelled.record, type(spelled.score)(1.0, parsed="4"))) == "4"


@given(st.text(alphabet="1234.", min_size=1, max_size=7), st.integers(1, 7))
def test_a_vote_is_never_outside_the_range_of_its_answers(letters: str, size: int) -> None:
    repeats = voting({"x": letters}).results
    values = [each.score.value or 0.0 for each in repeats]
    assert min(values) <= vote(repeats, min(size, len(repeats))) <= max(values)


def test_three_cheap_answers_vote_against_one_that_costs_three_times_as_much() -> None:
    cheap = voting({f"s{i}": "4144" for i in range(20)}, tokens=100)
    dear = run("dear", run_of([1] * 10 + [0] * 10, input_tokens=300))
    found = at_equal_tokens(dear, cheap)
    assert (found.votes, found.share_with_one_more) == (3, 0.0)
    assert found.cheaper_tokens == found.dearer_tokens == 300
    assert found.comparison.first == "cheap, voting"
    assert found.comparison.difference.value == -0.5


def test_some_samples_vote_once_more_where_the_budget_lies_between() -> None:
    cheap = voting({f"s{i}": "4144" for i in range(40)}, tokens=100)
    dear = run("dear", run_of([1] * 40, input_tokens=225))
    found = at_equal_tokens(cheap, dear)
    assert (found.votes, found.share_with_one_more) == (2, 0.25)
    assert found.cheaper_tokens == 225
    assert at_equal_tokens(cheap, dear) == found


@given(st.lists(st.integers(50, 150), min_size=20, max_size=60), st.integers(160, 640))
def test_the_tokens_match_or_the_comparison_is_refused(sizes: list[int], dear_tokens: int) -> None:
    rows = [
        results(f"s{i}", 1.0, repeat=r, input_tokens=size) for i, size in enumerate(sizes) for r in range(6)
    ]
    dear = run("dear", run_of([1] * len(sizes), input_tokens=dear_tokens))
    try:
        found = at_equal_tokens(run("cheap", rows), dear)
    except ConfigError:
        return
    assert found.cheaper_tokens == pytest.approx(found.dearer_tokens, rel=0.05)


def test_too_few_repeats_are_refused_with_the_number_that_is_needed() -> None:
    cheap = voting({f"s{i}": "44" for i in range(30)}, tokens=100)
    with pytest.raises(ConfigError, match=r"cheap has 2 repeats .* run it with --repeat 5"):
        at_equal_tokens(cheap, run("dear", run_of([1] * 30, input_tokens=500)))


def test_budgets_that_no_number_of_votes_matches_are_refused() -> None:
    cheap = voting({"x": "4444"}, tokens=100)
    with pytest.raises(ConfigError, match="apart"):
        at_equal_tokens(cheap, run("dear", [results("x", input_tokens=150)]))


def test_a_sample_whose_repeats_failed_counts_as_left_out() -> None:
    rows = [*voting({f"s{i}": "444" for i in range(30)}, tokens=100).results]
    rows = [
        results("s0", None, repeat=each.record.repeat, end_reason="model_error", input_tokens=100)
        if each.record.sample_id == "s0" and each.record.repeat
        else each
        for each in rows
    ]
    found = at_equal_tokens(run("cheap", rows), run("dear", run_of([1] * 30, input_tokens=300)))
    assert (found.comparison.difference.n, found.comparison.unpaired) == (29, 1)
