"""One path from a reply to an answer: what is only form goes, what is content stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.text.answers import Missing, find_bare, in_words_of, read_answer, truth_word
from pyvision.text.replies import find_answer
from pyvision.types import Answer, Reply

CLEANED = {
    "B.": "B",
    "a red car.": "a red car",
    "3.14.": "3.14",
    "**B**.": "B",
    "`7`": "7",
    r"\text{blue}.": "blue",
    "“a red car”.": "a red car",
    "'it's blue'": "it's blue",
    "'B.'": "B.",
    '"Keep off the grass."': "Keep off the grass.",
    "Washington, D.C.": "Washington, D.C.",
    "J. F. K.": "J. F. K.",
    "a Ph.D.": "a Ph.D.",
    "8 Main St.": "8 Main St.",
    "No.": "No",
    "at 5 p.m.": "at 5 p.m.",
    r"3~\text{cm}": r"3 \text{cm}",
    "~5": "~5",
    "one.\ntwo.": "one.\ntwo.",
}


@pytest.mark.parametrize("content", CLEANED)
def test_form_goes_while_content_stays(content: str) -> None:
    assert find_answer(rf"It is \boxed{{{content}}}") == CLEANED[content]


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("B", "B"),
        ("A red car.\n", "A red car"),
        ("<think>A? B?</think>**42 cm**", "42 cm"),
        ("Washington, D.C.", "Washington, D.C."),
        ("There are 7 paths.", "There are 7 paths"),
    ],
)
def test_a_reply_of_a_few_words_is_its_answer(reply: str, answer: str) -> None:
    assert find_bare(reply) == answer


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I see a dog.",
        "Let me look.",
        "Sorry, no.",
        "Is it red?",
        "The answer:",
        "Answer: unknown",
        "<code>print(1)</code>",
        "First this.\nThen that.",
        "The sign is hidden behind a tree that grew there.",
    ],
)
def test_a_reply_with_more_text_is_no_bare_answer(reply: str) -> None:
    assert find_bare(reply) is None


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply("No.", finish="refusal"), "refused"),
        (Reply("The car is", finish="length"), "cut"),
        (Reply(r"\boxed{7"), "never closed"),
        (Reply(" "), "empty"),
        (Reply("I count the cars one by one."), "states no answer"),
    ],
)
def test_a_reply_without_an_answer_says_what_it_lacks(reply: Reply, why: str) -> None:
    found = read_answer(reply)
    assert isinstance(found, Missing)
    assert why in found.why


def test_a_stated_answer_of_a_cut_reply_counts() -> None:
    assert read_answer(Reply(r"It is \boxed{7}, since", finish="length")) == Answer("7")


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Is the cat black?", ("yes", "no")),
        ("The cat is black. True or false?", ("true", "false")),
        ("(True/False) The cat is black.", ("True", "False")),
        ("Answer Yes or No: is the cat black?", ("Yes", "No")),
        ("Is it? YES or NO.", ("YES", "NO")),
        ("Is the sum right or wrong?", ("right", "wrong")),
        ("Is it 'correct' or 'incorrect'?", ("correct", "incorrect")),
        ("Is it black?\nA. True\nB. False", ("True", "False")),
        ("Is it true that the cat is black? Say yes or no.", ("yes", "no")),
        ("What is right of the wrong door?", ("yes", "no")),
    ],
)
def test_the_wording_of_the_question_decides_between_yes_true_or_right(
    question: str, words: tuple[str, str]
) -> None:
    assert tuple(truth_word(value=value, question=question) for value in (True, False)) == words


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("Is it black?", "True", "yes"),
        ("Is it black? True or false?", "no", "false"),
        ("Is it black?", "Yes", "Yes"),
        ("Is it black? True or false?", "a truce", "a truce"),
    ],
)
def test_only_a_truth_value_is_put_into_other_words(question: str, answer: str, expected: str) -> None:
    assert in_words_of(question, answer) == expected


@given(st.text(max_size=200), st.sampled_from(["end", "length", "refusal"]))
def test_any_reply_is_read(text: str, finish: str) -> None:
    found = read_answer(Reply(text, finish=finish))  # type: ignore[arg-type]
    assert isinstance(found, Missing) or found.text
