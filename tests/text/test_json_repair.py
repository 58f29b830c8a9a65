from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.text.json_repair import decode_value, number_of, values_in

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.lists(JSON_VALUES, max_size=4) | st.dictionaries(st.text(), JSON_VALUES, max_size=4))
def test_every_json_container_in_prose_is_found(value: object) -> None:
    assert json.dumps(list(values_in(f"so: {json.dumps(value)} it is"))) == json.dumps([value])


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("{'box': [1, 2], 'sure': True}", [{"box": [1, 2], "sure": True}]),
        ('[{"a": 1,}, {"b": None},]', [[{"a": 1}, {"b": None}]]),
        ('{"a": 1, // the first\n "b": 2}', [{"a": 1, "b": 2}]),
        ("{“a”: 1}", [{"a": 1}]),
    ],
)
def test_what_leaves_no_doubt_about_the_value_is_fixed(text: str, values: list[Any]) -> None:
    assert list(values_in(f"Here: {text} Done.")) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("the box [in pixels] is [1, 2]", [[1, 2]]),
        ('[{"a": 1}, {"b": [2], "c', [{"a": 1}, [2]]),
        ("{x: [3]}", [[3]]),
    ],
)
def test_of_what_is_broken_the_whole_values_inside_are_found(text: str, values: list[Any]) -> None:
    assert list(values_in(text)) == values


def test_what_is_read_leniently_of_a_reply_is_bounded() -> None:
    assert len(list(values_in("[1,]" * 10_000))) == 5_000


@given(st.text() | st.text("{}[]\",:'ab1 \n`./*\\#"))
def test_no_text_raises(text: str) -> None:
    list(values_in(text))
    decode_value(text)


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ('{"a": 1} rest', ({"a": 1}, 8)),
        ('{"a": {"b": 1}', ({"a": {"b": 1}}, 14)),
        ("{'a': (1, 2)}", ({"a": (1, 2)}, 13)),
        ("no value", None),
    ],
)
def test_the_value_at_the_beginning_is_decoded(text: str, decoded: object) -> None:
    assert decode_value(text) == decoded


@pytest.mark.parametrize(
    ("value", "number"),
    [(1, 1.0), ("2.5", 2.5), (True, None), (float("nan"), None), (10**400, None), ([], None)],
)
def test_numbers_are_finite(value: object, number: float | None) -> None:
    assert number_of(value) == number
