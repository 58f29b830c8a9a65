"""Scores are read in the order of the texts, by name too, and never made up."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.errors import FormatError
from pyvision.tools.perception.model import parse_scores

TEXTS = ("a cat", "a dog")


@pytest.mark.parametrize(
    "reply",
    [
        "[80, 5]",
        "Scores:\n```json\n[80, 5]\n```",
        '{"a dog": 5, "a cat": 80}',
        '{"scores": [80, 5]}',
        '[{"text": "a cat", "score": 80}, {"text": "a dog", "score": "5"}]',
        "First I thought [1, 2], but: [80, 5]",
        "[0.8, 0.05]",
    ],
)
def test_scores_are_read_in_the_order_of_the_texts(reply: str) -> None:
    assert parse_scores(reply, TEXTS) == pytest.approx((0.8, 0.05))


def test_a_whole_number_is_per_cent_though_it_is_one() -> None:
    assert parse_scores("[1, 0]", TEXTS) == (0.01, 0.0)


@pytest.mark.parametrize(
    "reply", ["", "[80]", "[80, 5, 1]", "the cat", '{"a cat": 80}', "[80, null]", "[[], {}]"]
)
def test_a_reply_without_all_scores_is_an_error(reply: str) -> None:
    with pytest.raises(FormatError, match="does not contain 2 scores"):
        parse_scores(reply, TEXTS)


@pytest.mark.parametrize("reply", ["[-1, 5]", "[80, 101]"])
def test_scores_off_the_scale_are_an_error(reply: str) -> None:
    with pytest.raises(FormatError, match="must be from 0 to 100"):
        parse_scores(reply, TEXTS)


@given(st.text() | st.lists(st.none() | st.floats() | st.text() | st.lists(st.integers())).map(json.dumps))
def test_any_reply_is_read_or_refused(reply: str) -> None:
    try:
        scores = parse_scores(reply, TEXTS)
    except FormatError:
        return
    assert len(scores) == 2
    assert all(0 <= score <= 1 for score in scores)
