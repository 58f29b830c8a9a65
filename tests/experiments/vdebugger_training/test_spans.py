"""The spans that may be masked: windows of statements, values and tests, at the right characters."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.errors import FormatError
from pyvision.experiments.vdebugger_training.masking import MaskedSpan, candidates, canonical

COUNTING = """\
def execute_command(image) -> str:
    image_patch = ImagePatch(image)
    pears = image_patch.find('pear')
    if len(pears) > 2:
        answer = 'many'
    else:
        answer = None
        print('few')
    return answer"""


def texts(program: str, kind: str) -> list[str]:
    return [span.of(program) for span in candidates(program) if span.kind == kind]


def test_windows_have_up_to_three_statements_that_create_no_patch() -> None:
    lines = [window.splitlines()[0].strip() for window in texts(COUNTING, "window")]
    assert lines.count("pears = image_patch.find('pear')") == 3
    assert lines.count("if len(pears) > 2:") == 2
    assert not any("ImagePatch" in window for window in texts(COUNTING, "window"))


def test_an_else_block_offers_only_values() -> None:
    program = "def f():\n    if a:\n        b = 1\n    else:\n        c = 2\n        d = None"
    assert "c = 2" not in texts(program, "window")
    assert texts(program, "value") == ["1", "2"]


def test_a_window_that_creates_a_patch_in_a_loop_is_not_a_candidate() -> None:
    program = "def f():\n    for x in y:\n        z = ImagePatch(x)\n        return z.find('a')"
    assert texts(program, "window") == ["return z.find('a')"]


def test_values_are_those_of_assignments_or_returns() -> None:
    assert texts(COUNTING, "value") == ["image_patch.find('pear')", "answer", "'many'"]


def test_the_test_of_every_if_is_a_candidate() -> None:
    program = "def f():\n    if a:\n        pass\n    elif b > 1:\n        pass"
    assert texts(program, "test") == ["a", "b > 1"]


def test_a_bare_return_has_no_value() -> None:
    assert texts("def f():\n    return", "value") == []


def test_characters_of_several_bytes_do_not_shift_a_span() -> None:
    program = "def f(image):\n    if image.exists('café crème 🍐') and image.exists('naïve'):\n        return 'é' + 'ü'"
    assert texts(program, "test") == ["image.exists('café crème 🍐') and image.exists('naïve')"]
    assert texts(program, "value") == ["'é' + 'ü'"]


def test_statements_of_the_module_are_not_candidates() -> None:
    assert [span.kind for span in candidates("import os\nx = 1")] == ["value"]


def test_candidates_are_distinct() -> None:
    found = candidates("def f():\n    return 1")
    assert len({(span.start, span.end) for span in found}) == len(found) == 2


@pytest.mark.parametrize("broken", ["def f(:", "x = \0", "(" * 300])
def test_a_program_that_does_not_parse_is_a_format_error(broken: str) -> None:
    with pytest.raises(FormatError, match="does not parse"):
        canonical(broken)


def test_the_canonical_form_has_a_uniform_style() -> None:
    assert canonical('x = "a"  # why') == "x = 'a'"


NAMES = st.sampled_from(["a", "bé", "ü"])
VALUES = st.one_of(st.text(max_size=5), st.integers(0, 9)).map(repr)
SIMPLE = st.builds("{} = {}".format, NAMES, VALUES) | st.builds("return {}".format, VALUES)
BLOCKS = st.builds("if {} == {}:\n    {}\nelse:\n    {}".format, NAMES, VALUES, SIMPLE, SIMPLE)


@given(st.lists(SIMPLE | BLOCKS, min_size=1, max_size=4))
def test_every_candidate_is_a_whole_piece_of_the_program(statements: list[str]) -> None:
    body = "\n".join("    " + line for each in statements for line in each.splitlines())
    program = canonical(f"def f():\n{body}")
    for span in candidates(program):
        piece = span.of(program)
        assert piece
        if span.kind == "window":
            assert ast.parse(_as_function(program, span))
        else:
            assert ast.parse(piece, mode="eval")


def _as_function(program: str, span: MaskedSpan) -> str:
    indent = span.start - (program.rfind("\n", 0, span.start) + 1)
    return "def _():\n" + "\n".join("    " + line for line in _dedent(span.of(program), indent))


def _dedent(piece: str, indent: int) -> list[str]:
    first, *later = piece.splitlines()
    return [first, *(line[indent:] for line in later)]
