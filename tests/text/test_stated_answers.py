"""Final answers in a plain line, as models write them; and prose that only speaks of an answer."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyvision.errors import FormatError
from pyvision.text.replies import find_answer, find_boxed, find_code, last_resort_answer
from pyvision.text.stated_answers import find_stated

PROPERTY = settings(derandomize=True, deadline=None, max_examples=200, database=None)
CODE = "<code>\n```python\nprint('Final answer: 3')\n```\n</code>"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("**Final Answer:** There are 6 paths.", "There are 6 paths"),
        ("Final answer: B", "B"),
        ("The answer is **B**.", "B"),
        ("**Final Answer: B**", "B"),
        ("**Final Answer**: `B`", "B"),
        ("*Final answer:* B", "B"),
        ("__Final answer:__ B", "B"),
        ("FINAL ANSWER = 42", "42"),
        ("Final answer - B", "B"),
        ("- **Final Answer:** B", "B"),
        ("> Final answer: 7", "7"),
        ("### Final Answer\n\nB\n", "B"),
        ("**Final Answer**\n\n$(3,\\ 4)$", "(3, 4)"),
        ("**Final answer:**\n- red: 3\n- blue: 4\n\nI counted twice.", "- red: 3\n- blue: 4"),
        ("I looked.\nFinal answer: 3\nNo:\nFinal answer: 4", "4"),
        ("Final answer: **6** paths", "6 paths"),
        ("Final Answer: 3.5", "3.5"),
        ("Final answer: U.S.", "U.S."),
        ("My final answer is B", "B"),
        ("The final answer is: $6$", "6"),
        ("Answer: B", "B"),
        ("**Answer:** B\n\nThe car is red.", "B"),
        ("So the answer is (B).", "(B)"),
        ("I counted them, so the answer is 6.", "6"),
        ("I counted them. Therefore, the correct answer is **B) blue**.", "B) blue"),
        ("The answer is **B**. The car is red.", "B"),
        ("The answer is 6. I counted them.", "6"),
        ("The answer is B because the car is red.", "B"),
        ("The answer is Dr. Who.", "Dr. Who"),
        ("The correct option is **C**.", "C"),
        ("I looked.\n\nAnswer:\n7", "7"),
        ("Answer: below", "below"),
        ("The answer is **incorrect**.", "incorrect"),
        ("Therefore, the correct answer is incorrect.", "incorrect"),
        ("The answer is Washington, D.C..", "Washington, D.C."),
        ("最终答案：三只猫", "三只猫"),
        ("我数了数。\n所以答案是B。", "B"),
    ],
)
def test_an_answer_that_is_stated_is_found(reply: str, answer: str) -> None:
    assert find_answer(reply) == answer


@pytest.mark.parametrize(
    "reply",
    [
        "The answer is unclear because the picture is dark.",
        "The answer is not visible here.",
        "The answer is probably 6.",
        "The answer is below.",
        "Answer: unknown",
        "Answer:\n7\n\nNow I check it.",
        "The answer is in the table below:",
        "The answer is B. Let me verify that by cropping.",
        "The answer is B?",
        "If the answer is 6, there must be three on each side.",
        "I wonder whether the answer is 6.",
        "The answer is 6 in the first picture.\nNow the second one.",
        "Answer: B\nBut I need to look closer.",
        "Final answer: B\n\nWait, one of them is hidden.",
        "Final answer: let me count again.",
        "Final answer: <letter>",
        "Final Answer: [your answer]",
        "Final Answer: ...",
        "Final answer: \\boxed{}",
        "Final Answer:",
        "I will state the final answer: later.",
        "The final answer will be given later.",
        "```\nFinal answer: 3\n```",
        "Question: how many?\nAnswer: 3\nQuestion: which colour?",
        "There are 6 paths.",
        "",
    ],
)
def test_prose_that_settles_nothing_is_no_answer(reply: str) -> None:
    assert find_answer(reply) is None


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Final answer: 1\n\\boxed{2}", "2"),
        ("Final answer: 1\n<answer>2</answer>", "2"),
        ("\\boxed{2}\n<answer>3</answer>\nFinal answer: 1", "2"),
        ("The answer is 1.\n**Final answer:** 2\nThe answer is **3**.", "2"),
    ],
)
def test_a_box_goes_before_a_tag_before_a_stated_answer(reply: str, answer: str) -> None:
    assert find_answer(reply) == answer


def test_an_answer_that_code_prints_is_not_stated() -> None:
    reply = f"I count them.\n{CODE}"
    assert (find_code(reply), find_answer(reply)) == ("print('Final answer: 3')", None)


def test_an_answer_in_thinking_is_not_stated() -> None:
    assert find_answer("<think>\nFinal answer: 3\n</think>\nI look closer.") is None


def test_an_answer_in_output_of_the_models_own_is_not_stated() -> None:
    assert find_answer("I run it.\n<interpreter>\nFinal answer: 3\n</interpreter>") is None


def test_the_rules_of_benchmarks_see_no_stated_answer() -> None:
    assert find_boxed("Final answer: 3") is None


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (r"\boxed{(3,\ 4)}", "(3, 4)"),
        (r"\boxed{3\,\mathrm{cm}}", r"3 \mathrm{cm}"),
        (r"\boxed{a \quad b}", "a b"),
        (r"\boxed{12\,000}", "12000"),
        (r"\boxed{12{,}000}", "12000"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{a \\ b}", r"a \\ b"),
        (r"\boxed{**B**}", "B"),
    ],
)
def test_spaces_of_latex_become_plain(reply: str, answer: str) -> None:
    assert find_answer(reply) == answer


def test_as_a_last_resort_a_reply_is_its_own_answer() -> None:
    assert last_resort_answer("<think>Hm.</think>\nThere are 6 paths.\n") == "There are 6 paths."


def test_a_reply_of_thinking_alone_has_not_even_that() -> None:
    assert last_resort_answer("<think>Hm.") is None


LABELS = (
    "Final answer",
    "**Final Answer:**",
    "The answer is",
    "the answer is ",
    "Answer:",
    "So ",
    ", so ",
    "最终答案",
)
MARKS = (
    "**",
    "__",
    "*",
    "`",
    "```",
    "```python",
    "~~~",
    "#",
    ">",
    "- ",
    "1. ",
    "$",
    "\\(",
    "\\)",
    "\\ ",
    "{",
    "}",
)
SPACES = ("\n", "\n\n", "\r\n", " ", ".", "?", ":", "：", "!", "...", "。", "\x00", "\ud800", "\u2028")
TAGS = (
    "\\boxed{",
    "<answer>",
    "</answer>",
    "<code>",
    "</code>",
    "<think>",
    "</think>",
    "<interpreter>",
    "<letter>",
)
WORDS = (
    "B",
    "6",
    "St",
    "U.S.",
    "unclear",
    "let me",
    "wait",
    "because",
    "that ",
    "print(1)",
    "There are 6 paths",
)
PIECES = (*LABELS, *MARKS, *SPACES, *TAGS, *WORDS)


def test_no_reply_raises_anything_but_a_format_error() -> None:
    """Ten thousand replies of pieces that the rules look for."""
    draw = random.Random(17)
    for _ in range(10_000):
        reply = "".join(draw.choices(PIECES, k=draw.randrange(1, 24)))
        with suppress(FormatError):
            answer = find_answer(reply)
            assert answer is None or answer.strip()


@PROPERTY
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=30).map("".join))
def test_any_text_can_be_searched_for_an_answer(text: str) -> None:
    stated = find_stated(text)
    assert stated is None or stated.strip()


@PROPERTY
@given(
    st.text("abcdefgh 0123456789", min_size=1, max_size=20).map(str.strip).filter(bool),
    st.sampled_from(
        ["Final answer: {}", "**Final Answer:** {}", "**Final Answer: {}**", "## Final answer\n\n{}"]
    ),
)
def test_any_plain_answer_behind_a_label_comes_back(answer: str, form: str) -> None:
    assert find_answer(f"I looked at it.\n\n{form.format(answer)}\n") == " ".join(answer.split(" "))


@pytest.mark.parametrize(
    "piece", ["so, ", "**", "Final answer: **", "the answer is ", "1. ", "> ", "\n", "``````"]
)
def test_a_long_reply_of_marks_is_read(piece: str) -> None:
    """Rules that look back and forth for each mark would not come to an end."""
    find_answer(piece * 5_000)
