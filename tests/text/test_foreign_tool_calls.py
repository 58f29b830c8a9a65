"""Tool calls and tags of other harnesses are read as their models mean them, or named in words."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pyvision.errors import FormatError
from pyvision.text.code_blocks import describe_other_fence
from pyvision.text.foreign_tool_calls import Python, SentSizes, find_calls, write_cell
from pyvision.text.replies import (
    code_is_cut,
    count_dropped_blocks,
    find_answer,
    find_code,
    find_thought,
    has_hallucinated_output,
)

QWEN = '{"name": "image_zoom_in_tool", "arguments": {"bbox_2d": [100, 200, 300, 400], "label": "sign", "img_idx": 0}}'
DEEPEYES = (
    '{"name": "image_zoom_in_tool", "arguments": {"bbox_2d": [100, 200, 300, 400], "label": "the sign"}}'
)
CALL = '{"name": "python", "arguments": {"code": "print(1)"}}'


def run_zoom(
    reply: str, size: tuple[int, int] = (2000, 1000), shown: SentSizes | None = None
) -> tuple[str, list[Image.Image]]:
    """What the cell of a reply prints, and the regions that it shows, at a size of their own."""
    code, displayed = find_code(reply, shown or {}), list[Image.Image]()
    assert code is not None
    names = {f"image_clue_{n}": Image.new("RGB", size) for n in range(3)}
    with redirect_stdout(io.StringIO()) as printed:
        exec(code, {**names, "display": displayed.append})
    return printed.getvalue(), displayed


@pytest.mark.parametrize(
    "reply",
    [
        "```tool_code\nprint(1)\n```",
        "<code>\n```tool_code\nprint(1)\n```\n</code>",
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>\n{CALL}",
        f"<tool_call>\n{CALL}}}\n</tool_call>",
        f"<tool_call>\n{CALL[:-1]}\n</tool_call>",
        f"<tool_calls>[{CALL}]</tool_calls>",
        f"[TOOL_CALLS][{CALL}]",
        '<tool_call>{"name": "python", "arguments": "{\\"code\\": \\"print(1)\\"}"}</tool_call>',
        '<tool_call>{"name": "python", "arguments": "print(1)"}</tool_call>',
        '<tool_call>{"type": "function", "function": '
        '{"name": "execute_python_code", "arguments": {"code": "print(1)"}}}</tool_call>',
        "<tool_call>{'name': 'code_interpreter', 'arguments': {'code': 'print(1)'}}</tool_call>",
        '<tool_call>{"name": "code_interpreter", "arguments": {"code": "```python\\nprint(1)\\n```"}}</tool_call>',
        '<tool_call>{"name": "code_interpreter", "arguments": {"code": ""}}\n<code>\nprint(1)\n</code>\n</tool_call>',
        "<tool_call>\nprint(1)\n</tool_call>",
        "<tool_call>\n```python\nprint(1)\n```\n</tool_call>",
        "<tool_call>\n<function=python>\n<parameter=code>\nprint(1)\n</parameter>\n</function>\n</tool_call>",
        '<function_calls>\n<invoke name="python">\n<parameter name="code">print(1)</parameter>\n</invoke>\n'
        "</function_calls>",
        '<invoke name="python">\n<parameter name="code">print(1)</parameter>\n</invoke>',
        "<tool_call>run_python\n<arg_key>code</arg_key>\n<arg_value>print(1)</arg_value>\n</tool_call>",
        "<python>\nprint(1)\n</python>",
        "<execute_ipython>\nprint(1)\n</execute_ipython>",
        "<|python_tag|>print(1)<|eom_id|>",
        f"```json\n{CALL}\n```",
        f"I run it.\n{CALL}",
        f"<tool_call>\n{CALL}\n</tool_call>\n<tool_response>\n2\n</tool_response>\nSo \\boxed{{2}}",
    ],
)
def test_code_in_another_dialect_is_found(reply: str) -> None:
    assert find_code(reply) == "print(1)"


def test_code_keeps_its_lines_in_every_dialect() -> None:
    reply = '<tool_call>{"name": "python", "arguments": {"code": "a = 1\nif a:\n    print(a)"}}</tool_call>'
    assert find_code(reply) == "a = 1\nif a:\n    print(a)"


def test_the_first_of_two_dialects_in_a_reply_runs() -> None:
    ours = "<code>\n```python\nprint(2)\n```\n</code>"
    assert find_code(f"<tool_call>{CALL}</tool_call>\n{ours}") == "print(1)"
    assert find_code(f"{ours}\n<tool_call>{CALL}</tool_call>") == "print(2)"


def test_a_box_with_an_image_index_is_in_thousandths() -> None:
    text, (region,) = run_zoom(f"<tool_call>\n{QWEN}\n</tool_call>")
    assert "crop((200, 200, 600, 400))" in text
    assert "read as thousandths of the image" in text
    assert region.size == (800, 400)


def test_a_box_without_an_image_index_is_in_pixels() -> None:
    text, (region,) = run_zoom(f"<tool_call>{DEEPEYES}</tool_call>")
    assert "crop((100, 200, 300, 400))" in text
    assert region.size == (1000, 1000)


def test_a_box_in_pixels_is_one_of_the_copy_that_was_shown() -> None:
    text, _ = run_zoom(f"<tool_call>{DEEPEYES}</tool_call>", shown={"image_clue_0": (1000, 500, 0.5, 0.5)})
    assert "crop((200, 400, 600, 800))" in text
    assert "pixels of the copy that you saw, 1000 x 500" in text


def test_a_box_that_does_not_fit_into_the_copy_is_one_of_the_original() -> None:
    text, _ = run_zoom(f"<tool_call>{DEEPEYES}</tool_call>", shown={"image_clue_0": (250, 125, 0.125, 0.125)})
    assert "crop((100, 200, 300, 400))" in text


def test_a_box_with_no_side_above_one_is_in_fractions() -> None:
    box = '{"bbox_2d": [0.1, 0.2, 0.3, 0.4], "target_image": 2}'
    reply = f'<tool_call>{{"name": "crop_image_normalized", "arguments": {box}}}'
    text, _ = run_zoom(reply)
    assert "crop((200, 200, 600, 400))" in text
    assert "image_clue_1" in text


def test_a_grounding_tag_is_a_zoom() -> None:
    reply = '<grounding>{"bbox_2d": [0.1, 0.2, 0.3, 0.4], "source": "observation_1"}</grounding>'
    text, _ = run_zoom(reply)
    assert "image_clue_1, 2000 x 1000 pixels" in text
    assert "crop((200, 200, 600, 400))" in text


def test_several_calls_in_a_row_run_in_one_cell() -> None:
    reply = f"<tool_call>{QWEN}</tool_call>\n<tool_call>{QWEN.replace('100', '150')}</tool_call>"
    text, regions = run_zoom(reply)
    assert len(regions) == 2
    assert text.count("read as thousandths") == 2
    assert count_dropped_blocks(reply) == 0


def test_a_box_outside_of_the_image_shows_its_edge() -> None:
    _, (region,) = run_zoom(f"<tool_call>{DEEPEYES}</tool_call>", size=(50, 50))
    assert max(region.size) > 0


def test_a_rotation_is_clockwise() -> None:
    reply = '<tool_call>{"name": "image_rotate_tool", "arguments": {"angle": 90}}</tool_call>'
    text, (turned,) = run_zoom(reply)
    assert turned.size == (1000, 2000)
    assert "clockwise by 90 degrees" in text
    assert "rotate(-90" in str(find_code(reply))


@pytest.mark.parametrize(
    ("reply", "seen"),
    [
        (
            '<tool_call>{"name": "web_search", "arguments": {"query": "x"}}</tool_call>',
            "tool 'web_search', which does not",
        ),
        (
            '<tool_call>{"name": "zoom", "arguments": {"bbox_2d": [1, 2, 3]}}</tool_call>',
            r"box '\[1, 2, 3\]' is not",
        ),
        (
            '<tool_call>{"name": "zoom", "arguments": {"box": [9, 9, 3, 3]}}</tool_call>',
            r"write display\(image_clue_0",
        ),
        (
            '<tool_call>{"name": "zoom", "arguments": {"box": [1, 1, 3, 3], "image": "cat.jpg"}}</tool_call>',
            "names the image 'cat.jpg'; the images are image_clue_0",
        ),
        ('<tool_call>{"name": "python", "arguments": {}}</tool_call>', "call of 'python' holds no code"),
        ("<tool_call>look at the sign</tool_call>", "<tool_call> cannot be read: 'look at the sign'"),
        ('<tool_call>{"arguments": {"box": [1, 2, 3, 4]}}</tool_call>', "names no tool"),
        ("<tool_call>[]</tool_call>", "cannot be read"),
    ],
)
def test_a_call_whose_meaning_is_unclear_is_named(reply: str, seen: str) -> None:
    with pytest.raises(FormatError, match=seen):
        find_code(reply)


def test_an_unclear_call_beside_an_answer_does_not_hide_it() -> None:
    reply = '<tool_call>{"name": "web_search", "arguments": {}}</tool_call>\n\\boxed{7}'
    assert find_code(reply) is None
    assert find_answer(reply) == "7"


def test_an_unclear_call_does_not_hide_code() -> None:
    unclear = '<tool_call>{"name": "web_search", "arguments": {}}</tool_call>\n'
    assert find_code(f"{unclear}<code>\n```python\nprint(1)\n```\n</code>") == "print(1)"
    assert find_code(f"{unclear}```python\nprint(1)\n```\n") == "print(1)"
    assert find_code(f"{unclear}<tool_call>{CALL}</tool_call>") == "print(1)"


@pytest.mark.parametrize(
    "reply",
    [
        "I cannot use <tool_call> here.",
        'The record is {"name": "Ann", "arguments": 3}.',
        '{"name": "Ann", "age": 3}',
        '```json\n{"name": "red car", "box": [1, 2, 3, 4]}\n```',
        "`<tool_call>` begins a call.",
    ],
)
def test_what_only_looks_like_a_call_is_no_call(reply: str) -> None:
    assert find_code(reply) is None


def test_a_bare_call_beside_an_answer_is_not_code() -> None:
    assert find_code(f"```json\n{CALL}\n```\n\\boxed{{7}}") is None


def test_a_call_that_is_cut_in_its_middle_is_cut() -> None:
    assert code_is_cut('Look.\n<tool_call>\n{"name": "python", "arguments": {"code": "import nump')
    assert not code_is_cut(f"<tool_call>\n{CALL}")


def test_a_call_is_no_part_of_the_thought() -> None:
    reply = f"I look.\n<tool_call>\n{QWEN}\n</tool_call>\n<tool_response>made up</tool_response>"
    assert find_thought(reply) == "I look."


def test_output_that_thyme_imagines_is_no_part_of_its_reply() -> None:
    reply = "<code>\n```python\nprint(1)\n```\n</code>\n<sandbox_output>2 \\boxed{2}</sandbox_output>\n"
    assert find_answer(reply) is None
    assert has_hallucinated_output("Hm.\n<sandbox_output>2 \\boxed{2}</sandbox_output>\n")


def test_a_code_block_of_thyme_ends_at_its_imagined_output() -> None:
    assert find_code("<code>\nprint(1)\n<sandbox_output>2</sandbox_output>") == "print(1)"


@pytest.mark.parametrize(
    ("reply", "seen"),
    [
        ("```javascript\nf()\n```", "its code fence is marked 'javascript' and was not run"),
        ("```\nf()\n```", "its code fence has no language"),
    ],
)
def test_a_fence_that_is_not_run_is_named(reply: str, seen: str) -> None:
    assert seen in str(describe_other_fence(reply))


@pytest.mark.parametrize(
    ("reply", "dropped"),
    [
        ("```python\nf()\n```\nThen:\n```python\ng()\n```\n```python\nh()\n```", 2),
        ("<code>\n```python\nf()\n```\n</code>\n<code>\n```python\ng()\n```\n</code>", 1),
        ("<code>\n```python\nf()\n```\n</code>", 0),
        ("```python\nf()\n```\n<code>\n```python\ng()\n```\n</code>", 1),
        ("Only prose.", 0),
    ],
)
def test_blocks_that_do_not_run_are_counted(reply: str, dropped: int) -> None:
    assert count_dropped_blocks(reply) == dropped


PIECES = st.lists(
    st.sampled_from(
        [
            *(
                "<tool_call>",
                "</tool_call>",
                "<grounding>",
                "<python>",
                "<|python_tag|>",
                "[TOOL_CALLS]",
                "<code>",
            ),
            *(
                "<function=a>",
                "</function>",
                '<invoke name="python">',
                "<parameter=b>",
                "</parameter>",
                "</code>",
            ),
            *(
                "<arg_key>",
                "<arg_value>",
                "```json\n",
                "```",
                "{",
                "}",
                "[",
                '"',
                "'",
                "\\",
                "\n",
                "x",
                "9" * 400,
            ),
            *("print(1)", CALL, QWEN),
        ]
    ),
    max_size=14,
).map("".join)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(PIECES)
def test_every_block_gives_calls_or_a_fault(text: str) -> None:
    found = find_calls(text)
    assert found is None or bool(found.calls) != (found.fault is not None)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(PIECES)
def test_the_code_of_calls_is_python(text: str) -> None:
    found = find_calls(text)
    for call in found.calls if found else ():
        if not isinstance(call, Python):
            compile(write_cell((call,), {}), "cell", "exec")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.sampled_from(["code", "bbox_2d", "image", "x"]), inner)
    ),
    max_leaves=8,
)
TOOLS = st.sampled_from(["python", "image_zoom_in_tool", "rotate", "grounding", "other"])


@settings(deadline=None, derandomize=True, max_examples=300)
@given(TOOLS, JSON, st.booleans())
def test_any_arguments_give_calls_or_a_fault(name: str, arguments: object, in_a_list: bool) -> None:
    call: object = {"name": name, "arguments": arguments}
    found = find_calls(f"<tool_call>{json.dumps([call, arguments] if in_a_list else call)}</tool_call>")
    assert found is not None
    assert bool(found.calls) != (found.fault is not None)


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "<tool_call>\n",
            "<function=a>",
            "<parameter=a",
            "<parameter=a>",
            "<arg_key>a</arg_key><arg_value>",
        ),
        *("{", "\n", "{'a':\n", '<invoke name="', "```json\n", "```\n", "a", " "),
    ],
)
def test_nothing_of_a_long_hostile_reply_runs(piece: str) -> None:
    found = find_calls("<tool_call>" + piece * (200_000 // len(piece)))
    assert found is None or not found.calls
