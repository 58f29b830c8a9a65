"""Yes and no: found in prose, or the whole answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics import find_metric
from pyvision.errors import ConfigError
from tests.bench.metrics.samples import sample, score, value


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("yes", "yes"),
        ("True", "yes"),
        ("No, there is not", "no"),
        (r"\boxed{False}", "no"),
        ("There are no dogs, so the answer is: yes", "yes"),
        ("I would say that it is true.", "yes"),
        ("It could be yes or no", None),
        ("perhaps", None),
        ("nothing", None),
    ],
)
def test_yes_or_no_is_found_in_prose(answer: str, found: str | None) -> None:
    assert score("yes_no", answer, sample("yes")).parsed == found


@pytest.mark.parametrize("truth", ["yes", "True", True])
def test_true_is_yes_on_both_sides(truth: object) -> None:
    assert value("nlvr", "true", sample(truth)) == value("nlvr", "Yes", sample(truth)) == 1
    assert value("nlvr", "False", sample(truth)) == 0


# VDebugger's code compares the whole normalised answer.
def test_the_paper_takes_no_word_out_of_a_sentence() -> None:
    answer = "Yes, both have wheels"
    assert value("nlvr", answer, sample("True"), "paper") == 0
    assert value("nlvr", answer, sample("True"), "words") == 1
    assert value("nlvr", "True", sample("True"), "paper") == 1


def test_a_target_that_is_neither_is_named() -> None:
    with pytest.raises(
        ConfigError, match="target 'maybe' cannot be scored; this metric needs yes, no, true or false"
    ):
        value("yes_no", "yes", sample("maybe"))


@given(st.text(), st.sampled_from(["words", "paper"]))
def test_any_text_is_scored(answer: str, flavour: str) -> None:
    assert find_metric("nlvr", flavour)(answer, sample("yes")).value in (0, 1)
