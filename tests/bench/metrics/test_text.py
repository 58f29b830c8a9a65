"""Exact matches of texts, and yes or no: what each flavour ignores."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics import find_metric
from pyvision.errors import ConfigError
from tests.bench.metrics.samples import sample, score, value

EVERY = [
    ("text", "exact"),
    ("text", "plain"),
    ("gqa", "vlmevalkit"),
    ("gqa", "lmms-eval"),
    ("gqa", "paper"),
    ("covr", "paper"),
]


# VLMEvalKit: strip and lower; lmms-eval: case and punctuation; VDebugger: VQA's normalisation of the answer alone.
@pytest.mark.parametrize(
    ("answer", "vlmevalkit", "lmms_eval", "paper"),
    [
        ("dog", 1, 1, 1),
        (" Dog ", 1, 1, 1),
        ("dog.", 0, 1, 1),
        ("a dog", 0, 0, 1),
        ("cat", 0, 0, 0),
    ],
)
def test_the_flavours_of_gqa_ignore_different_words(
    answer: str, vlmevalkit: int, lmms_eval: int, paper: int
) -> None:
    assert value("gqa", answer, sample("dog"), "vlmevalkit") == vlmevalkit
    assert value("gqa", answer, sample("dog"), "lmms-eval") == lmms_eval
    assert value("gqa", answer, sample("dog"), "paper") == paper


def test_the_paper_turns_none_into_zero() -> None:
    assert score("gqa", "None", sample("none"), "paper").parsed == "0"


def test_vlmevalkit_keeps_none_as_a_word() -> None:
    assert value("gqa", "None", sample("none"), "vlmevalkit") == 1


def test_covr_reads_true_as_yes_on_both_sides() -> None:
    assert value("covr", "True", sample("yes")) == 1
    assert value("covr", "yes", sample("True")) == 1
    assert value("covr", "False", sample("True")) == 0
    assert value("covr", "three", sample("3")) == 1


def test_exact_ignores_the_space_around_an_answer() -> None:
    assert value("text", " KL 7 ", sample("KL 7"), "exact") == 1


def test_exact_accepts_no_other_spelling() -> None:
    assert value("text", "kl  7.", sample("KL 7"), "exact") == 0


def test_plain_ignores_case_with_spacing_or_a_final_stop() -> None:
    assert value("text", "kl  7.", sample("KL 7"), "plain") == 1


def test_plain_keeps_the_decimal_point() -> None:
    assert value("text", "35", sample("3.5"), "plain") == 0


def test_any_of_several_truths_will_do() -> None:
    assert value("text", r"\boxed{hound}", sample(["dog", "hound"])) == 1


def test_an_empty_answer_has_nothing_parsed() -> None:
    assert (score("text", " ", sample("dog")).parsed, value("text", " ", sample("dog"))) == (None, 0)


@given(st.text(), st.sampled_from(EVERY))
def test_any_text_is_scored(answer: str, metric: tuple[str, str | None]) -> None:
    assert find_metric(*metric)(answer, sample("dog")).value in (0, 1)


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
        ("There is no way to tell.", None),
        ("No image was provided, so I cannot say.", None),
        ("No, I cannot tell.", None),
        ("The answer is no because both are red", "no"),
        ("So no.", "no"),
        ("I cannot say yes.", None),
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
def test_any_text_is_scored_as_yes_or_no(answer: str, flavour: str) -> None:
    assert find_metric("nlvr", flavour)(answer, sample("yes")).value in (0, 1)
