"""Answers are checked for the form of the task, and nothing in a result is evaluated."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics.boxes import find_box
from pyvision.errors import FormatError
from pyvision.strategies.vdebugger.execution import answer_of, box_in, read_returned

PATCH = (
    "ImagePatch(left=10, right=30, upper=80, lower=50, height=30, width=20, "
    "horizontal_center=20.0, vertical_center=65.0)"
)


def returned(kind: str, text: str, **more: Any) -> Any:
    return read_returned({"type": kind, "text": text, "length": len(text), **more})


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        (True, "yes"),
        (False, "no"),
        (3, "3"),
        (3.0, "3"),
        (2.5, "2.5"),
        ("True", "yes"),
        (" a\n cup ", "a cup"),
    ],
)
def test_a_word_or_a_number_is_the_answer(value: Any, answer: str) -> None:
    assert answer_of(returned(type(value).__name__, str(value), value=value), "vqa", 100) == answer


@pytest.mark.parametrize(("value", "answer"), [(True, "true"), ("False", "false"), ("yes", "true"), (3, "3")])
def test_a_truth_value_is_given_in_the_words_of_the_question(value: Any, answer: str) -> None:
    found = returned(type(value).__name__, str(value), value=value)
    assert answer_of(found, "vqa", 100, question="The cat is black. True or false?") == answer


def test_a_text_loses_its_full_stop() -> None:
    assert answer_of(returned("str", "?", value="a red **cup**."), "vqa", 100) == "a red **cup**"


def test_an_empty_list_is_no() -> None:
    assert answer_of(returned("list", "[]", empty=True), "list", 100) == "no"


def test_a_box_counts_from_the_corner_that_is_asked_for() -> None:
    box = returned("ImagePatch", "?", box=[10, 50, 30, 80])
    assert answer_of(box, "box", 100) == "[10, 20, 30, 50]"
    assert answer_of(box, "box", 100, "bottom-left") == "[10, 50, 30, 80]"
    assert find_box(answer_of(box, "box", 100)) == (10, 20, 30, 50)


def test_a_patch_that_is_written_out_is_a_box() -> None:
    assert box_in(f"[{PATCH}]") == (10, 50, 30, 80)
    assert answer_of(returned("str", PATCH), "box", 100) == "[10, 20, 30, 50]"


@pytest.mark.parametrize(
    "text", ["", "ImagePatch(left=1)", "ImagePatch(__import__('os'))", PATCH.replace("30", "5")]
)
def test_text_that_is_not_a_box_gives_no_box(text: str) -> None:
    assert box_in(text) is None


@pytest.mark.parametrize(
    "box", [[1, 2, 3], [3, 0, 1, 1], [0, 0, float("inf"), 1], ["0", 0, 1, 1], True, [True, 0, 2, 2]]
)
def test_a_box_that_cannot_be_is_refused(box: Any) -> None:
    with pytest.raises(FormatError, match="a patch was expected"):
        answer_of(returned("ImagePatch", "?", box=box), "box", 100)


KEYS = st.sampled_from(["type", "text", "length", "value", "box", "empty"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner), max_leaves=12
)


@given(JSON, st.sampled_from(["vqa", "pair", "list", "box"]))
def test_whatever_a_program_sends_is_an_answer_or_a_format_error(value: Any, form: Any) -> None:
    try:
        answer = answer_of(read_returned(value), form, 100)
    except FormatError:
        return
    assert 0 < len(answer) <= 600


@given(st.text(max_size=200))
def test_any_text_is_read_for_a_box_without_fail(text: str) -> None:
    assert box_in(text) is None
