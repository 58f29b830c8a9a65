"""How many samples a comparison needs, from assumptions and from pilots."""

from __future__ import annotations

import pytest

from pyvision.bench.analysis.compare import ComparedRun
from pyvision.bench.analysis.document import to_markdown
from pyvision.bench.analysis.planning import Pilot, find_deviation, plan_report, plan_samples, price_of
from pyvision.bench.analysis.statistics import samples_needed
from pyvision.bench.samples import Result
from pyvision.config.prices import Price
from pyvision.errors import ConfigError
from tests.bench.analysis.records import results, run_of


def run(rows: list[Result], name: str = "a") -> ComparedRun:
    return ComparedRun(name, tuple(rows))


def test_without_a_pilot_the_runs_are_taken_as_independent_at_50_percent() -> None:
    found = plan_samples(0.03)
    assert found.deviation.value**2 == pytest.approx(0.5)
    assert found.samples == samples_needed(0.03, 0.5**0.5)


def test_one_pilot_gives_its_accuracy() -> None:
    found = find_deviation([run(run_of([1] * 90 + [0] * 10))], detect=0.1, repeats=1)
    assert found.value**2 == pytest.approx(0.9 * 0.1 + 0.8 * 0.2)


def test_two_pilots_give_the_deviation_of_their_differences() -> None:
    first, second = run(run_of([1, 0, 1, 1] * 10)), run(run_of([0, 1, 1, 1] * 10), "b")
    found = find_deviation([first, second], detect=0.1, repeats=1)
    assert found.value**2 == pytest.approx(0.5 * 40 / 39)
    assert found.n == 40
    assert found.error is not None


def test_repeats_reduce_only_what_is_due_to_chance() -> None:
    luck = [results(f"s{i}", (i >> r) % 2, repeat=r) for i in range(20) for r in range(2)]
    sure = [results(f"s{i}", i >= 10, repeat=r) for i in range(20) for r in range(2)]
    once, often = (find_deviation([run(luck), run(sure, "b")], 0.1, repeats) for repeats in (1, 100))
    assert often.value**2 == pytest.approx(once.value**2 - 0.25 * 0.99)
    assert find_deviation([run(sure), run(sure, "b")], 0.1, 1).value == 0


def test_pilots_without_any_difference_do_not_make_a_plan() -> None:
    same = run_of([1, 0] * 10)
    with pytest.raises(ConfigError, match="same amount in all 20 samples"):
        plan_samples(0.03, pilots=(Pilot(run(same)), Pilot(run(same, "b"))))


def test_the_cost_is_that_of_the_pilots_answers() -> None:
    rows = run_of([1, 0] * 10, input_tokens=1000, output_tokens=100, cost=0.01)
    found = plan_samples(0.2, repeats=2, pilots=(Pilot(run(rows)),))
    (spent,) = found.spending
    assert spent.answers == 2 * found.samples
    assert (spent.input_tokens, spent.output_tokens) == (1000 * spent.answers, 100 * spent.answers)
    assert spent.cost == pytest.approx(0.01 * spent.answers)


def test_a_price_table_gives_the_cost_of_tokens() -> None:
    rows = run_of([1, 0] * 10, input_tokens=1000, output_tokens=100, cached_tokens=500)
    pilot = Pilot(run(rows), Price(2.0, 8.0, cached=0.5))
    (spent,) = plan_samples(0.2, pilots=(pilot,)).spending
    assert spent.cost == pytest.approx(spent.answers * (500 * 2.0 + 500 * 0.5 + 100 * 8.0) / 1e6)
    assert spent.currency == "USD"


def test_an_unknown_price_is_not_zero() -> None:
    rows = [*run_of([1, 0] * 5, cost=0.01), results("x", cost=None)]
    found = plan_samples(0.2, pilots=(Pilot(run(rows)),))
    assert found.spending[0].cost is None
    assert "unknown" in to_markdown(plan_report(found))


def test_a_dataset_that_is_too_small_shows_what_it_can_detect() -> None:
    found = plan_samples(0.03, available=191)
    assert found.detectable is not None
    assert samples_needed(found.detectable, 0.5**0.5) <= 191
    assert "vstar has 191 samples: too few. All of them find 14." in to_markdown(plan_report(found, "vstar"))


def test_a_small_pilot_leaves_the_number_open() -> None:
    first, second = run(run_of([1, 0, 1, 1] * 5)), run(run_of([0, 1, 1, 1] * 5), "b")
    found = plan_samples(0.1, pilots=(Pilot(first), Pilot(second)))
    assert found.least < found.samples < found.most
    assert f"lies between {found.least:,} and {found.most:,}" in " ".join(
        to_markdown(plan_report(found)).split()
    )


@pytest.mark.parametrize(
    ("configuration", "known"),
    [
        ({"model": {"model": "gpt-4.1-mini"}}, True),
        ({"model": {"model": "gpt-4.1"}, "roles": {"critic": {"model": "other"}}}, False),
        ({"model": {"wire": "offline"}}, False),
        ({}, False),
    ],
)
def test_only_an_experiment_with_one_model_has_a_price(configuration: dict[str, object], known: bool) -> None:
    assert (price_of(configuration, {"gpt-4.1*": Price(2, 8)}) is not None) == known
