"""The most likely token is forbidden where the model is unsure, a limited number of times."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.errors import ConfigError
from pyvision.experiments.vdebugger_training.mask_best import MaskBest, step


def test_the_rest_is_renormalised_without_the_most_likely_token() -> None:
    after, done = step([0.5, 0.3, 0.2], 0, MaskBest())
    assert list(after) == pytest.approx([0.0, 0.6, 0.4])
    assert done == 1


def test_a_sure_step_is_unchanged() -> None:
    assert step([0.96, 0.03, 0.01], 0, MaskBest()) == ((0.96, 0.03, 0.01), 0)


def test_a_difference_at_the_threshold_counts_as_sure() -> None:
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


def test_with_zero_times_nothing_is_forbidden() -> None:
    assert step([0.5, 0.3, 0.2], 0, MaskBest(times=0)) == ((0.5, 0.3, 0.2), 0)


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=9), st.integers(0, 4))
def test_the_result_is_always_a_distribution(weights: list[float], done: int) -> None:
    total = sum(weights)
    after, count = step([weight / total for weight in weights], done, MaskBest())
    assert sum(after) == pytest.approx(1.0)
    assert count - done == after.count(0.0)


@pytest.mark.parametrize("wrong", [{"threshold": 1.1}, {"threshold": -0.1}, {"times": -1}])
def test_an_invalid_rule_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="mask-best"):
        MaskBest(**wrong)  # type: ignore[arg-type]
