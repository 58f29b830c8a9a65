"""Option letters: golden cases of each flavour, and where the flavours part."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics import find_metric
from pyvision.bench.metrics.choice import find_vlmevalkit
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError
from tests.bench.metrics.samples import sample, score, value

FRUIT = sample("B", "red apple", "green pear", "plum", "fig")
FLAVOURS = ["official", "vlmevalkit", "exact", "official-random"]


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("answer", ["B", "(B)", "B.", " B ", r"\boxed{B}", r"So it is \boxed{(B)}"])
def test_a_bare_letter_is_found_by_every_flavour(flavour: str, answer: str) -> None:
    assert value("choice", answer, FRUIT, flavour) == 1
    assert score("choice", answer, FRUIT, flavour).parsed == "B"


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_another_letter_is_wrong(flavour: str) -> None:
    assert value("choice", "C", FRUIT, flavour) == 0


# The rules of MMMU's parse_multi_choice_response: brackets before bare letters, the last of several, texts last.
@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("Not (A) but (C)", "C"),
        ("A is tempting, but (B) fits", "B"),
        ("first A then D", "D"),
        ("(A) or (B)? It must be (A)", "A"),
        ("some kind of green pear", None),  # five words
        ("some kind of large green pear", "B"),  # six
        ("What I see there is a green pear, I think", "B"),
        ("no fig but rather a plum, as it seems", "C"),
        ("green pear", None),  # five words or fewer: texts are not looked for
        ("b", None),
    ],
)
def test_official_takes_the_last_of_the_strongest_form(answer: str, letter: str | None) -> None:
    assert score("choice", answer, FRUIT, "official").parsed == letter


# VLMEvalKit's can_infer, cases recorded for older and newer versions of it.
@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("A baby is pulling", "A"),
        ("B\nExplanation: A force", None),
        ("[B]: green", "B"),
        ("B is the one", "B"),
        ("B is what I say", None),  # not among the last four words
        ("I do not know which. The answer is B since the skin of it is smooth", "B"),
        ("green pear", "B"),
        ("green pear or plum", None),
        ("Z", "Z"),
    ],
)
def test_vlmevalkit_needs_one_letter_near_the_end_or_one_text(answer: str, letter: str | None) -> None:
    assert score("choice", answer, FRUIT, "vlmevalkit").parsed == letter


def test_an_option_inside_another_is_found_twice_by_vlmevalkit() -> None:
    assert find_vlmevalkit("a force field", {"A": "force", "B": "force field"}) is None


def test_exact_takes_no_letter_out_of_a_sentence() -> None:
    assert value("choice", "The answer is B", FRUIT, "exact") == 0
    assert value("choice", "Green Pear", FRUIT, "exact") == 1


def test_official_and_vlmevalkit_part_at_several_letters() -> None:
    assert value("choice", "not A but rather B", FRUIT, "official") == 1
    assert value("choice", "not A but rather B", FRUIT, "vlmevalkit") == 0


# VisualPuzzles reads the last "Answer: X"; ScienceQA in lmms-eval the letter, or what begins with it and a full stop.
@pytest.mark.parametrize(
    ("name", "flavour", "answer", "right"),
    [
        ("visualpuzzles", "official", "Answer: A. No, wait. Answer: B, not C or D", 1),
        ("visualpuzzles", "vlmevalkit", "Answer: A. No, wait. Answer: B, not C or D", 0),
        ("visualpuzzles", "official", "**Answer:** (B)", 1),
        ("visualpuzzles", "official", "It must be (B)", 1),
        ("scienceqa", "lmms-eval", "B. green pear", 1),
        ("scienceqa", "lmms-eval", "The answer is B", 0),
        ("scienceqa", "vlmevalkit", "The answer is B", 1),
        ("circular", "vlmevalkit", "The answer is B", 1),
        ("circular", "exact", "The answer is B", 0),
    ],
)
def test_benchmarks_read_letters_in_their_own_ways(name: str, flavour: str, answer: str, right: int) -> None:
    assert value(name, answer, FRUIT, flavour) == right


def test_a_guess_may_be_right_where_the_rules_find_nothing() -> None:
    lucky = next(
        each for each in (sample("B", "a", "b", name=str(i)) for i in range(64)) if _guesses_right(each)
    )
    assert value("mmmu", "hm", lucky, "official") == 0
    assert value("mmmu", "hm", lucky, "official-random") == 1


def _guesses_right(of: Sample) -> bool:
    return value("mmmu", "hm", of, "official-random") == 1


def test_nothing_found_is_wrong_unless_the_flavour_guesses() -> None:
    assert value("choice", "hm", FRUIT, "official") == 0
    values = Counter(
        value("choice", "hm", sample("B", "a", "b", "c", "d", name=str(number)), "official-random")
        for number in range(400)
    )
    assert 60 < values[1.0] < 140


def test_a_guess_depends_on_the_sample_alone() -> None:
    guesses = {score("choice", "hm", FRUIT, "official-random") for _ in range(5)}
    assert len(guesses) == 1
    assert guesses.pop().parsed is None


def test_a_target_may_be_the_text_of_an_option() -> None:
    assert value("choice", "C", sample("plum", "pear", "fig", "plum")) == 1


def test_letters_without_choices_come_from_the_metadata() -> None:
    assert value("choice", "F", sample("F", letters="ABCDEF")) == 1
    assert value("choice", "(D)", sample("D")) == 1


def test_a_target_that_is_no_option_is_named() -> None:
    with pytest.raises(ConfigError, match=r"sample 's1': target 'x' cannot be scored; .* letters A, B"):
        value("choice", "A", sample("x", "pear", "fig"))


@given(st.text(), st.sampled_from(FLAVOURS))
def test_any_text_is_scored(answer: str, flavour: str) -> None:
    assert find_metric("choice", flavour)(answer, FRUIT).value in (0, 1)


@given(
    st.sampled_from("ABCD"), st.sampled_from(["{}", "({})", "{}.", "The answer is {}", "It must be ({})."])
)
def test_the_right_letter_in_an_accepted_form_scores_one(letter: str, form: str) -> None:
    of = sample(letter, "red apple", "green pear", "plum", "fig")
    assert value("choice", form.format(letter), of, "official") == 1
    assert value("choice", form.format(letter), of, "vlmevalkit") == 1
