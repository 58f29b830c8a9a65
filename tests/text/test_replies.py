"""Replies as models write them, well and badly: what runs, what counts as the answer, what is only prose."""

from __future__ import annotations

import textwrap

import pytest

from pyvision.errors import FormatError
from pyvision.text.replies import (
    code_is_cut,
    find_answer,
    find_code,
    find_thought,
    has_hallucinated_output,
    without_thinking,
)


def block(code: str, language: str = "python") -> str:
    return f"<code>\n```{language}\n{code}\n```\n</code>"


# --- code: the ordinary forms


def test_a_fenced_block_gives_its_code() -> None:
    assert find_code("Let me look.\n" + block("x = 1\nprint(x)")) == "x = 1\nprint(x)"


def test_a_block_whose_closing_tag_the_endpoint_cut_off_gives_its_code() -> None:
    assert find_code("<code>\n```python\nprint(1)\n```\n") == "print(1)"


def test_a_fence_that_is_never_closed_runs_to_the_end() -> None:
    assert find_code("<code>\n```python\nprint(1)\nprint(2)") == "print(1)\nprint(2)"


def test_a_fence_that_is_never_closed_ends_at_the_closing_tag() -> None:
    assert find_code("<code>\n```python\nprint(1)\n</code>\nprint is done") == "print(1)"


@pytest.mark.parametrize("language", ["python", "py", "python3", "Python", "PY", "ipython", ""])
def test_every_name_of_python_is_accepted(language: str) -> None:
    assert find_code(block("print(1)", language)) == "print(1)"


def test_tilde_fences_are_fences() -> None:
    assert find_code("<code>\n~~~python\nprint('```')\n~~~\n</code>") == "print('```')"


def test_the_fence_may_share_a_line_with_the_tag() -> None:
    assert find_code("<code>```python\nprint(1)\n```</code>") == "print(1)"


def test_a_fence_on_one_line_gives_its_code() -> None:
    assert find_code("<code>```python print(1)```</code>") == "print(1)"


def test_tags_inside_a_fence_give_their_code() -> None:
    assert find_code("```python\n<code>\nprint(1)\n</code>\n```") == "print(1)"


def test_upper_case_tags_are_tags() -> None:
    assert find_code("<CODE>\n```python\nprint(1)\n```\n</CODE>") == "print(1)"


def test_windows_newlines_become_plain_ones() -> None:
    assert find_code("<code>\r\n```python\r\nx = 1\r\nprint(x)\r\n```\r\n</code>") == "x = 1\nprint(x)"


def test_an_indented_block_is_moved_to_the_margin() -> None:
    reply = "1. Look\n" + textwrap.indent(block("if x:\n    print(1)"), "   ")
    assert find_code(reply) == "if x:\n    print(1)"


def test_prose_after_the_tag_is_left_out_before_the_fence() -> None:
    assert find_code("<code>\nHere it is:\n```python\nprint(1)\n```\n</code>") == "print(1)"


def test_a_syntax_error_in_a_fence_is_left_to_the_kernel() -> None:
    assert find_code(block("print(1") + "\n" + block("print(2)")) == "print(1"


def test_a_cell_magic_in_a_fence_is_left_to_the_kernel() -> None:
    assert find_code(block("%matplotlib inline\nprint(1)")) == "%matplotlib inline\nprint(1)"


# --- code: which block


def test_the_first_block_runs() -> None:
    assert find_code(block("print(1)") + "\nand\n" + block("print(2)")) == "print(1)"


def test_what_follows_hallucinated_output_is_ignored() -> None:
    reply = block("print(1)") + "\n<interpreter>\n1\n</interpreter>\n" + block("print(2)")
    assert find_code(reply) == "print(1)"


def test_imagined_output_ends_a_block_that_was_never_closed() -> None:
    assert find_code("<code>\nprint(1)\n<interpreter>\n1\n</interpreter>") == "print(1)"


def test_only_the_first_fence_of_a_block_runs() -> None:
    reply = "<code>\n```python\na = 1\n```\nthen\n```python\na = 2\n```\n</code>"
    assert find_code(reply) == "a = 1"


def test_a_mention_before_the_block_does_not_hide_it() -> None:
    assert find_code("I will write <code> tags.\n" + block("print(1)")) == "print(1)"


def test_a_fence_inside_a_string_does_not_end_the_block() -> None:
    code = 'text = """\n```\nnot the end\n```\n"""\nprint(text)'
    assert find_code(block(code)) == code


CODE_BEFORE_ANSWER = block("print(1)") + "\n<answer>\\boxed{1}</answer>"


def test_code_is_found_in_a_reply_that_also_answers() -> None:
    assert find_code(CODE_BEFORE_ANSWER) == "print(1)"


def test_an_answer_is_found_in_a_reply_that_also_has_code() -> None:
    assert find_answer(CODE_BEFORE_ANSWER) == "1"


# --- code: without a fence, without a tag


def test_a_block_without_a_fence_is_code_when_it_parses() -> None:
    assert find_code("<code>\nx = 3\nprint(x)\n</code>") == "x = 3\nprint(x)"


@pytest.mark.parametrize(
    "line", ["!pip install torch", "%matplotlib inline", "pip install torch", "conda install x"]
)
def test_a_line_that_ipython_runs_is_code_without_a_fence(line: str) -> None:
    assert find_code(f"<code>\n{line}\nx\n</code>") == f"{line}\nx"


def test_an_attribute_on_its_own_is_a_cell() -> None:
    assert find_code("<code>\nimage_clue_0.size\n</code>") == "image_clue_0.size"


def test_an_unclosed_block_without_a_fence_is_code_when_it_starts_its_line() -> None:
    assert find_code("Look:\n<code>\nprint(image_clue_0.size)\n") == "print(image_clue_0.size)"


def test_a_block_at_the_end_of_a_sentence_is_code() -> None:
    assert find_code("Let me check: <code>print(image_clue_0.size)</code>") == "print(image_clue_0.size)"


def test_a_python_fence_without_a_tag_is_code() -> None:
    assert find_code("Let me look.\n```python\nprint(1)\n```\n") == "print(1)"


def test_a_python_fence_beside_a_boxed_answer_is_not_code() -> None:
    assert find_code("```python\nprint(1)\n```\nSo it is \\boxed{1}.") is None


def test_a_box_inside_the_code_is_no_answer() -> None:
    reply = "```python\nprint('\\\\boxed{3}')\n```"
    assert (find_code(reply), find_answer(reply)) == ("print('\\\\boxed{3}')", None)


def test_a_fence_without_a_language_is_not_code_outside_the_tag() -> None:
    assert find_code("The table:\n```\nprint(1)\n```\n") is None


def test_a_fence_of_another_language_without_a_tag_is_not_code() -> None:
    assert find_code('```json\n{"a": 1}\n```') is None


# --- code: prose


@pytest.mark.parametrize(
    "reply",
    [
        "I could use <code> to run things, but there is no need.",
        "Write `<code>` and `</code>` around it.",
        'The tag "<code>" opens a block.',
        "The tags <code> and </code> are required.",
        "The call <code>print(x)</code> shows x, so no more is needed.",
        "The variable <code>image_clue_0</code>",
        "Wrapped lines may put\n<code> tags (optional) at the front.",
        "&lt;code&gt;\nprint(1)\n&lt;/code&gt;",
        "There is no code here (really).",
        "",
    ],
)
def test_prose_that_mentions_the_tag_is_not_code(reply: str) -> None:
    assert find_code(reply) is None


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("<code>\n```python\n```\n</code>", "empty"),
        ("<code>\n```python\n# nothing yet\n```\n</code>", "empty"),
        ("<code>\n</code>", "empty"),
        ('<code>\n```json\n{"a": 1}\n```\n</code>', "'json'"),
        ("<code>\nplease look at it\n</code>", "not valid Python"),
        ("<code>\nimage\n</code>", "runs nothing"),
        ("<code>\nNote: this\n</code>", "runs nothing"),
        ("<code>\nx = (1,\n", "line 1: '\\(' was never closed"),
    ],
)
def test_a_block_that_cannot_be_used_is_a_format_error(reply: str, reason: str) -> None:
    with pytest.raises(FormatError, match=reason) as caught:
        find_code(reply)
    assert "\n" not in str(caught.value)


# --- cut replies


@pytest.mark.parametrize(
    "reply",
    [
        "<code>\n```python\nprint(1",
        "<code>\n```python\nprint(1)\n",
        "<code>\nx = (1,\n",
        "<code>\n```python",
        "<code>",
        "Look:\n```python\nprint(1)",
    ],
)
def test_a_reply_that_ends_inside_its_code_is_cut(reply: str) -> None:
    assert code_is_cut(reply)


@pytest.mark.parametrize(
    "reply",
    [
        block("print(1)"),
        "<code>\n```python\nprint(1)\n```",
        "<code>\n```python\nprint(1)```",
        "<code>\nprint(1)\n</code>",
        "<code>\nprint(1)\n<interpreter>\n1",
        block("print(1"),
        "prose that goes on and",
        "I will use <code> to",
        "\\boxed{4}",
    ],
)
def test_a_reply_whose_code_is_whole_is_not_cut(reply: str) -> None:
    assert not code_is_cut(reply)


# --- answers


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (r"<answer>\boxed{7}</answer>", "7"),
        (r"\boxed{'a red car'}", "a red car"),
        (r'\boxed{"yes"}', "yes"),
        (r"\boxed{it's 'big'}", "it's 'big'"),
        (r"\boxed{$42$}", "42"),
        (r"\boxed{\(4\)}", "4"),
        (r"\boxed{\text{three dogs}}", "three dogs"),
        (r"\boxed{\textbf{\mathrm{B}}}", "B"),
        (r"\boxed{ \text{ (C) } }", "(C)"),
        (r"\boxed{\text{a} and \text{b}}", r"\text{a} and \text{b}"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{\{1, 2\}}", "{1, 2}"),
        (r"\boxed{50\%}", "50%"),
        ("\\boxed{三只猫}", "三只猫"),
        ("答案是 \\boxed{“左边 的 Ω”}。", "左边 的 Ω"),
        ("\\boxed{\nline one\nline two\n}", "line one\nline two"),
        (r"\boxed {5}", "5"),
        (r"It is \boxed 7.", "7"),
        (r"It is \boxed -3.5, then", "-3.5"),
        (r"\boxed B", "B"),
        (r"first \boxed{1}, no: \boxed{2}", "2"),
        (r"\boxed{3} as asked in \boxed{}", "3"),
        (r"I will answer in \boxed{...}. It is \boxed{9}", "9"),
        ("<answer>two</answer>", "two"),
        ("<answer>\n'two'\n</answer>\n", "two"),
        ("<ANSWER>one</ANSWER> <answer>two</answer>", "two"),
    ],
)
def test_the_answer_is_found_without_its_wrapping(reply: str, answer: str) -> None:
    assert find_answer(reply) == answer


@pytest.mark.parametrize(
    "reply",
    [
        r"\boxed{}",
        r"<answer>\boxed{ }</answer>",
        r"\boxed{...}",
        r"the \boxed command",
        "<answer></answer>",
        "Put it between <answer> and </answer> tags.",
        "`<answer>x</answer>`",
        "seven",
        "",
    ],
)
def test_a_reply_without_an_answer_gives_no_answer(reply: str) -> None:
    assert find_answer(reply) is None


def test_a_box_that_is_never_closed_is_a_format_error() -> None:
    with pytest.raises(FormatError, match="never closed"):
        find_answer(r"\boxed{1} or rather \boxed{\text{two")


# --- thinking


each_reply_with_thinking = pytest.mark.parametrize(
    "reply",
    [
        "<think>\nI could run " + block("print(1)") + "\n</think>\nIt is \\boxed{2}.",
        "<thinking>\\boxed{1}</thinking>\nIt is \\boxed{2}.",
        "I could run " + block("print(1)") + " or say \\boxed{1}\n</think>\n\nIt is \\boxed{2}.",
        "<THINK>a\n<think>b</think>c</THINK>It is \\boxed{2}.",
    ],
)


@each_reply_with_thinking
def test_code_inside_thinking_is_not_run(reply: str) -> None:
    assert find_code(reply) is None


@each_reply_with_thinking
def test_a_box_inside_thinking_is_not_the_answer(reply: str) -> None:
    assert find_answer(reply) == "2"


def test_thinking_that_never_ends_hides_the_rest() -> None:
    assert find_code("<think>\nmaybe\n" + block("print(1)")) is None


def test_a_think_tag_inside_the_code_is_left_alone() -> None:
    code = 'print("</think>", "<think>")'
    assert find_code(block(code)) == code


def test_a_reply_without_thinking_is_left_as_it_is() -> None:
    assert without_thinking("I think so.\n") == "I think so.\n"


# --- the thought


@pytest.mark.parametrize(
    ("reply", "prose"),
    [
        ("Let me look.\n\n" + block("print(1)") + "\nmore", "Let me look."),
        ("Let me look.\n```python\n<code>\nprint(1)\n</code>\n```", "Let me look."),
        ("It is red.\n<answer>\n\\boxed{red}\n</answer>", "It is red."),
        ("So $\\boxed{4}$.", "So"),
        ("<think>secret</think>\nOpenly said.", "Openly said."),
        ("nothing but prose", "nothing but prose"),
        (block("print(1)"), ""),
    ],
)
def test_the_thought_is_the_prose_before_anything_else(reply: str, prose: str) -> None:
    assert find_thought(reply) == prose


@pytest.mark.parametrize(
    "text",
    [
        "I run it.\n<interpreter>\n9\n</interpreter>\nSo it is 9.",
        "I run it.\n<interpreter>\n9",
        "<interpreter>\n9\n</interpreter>\n<code>\n```python\nf()\n```\n</code>",
    ],
    ids=["closed", "open", "before the code"],
)
def test_an_interpreter_turn_of_the_models_own_is_noticed(text: str) -> None:
    assert has_hallucinated_output(text)


@pytest.mark.parametrize(
    "text",
    [
        "Between the <interpreter> tags stands 7.",
        "<code>\n```python\nprint('<interpreter>')\n```\n</code>",
    ],
    ids=["mentioned", "inside the code"],
)
def test_an_interpreter_tag_that_is_only_mentioned_is_no_turn(text: str) -> None:
    assert not has_hallucinated_output(text)


def test_a_box_in_output_of_the_models_own_is_no_answer() -> None:
    assert find_answer("<interpreter>\n\\boxed{9}\n</interpreter>") is None
