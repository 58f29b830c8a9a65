"""Option letters: golden cases of each flavour, and where the flavours part."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics import find_metric
from pyvision.bench.metrics.choice import find_vlmevalkit
from pyvision.errors import ConfigError
from tests.bench.metrics.samples import sample, score, value

FRUIT = sample("B", "red apple", "green pear", "plum", "fig")
FLAVOURS = ["strict", "mmmu", "vlmevalkit", "exact"]


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
def test_mmmu_takes_the_last_of_the_strongest_form(answer: str, letter: str | None) -> None:
    assert score("choice", answer, FRUIT, "mmmu").parsed == letter


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
        ("The answer is **B**. Because it is green, as pears are, it must be", "B"),
        ("green pear, which I say at a length of more than twice that of all options", None),
        ("The answer is beyond me, I fear", "B"),  # the first letter behind "answer is", also of a word
        ("Cannot determine the answer", "Z"),
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


def test_mmmu_takes_the_last_of_several_letters() -> None:
    assert value("choice", "not A but rather B", FRUIT, "mmmu") == 1


def test_vlmevalkit_takes_no_answer_from_several_letters() -> None:
    assert value("choice", "not A but rather B", FRUIT, "vlmevalkit") == 0


# VisualPuzzles reads the last "Answer: X"; ScienceQA in lmms-eval the letter, or what begins with it and a full stop.
@pytest.mark.parametrize(
    ("name", "flavour", "answer", "right"),
    [
        ("visualpuzzles", "as-published", "Answer: A. No, wait. Answer: B, not C or D", 1),
        ("visualpuzzles", "strict", "Answer: A. No, wait. Answer: B, not C or D", 1),
        ("visualpuzzles", "vlmevalkit", "Answer: A. No, wait. Answer: B, not C or D", 0),
        ("visualpuzzles", "as-published", "**Answer:** (B)", 1),
        ("visualpuzzles", "as-published", "It must be (B)", 1),
        ("scienceqa", "lmms-eval", "B. green pear", 1),
        ("scienceqa", "lmms-eval", "B.", 1),
        ("scienceqa", "lmms-eval", "b", 1),
        ("scienceqa", "lmms-eval", "The answer is B", 0),
        ("scienceqa", "vlmevalkit", "The answer is B", 1),
        ("circular", "vlmevalkit", "The answer is B", 1),
        ("circular", "exact", "The answer is B", 0),
    ],
)
def test_benchmarks_read_letters_in_their_own_ways(name: str, flavour: str, answer: str, right: int) -> None:
    assert value(name, answer, FRUIT, flavour) == right


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_reply_without_an_option_is_not_guessed(flavour: str) -> None:
    assert {value("choice", "hm", sample(letter, "a", "b"), flavour) for letter in "AB"} == {0}


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("The answer is **B**. Because it is green, it must be a pear.", "B"),
        ("**Answer: B**", "B"),
        ("B. green pear", "B"),
        ("B) because the skin is smooth", "B"),
        ("B\nThe skin is smooth.", "B"),
        ("(A) is red, (C) is blue. So it can only be (B).", "B"),
        ("A is tempting. So it must be B.", "B"),
        ("Option B is correct, since the skin is smooth.", "B"),
        ("I see a green pear.", "B"),
        ("It is no fig but a green pear.", "B"),
        ("I cannot see the stem, but the answer is B.", "B"),
        (r"The answer is \text{B}.", "B"),
        ("A green pear.", "B"),
        (r"Answer: \( B \)", "B"),
        ("Therefore the correct option is:\n\n**B. green pear, of size A**", "B"),
        ("Since a width is not possible below zero, the answer is (B).", "B"),
        ("As it is impossible to tell by eye, I measured it, so the answer is B.", "B"),
        ("I cannot tell whether the answer is B.", None),
        ("It is a plum or a fig.", None),
        ("Without more information, I am unable to choose between A and B.", None),
        ("It is not the plum.", None),
        ("b", "B"),
        ("It is A rather than B", "A"),
        ("I take A, not B.", "A"),
        ("It is not (A), it is (B).", "B"),
        ("Vitamin B", "B"),
    ],
)
def test_strict_finds_the_option_that_the_reply_names(answer: str, letter: str | None) -> None:
    assert score("choice", answer, FRUIT, "strict").parsed == letter


@pytest.mark.parametrize("options", [("red apple", "green pear", "plum", "a"), tuple("ABCD")])
@pytest.mark.parametrize(
    "answer",
    [
        "N/A", "n/a", "N.A.", "Answer: N/A", "See the Q&A", "It was made in the U.S.A.", "http://example.org/A",
        "A/B", "The answer is A/B", "A or B", "A, B", "A and B", "Both A and B", "A, B and C",
        "Neither A nor B", "It is not B", "Not B.", "It cannot be B", "I don't think it's B", "The answer is not A",
        "It is not (B).",
    ],
)  # fmt: skip
def test_strict_finds_no_option_where_none_or_several_are_named(
    answer: str, options: tuple[str, ...]
) -> None:
    assert score("choice", answer, sample("B", *options), "strict").parsed is None


def test_a_target_may_be_the_text_of_an_option() -> None:
    assert value("choice", "C", sample("plum", "pear", "fig", "plum")) == 1


def test_letters_without_choices_come_from_the_metadata() -> None:
    assert value("choice", "F", sample("F", letters="ABCDEF")) == 1
    assert value("choice", "(D)", sample("D")) == 1


def test_a_target_that_is_not_an_option_is_named() -> None:
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
    assert value("choice", form.format(letter), of, "strict") == 1
    assert value("choice", form.format(letter), of, "mmmu") == 1
    assert value("choice", form.format(letter), of, "vlmevalkit") == 1
