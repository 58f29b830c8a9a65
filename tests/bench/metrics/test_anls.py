"""ANLS: similarity to the nearest accepted text, from 0.5 up, with cases from the formula of DocVQA."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics import find_metric
from tests.bench.metrics.samples import sample, value

FLAVOURS = ["official", "vlmevalkit", "lmms-eval"]


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize(
    ("answer", "target", "expected"),
    [
        ("Invoice 12", "invoice 12", 1.0),
        ("kitten", "sitten", 5 / 6),
        ("ab", "ax", 0.5),
        ("abc", "axy", 0.0),  # a third
        ("1988", ["1998", "1978"], 0.75),
        ("pear", ["apple", "pear"], 1.0),
    ],
)
def test_the_similarity_counts_from_one_half(
    answer: str, target: object, expected: float, flavour: str
) -> None:
    assert value("docvqa", answer, sample(target), flavour) == pytest.approx(expected)


def test_the_official_metric_treats_none_as_no_answer() -> None:
    assert value("docvqa", "None", sample("none"), "official") == 0
    assert value("docvqa", "None", sample("none"), "vlmevalkit") == 1


def test_space_inside_shortens_the_distance_alone_for_vlmevalkit() -> None:
    assert value("docvqa", "a  b", sample("a b"), "official") == 0.75
    assert value("docvqa", "a  b", sample("a b"), "vlmevalkit") == 1


@given(st.text(min_size=1, max_size=20), st.text(max_size=20), st.sampled_from(FLAVOURS))
def test_any_text_is_scored_from_0_to_1(truth: str, answer: str, flavour: str) -> None:
    if not truth.strip():
        truth = "x"
    found = find_metric("anls", flavour)(answer, sample(truth)).value
    assert found is not None
    assert found == 0 or 0.5 <= found <= 1
