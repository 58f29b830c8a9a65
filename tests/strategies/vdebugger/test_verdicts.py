"""Verdicts are read from words and from log probabilities."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.strategies.vdebugger.verdicts import Marks, Span, read_word, score_in, verdict_of
from pyvision.types import Reply, TokenLogprob


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        ("right", "right"),
        (" Right.", "right"),
        ("**wrong**\ndef", "wrong"),
        ("Correct", "right"),
        ("incorrect: it", "wrong"),
        ("The program is right.", "right"),
        ("This is not correct.", "wrong"),
        ("It isn't right.", "wrong"),
        ("<think>wrong</think>right", "right"),
        ("It finds the right cup but is wrong.", "unclear"),
        ("rightmost", "unclear"),
        ("", "unclear"),
    ],
)
def test_a_verdict_is_read(reply: str, word: str) -> None:
    assert read_word(reply) == word


def token(text: str, **likely: float) -> TokenLogprob:
    top = tuple((name.replace("_", " "), math.log(share)) for name, share in likely.items())
    return TokenLogprob(text, dict(top)[text], top)


def test_the_score_is_the_share_of_right() -> None:
    assert score_in(Reply("wrong", logprobs=(token("wrong", wrong=0.6, right=0.2),))) == pytest.approx(0.25)


def test_spellings_of_a_word_are_added_up() -> None:
    reply = Reply(" right", logprobs=(token(" right", _right=0.3, Right=0.1, _wrong=0.4, maybe=0.2),))
    assert score_in(reply) == pytest.approx(0.5)


def test_the_score_is_of_the_token_with_the_verdict() -> None:
    tokens = (TokenLogprob("**", 0.0, (("**", 0.0),)), token("right", right=0.9, wrong=0.1))
    assert score_in(Reply("**right**", logprobs=tokens)) == pytest.approx(0.9)


@pytest.mark.parametrize("reply", [Reply("right"), Reply("Hm", logprobs=(TokenLogprob("Hm", 0.0),))])
def test_without_log_probabilities_of_a_verdict_there_is_no_score(reply: Reply) -> None:
    assert score_in(reply) is None


def test_a_score_above_the_threshold_accepts_against_the_word() -> None:
    reply = Reply("wrong", logprobs=(token("wrong", wrong=0.5, right=0.4),))
    assert verdict_of(reply, Marks(), 0.4).is_accepted
    assert not verdict_of(reply, Marks(), 0.5).is_accepted
    assert not verdict_of(reply, Marks(), None).is_accepted


def test_a_mark_is_a_verdict() -> None:
    assert verdict_of(Reply("Hm"), Marks((Span(0, 1),)), 0.5).word == "wrong"


@given(
    st.text(alphabet="right wrong incorrect'n.\n*", max_size=60),
    st.lists(st.tuples(st.text(max_size=5), st.floats(-1e9, 5))),
)
def test_a_score_is_a_probability(text: str, likely: list[tuple[str, float]]) -> None:
    score = score_in(Reply(text, logprobs=(TokenLogprob(text, -0.1, tuple(likely)),)))
    assert score is None or 0 <= score <= 1
