"""Any text a model may write: the search for code and answers never fails, and takes few steps."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyvision.errors import FormatError
from pyvision.text.code_blocks import Steps, find_block
from pyvision.text.python_source import MOST_SOURCE_CHARS, parse_source
from pyvision.text.replies import (
    code_is_cut,
    find_answer,
    find_code,
    find_thought,
    without_thinking,
)
from tests.text.test_replies import block

PROPERTY = settings(derandomize=True, deadline=None, max_examples=150, database=None)


TAGS = "<code> </code> <CODE> <interpreter> </interpreter> <answer> </answer> <think> </think> &lt;code&gt;"


MARKS = [
    "```python\n",
    "```\n",
    "\n```",
    "~~~",
    "`",
    "\n",
    "\r\n",
    " ",
    "'",
    '"',
    '"""',
    "\\boxed{",
    "}",
    "{",
    "\\",
]


TEXTS = ["\\boxed", "print(1)", "x = 1", "if x:", "    ", "so it is", "\x00", "\ud800", "三"]


FRAGMENTS = st.sampled_from([*TAGS.split(), *MARKS, *TEXTS])


PROSE = """the a code tag tags block is are opened with and then I use it to run in not for Note: yes no image
    (see below) <code> </code> `<code>` '<code>' &lt;code&gt; image_clue_0 python; well, end."""


WORDS = st.sampled_from(PROSE.split())


SNIPPETS = st.lists(
    st.sampled_from(
        [
            "x = 1",
            "print(image_clue_0.size)",
            "for i in range(3):\n    print(i)",
            "import numpy as np",
            'text = """\n  ```\n  inside\n  ```\n"""',
            "t = '<code>' + \"<answer>\" + r'\\boxed{1}'",
            "def f(x):\n\n    return x  # ``` 三",
            "plt.imshow(image_clue_0); plt.show()",
            "s = f'{x!r:>{1}}'",
        ]
    ),
    min_size=1,
    max_size=5,
).map("\n".join)


WRAPPERS = st.sampled_from(
    [
        "<code>\n```python\n{}\n```\n</code>",
        "<code>\n```py\n{}\n```\n",
        "Look.\n<code>\n```python\n{}",
        "<code>\n~~~\n{}\n~~~\n</code>",
        "<code>\n````python\n{}\n````\n</code>",
        "<code>```python\n{}\n```</code> and so on",
        "<code>\n{}\n</code>\nSo.",
        "Look.\n<code>\n{}\n",
        "Look.\n```python\n{}\n```\nSo.",
        "Look.\r\n<code>\r\n```python3\r\n{}\r\n```\r\n</code>\n<interpreter>\n1\n</interpreter>",
        "<think>maybe <code>\n```python\nprint(0)\n```\n</code></think>\n<code>\n```python\n{}\n```\n</code>",
    ]
)


@PROPERTY
@given(st.lists(FRAGMENTS | st.text(max_size=8), max_size=30).map("".join))
def test_any_text_gives_a_result_or_a_format_error(text: str) -> None:
    for find in (find_code, find_answer, code_is_cut, find_thought, without_thinking):
        with suppress(FormatError):
            find(text)


@PROPERTY
@given(st.lists(WORDS, max_size=25), st.sampled_from([" ", "\n", " \n"]))
def test_prose_is_never_code(words: list[str], space: str) -> None:
    lines = [" ".join(words[start : start + 7]) for start in range(0, len(words), 7)]
    with suppress(FormatError):  # a tag alone on its line: asked for again, never run
        assert find_code(space.join(lines)) is None


@PROPERTY
@given(SNIPPETS, WRAPPERS)
def test_code_comes_back_exactly_from_every_wrapper(code: str, wrapper: str) -> None:
    assert find_code(wrapper.format(code)) == code


@PROPERTY
@given(st.text(alphabet="ab三 7.,", min_size=1).map(str.strip).filter(lambda text: text.strip(".") != ""))
def test_an_answer_comes_back_exactly_from_its_box(answer: str) -> None:
    assert find_answer(f"So.\n<answer>\n\\boxed{{'{answer}'}}\n</answer>") == answer


# --- hostile replies: the cost grows with their length, and in no step does it keep other threads waiting for long

PIECES = [
    "<code>", "<code> ", "</code>", "</code> ", "```", "```python", "```a ", "~~~", "\n", " ", "`", "x = 1", "f(x)",
    "a (b)\n", "\\boxed{", "}", "<answer>", "</answer>x", "<interpreter>", "<think>", "</think>", "$", "prose ",
]  # fmt: skip


LONG = 20_000  # characters


_STEPS_PER_CHARACTER = 3 * 32 + 8  # 32 ends, and 32 tags in mid-sentence, are each read to the end at most


@PROPERTY
@given(
    st.lists(st.sampled_from(PIECES), max_size=4), st.lists(st.sampled_from(PIECES), min_size=1, max_size=4)
)
def test_the_search_for_code_takes_steps_in_proportion_to_the_length(
    start: list[str], unit: list[str]
) -> None:
    repeated = "".join(unit)
    text, steps = "".join(start) + repeated * (LONG // len(repeated)), Steps()
    find_block(text, steps)
    assert steps.taken <= _STEPS_PER_CHARACTER * len(text)


def test_a_tag_repeated_on_one_line_takes_few_steps() -> None:
    steps = Steps()
    find_block("<code> " * LONG, steps)
    assert steps.taken <= 4 * len("<code> " * LONG)


def test_a_cell_beyond_the_length_limit_is_not_run() -> None:
    with pytest.raises(
        FormatError, match=r"the cell has 2,000,001 characters, and cells of more than 32,000"
    ):
        find_code(block("x" * 2_000_001))


def test_a_cell_at_the_limit_runs() -> None:
    code = "x = 1\n" * (MOST_SOURCE_CHARS // 6 - 1) + "x = 1"
    assert find_code(block(code)) == code


def test_python_of_any_length_is_refused_without_reading_it() -> None:
    with pytest.raises(SyntaxError, match="32,001 characters"):
        parse_source("x" * 32_001)


def test_an_answer_below_a_long_text_is_found() -> None:
    assert find_answer("word " * 100_000 + "\n**Final Answer:** B") == "B"


def test_a_box_in_a_tower_of_macros_is_unwrapped_as_far_as_anyone_goes() -> None:
    answer = find_answer(r"\boxed{" + r"\text{" * 1_000 + "7" + "}" * 1_001)
    assert answer == r"\text{" * 984 + "7" + "}" * 984
