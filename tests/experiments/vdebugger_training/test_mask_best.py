"""The likeliest token is forbidden where the model hesitates, a few times, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.errors import ConfigError
from pyvision.experiments.vdebugger_training.mask_best import MaskBest, step


def test_a_hesitation_loses_its_likeliest_token_and_the_tail_is_renormalised() -> None:
    after, done = step([0.5, 0.3, 0.2], 0, MaskBest())
    assert list(after) == pytest.approx([0.0, 0.6, 0.4])
    assert done == 1


def test_a_sure_step_stays_as_it_is() -> None:
    assert step([0.96, 0.03, 0.01], 0, MaskBest()) == ((0.96, 0.03, 0.01), 0)


def test_the_threshold_itself_is_sure_enough() -> None:
    assert step([0.75, 0.25], 0, MaskBest(threshold=0.5)) == ((0.75, 0.25), 0)
    assert step([0.74, 0.26], 0, MaskBest(threshold=0.5)) == ((0.0, 1.0), 1)


def test_after_three_times_nothing_more_is_forbidden() -> None:
    assert step([0.5, 0.5], 2, MaskBest())[1] == 3
    assert step([0.5, 0.5], 3, MaskBest()) == ((0.5, 0.5), 3)


def test_of_two_equal_tokens_the_first_is_forbidden() -> None:
    assert list(step([0.1, 0.45, 0.45], 0, MaskBest())[0]) == pytest.approx([0.1 / 0.55, 0.0, 0.45 / 0.55])


@pytest.mark.parametrize("only", [[1.0], [0.0, 1.0, 0.0]])
def test_a_token_without_a_rival_is_never_forbidden(only: list[float]) -> None:
    assert step(only, 0, MaskBest(threshold=1.0)) == (tuple(only), 0)


def test_no_time_allowed_is_ordinary_sampling() -> None:
    assert step([0.5, 0.3, 0.2], 0, MaskBest(times=0)) == ((0.5, 0.3, 0.2), 0)


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=9), st.integers(0, 4))
def test_what_remains_is_a_distribution_and_the_count_grows_by_one_at_most(
    weights: list[float], done: int
) -> None:
    total = sum(weights)
    after, count = step([weight / total for weight in weights], done, MaskBest())
    assert sum(after) == pytest.approx(1.0)
    assert count - done == after.count(0.0)


@pytest.mark.parametrize("wrong", [{"threshold": 1.1}, {"threshold": -0.1}, {"times": -1}])
def test_a_rule_that_means_nothing_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="mask-best"):
        MaskBest(**wrong)  # type: ignore[arg-type]
