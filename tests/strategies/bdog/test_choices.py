"""The choices of a question are found, and a reply settles on one of them or on none; nothing is guessed."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pyvision.errors import ConfigError
from pyvision.strategies.bdog.roles import ChoiceQuestion, find_choice, parse_choices
from pyvision.types import Question

NESTED = ("cat", "cat on a mat", "stone", "one")
SETTLED = {
    "B": "B",
    "(b)": "B",
    "B.": "B",
    "**B**": "B",
    "The answer is B.": "B",
    "B\nExplanation: A force acts on it": "B",
    r"A is wrong, so \boxed{C}": "C",
    "<answer>D</answer>": "D",
    "A is wrong.\n**Final Answer:** C": "C",
    "D. one": "D",
    "cat": "A",
    "It is a cat on a mat.": "B",
    "stone": "C",
    "I think it is one": "D",
    "<think>A? No.</think>B": "B",
}


@pytest.mark.parametrize("reply", SETTLED)
def test_a_reply_settles_on_a_choice(reply: str) -> None:
    assert find_choice(reply, NESTED).letter == SETTLED[reply]


UNSETTLED = {
    "E": "there is no choice E",
    r"\boxed{Z}": "there is no choice Z",
    "A or B": "it names A and B",
    "B, C": "it names B and C",
    "a cat, not the cat on a mat": "it names A and B",
    "A baby is pulling": "it names no choice",
    "I would have to see more of it": "it names no choice",
    "": "the reply is empty",
    r"\boxed{B": "never closed",
}


@pytest.mark.parametrize("reply", UNSETTLED)
def test_a_reply_that_names_no_choice_or_two_gives_no_choice(reply: str) -> None:
    assert find_choice(reply, NESTED).letter is None


@pytest.mark.parametrize("reply", UNSETTLED)
def test_the_reason_for_no_choice_is_given(reply: str) -> None:
    assert UNSETTLED[reply] in find_choice(reply, NESTED).why


def test_two_choices_with_the_same_text_are_not_resolved() -> None:
    assert find_choice("red", ("red", "blue", "Red")).letter is None


def test_all_26_letters_can_be_chosen() -> None:
    choices = tuple(f"number {n}" for n in range(26))
    assert find_choice("Z", choices).letter == "Z"
    assert find_choice("number 25", choices).letter == "Z"
    assert find_choice("I", choices).letter == "I"


def test_more_choices_than_letters_are_refused() -> None:
    with pytest.raises(ConfigError, match="27 choices; the limit is 26"):
        parse_choices(Question("Which?", choices=("x",) * 27))


LISTED = {
    "lines": "Which?\nA. a dog\nB. a cat",
    "one line": "Which? A. a dog B. a cat",
    "brackets": "Which?\n(A) a dog\n(B) a cat",
    "a heading": "Which?\nOptions:\nA) a dog\nB) a cat",
    "colons": "Which?\nA: a dog\nB: a cat",
}


@pytest.mark.parametrize("form", LISTED)
def test_choices_listed_in_the_text_are_split_from_it(form: str) -> None:
    assert parse_choices(Question(LISTED[form])) == ChoiceQuestion("Which?", ("a dog", "a cat"))


@pytest.mark.parametrize(
    "text", ["Which is larger, A or B?", "What does vitamin A. do?", "A. only one", "Who? A. \nB. ", ""]
)
def test_a_text_that_lists_nothing_has_no_choices(text: str) -> None:
    assert parse_choices(Question(text)) == ChoiceQuestion(text)


def test_what_follows_the_list_stays_in_the_text() -> None:
    found = parse_choices(Question("Which?\nA. a dog\nB. a cat\nAnswer with a letter."))
    assert found == ChoiceQuestion("Which?\nAnswer with a letter.", ("a dog", "a cat"))


def parse_with_both_kinds_of_choices() -> ChoiceQuestion:
    return parse_choices(Question("A. x B. y", choices=("p", "q"), context="Know this."))


def test_the_choices_of_a_question_replace_those_of_its_text() -> None:
    found = parse_with_both_kinds_of_choices()
    assert found == ChoiceQuestion("Know this.\nA. x B. y", ("p", "q"))


def test_the_full_text_gives_the_context_first() -> None:
    assert parse_with_both_kinds_of_choices().full_text == "Know this.\nA. x B. y\nA. p\nB. q"


@example("{", ())
@given(st.text(), st.lists(st.text(max_size=9), max_size=26).map(tuple))
def test_any_reply_to_any_choices_settles_on_one_of_them_or_says_why_not(
    reply: str, choices: tuple[str, ...]
) -> None:
    found = find_choice(reply, choices)
    assert found.letter is None or found.letter in ChoiceQuestion("", choices).letters
    assert found.why


@given(st.text(st.sampled_from("ABC.():\n x"), max_size=40))
def test_no_text_has_only_one_choice(text: str) -> None:
    assert len(parse_choices(Question(text)).choices) != 1


@given(st.text(st.sampled_from("ABC.():\n x"), max_size=40))
def test_splitting_off_the_choices_adds_no_text(text: str) -> None:
    found = parse_choices(Question(text))
    assert sum(map(len, (found.text, *found.choices))) <= len(text) + 1
