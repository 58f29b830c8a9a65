"""The offline model is coder, critic and refiner of visual programs by rules."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.offline.vdebugger_roles import find_program_reply
from pyvision.strategies.vdebugger.verdicts import read_word
from pyvision.types import Message, Reply, Text

VQA, BOX = "def execute_command(image) -> str:", "def execute_command(image) -> ImagePatch:"
LIST, PAIR = "def execute_command(image_list) -> str:", "def execute_command(image_dict) -> str:"


def answer_to(text: str) -> Reply:
    reply = find_program_reply((Message("user", (Text(text),)),))
    assert reply is not None
    return reply


def reply_to(text: str) -> str:
    return answer_to(text).text


def write_program(question: str, signature: str = VQA) -> str:
    reply = reply_to(f"Write it.\n\n# Given an image: {question}\n{signature}")
    program = reply.removeprefix("```python\n").removesuffix("\n```")
    ast.parse(program)
    return program


def case(program: str, result: str, trace: str, question: str = "How many cups are there?") -> str:
    return f"Look:\n\n# Given an image: {question}\n{program}\n\n-> {result}\n\n--- Trace\n\n{trace}"


PROGRAMS = {
    "How many red circles are there?": "image_patch.find('red circle')",
    "What colour is the triangle?": "triangle_patches[0].simple_query('What colour is the triangle?')",
    "Are there any blue boxes?": "image_patch.find('blue box')",
    "Are there fewer squares than circles?": "len(square_patches) < len(circle_patches)",
    "Who painted this?": "return image_patch.simple_query('Who painted this?')",
}


@pytest.mark.parametrize("question", PROGRAMS)
def test_the_wording_of_a_question_chooses_its_program(question: str) -> None:
    assert PROGRAMS[question] in write_program(question)


@pytest.mark.parametrize(
    ("question", "signature", "part"),
    [
        ("Find the largest circle.", BOX, "max(patches, key"),
        ("Find the leftmost red square.", BOX, "find('red square')"),
        ("How many dogs are there?", LIST, "for image in image_list:"),
        ("Is the statement true? Both show dogs.", PAIR, "image_dict.values()"),
    ],
)
def test_every_form_has_programs(question: str, signature: str, part: str) -> None:
    assert part in write_program(question, signature)


def test_the_critic_declines_to_judge_a_program_that_ran() -> None:
    program = write_program("How many cups are there?")
    text = f"{case(program, '3', 'return 4')}\n\n# Program is"
    reply = answer_to(text)
    assert (reply.finish, read_word(reply.text)) == ("refusal", "unclear")


def test_the_critic_marks_the_line_that_raised() -> None:
    trace = (
        "line         3     x\nexception    3     x\nException:..... NameError: x\nCall ended by exception"
    )
    reply = reply_to(f"{case(write_program('How many cups are there?'), 'None', trace)}\n\n# Program is")
    assert reply.startswith("wrong\ndef")
    assert "    <<<BUG>>>cup_patches = image_patch.find('cup')<<<BUG/>>>\n" in reply


@pytest.mark.parametrize(
    ("result", "trace"), [("None", "return       3     x"), ("None", "Compile Error"), ("", "x")]
)
def test_the_critic_rejects_a_program_without_a_result(result: str, trace: str) -> None:
    reply = reply_to(f"{case(write_program('How many cups are there?'), result, trace)}\n\n# Program is")
    assert reply.startswith("wrong")


def test_the_refiner_falls_back_to_a_simpler_program_once() -> None:
    question = "How many cups are there?"
    refined = reply_to(f"{case(write_program(question), 'None', 'x', question)}\n\n# Correction")
    assert "simple_query('How many cups are there?')" in refined
    plain = refined.removeprefix("```python\n").removesuffix("\n```")
    assert reply_to(f"{case(plain, 'None', 'x', question)}\n\n# Correction") == refined


def test_blocks_are_judged_by_their_numbers() -> None:
    trace = "exception    3     x\nCall ended by exception"
    blocks = case("BLOCK 1\n    a = 1\n\nBLOCK 2\n    b = x", "None", trace)
    reply = reply_to(f"{blocks}\n\n# Blocks are")
    assert reply == "BLOCK 1: right\nBLOCK 2: wrong"


@given(st.text(max_size=200))
def test_other_conversations_get_no_program(text: str) -> None:
    assert find_program_reply((Message("user", (Text(text),)),)) is None
    assert find_program_reply(()) is None


@given(
    st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=80),
    st.sampled_from([VQA, BOX, LIST, PAIR]),
)
def test_any_question_gets_a_program_that_is_python(question: str, signature: str) -> None:
    assert write_program(question, signature).startswith(signature)
