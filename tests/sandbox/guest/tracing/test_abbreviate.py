from __future__ import annotations

import signal
import time
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from sandbox.guest.tracing.abbreviate import Abbreviation
from tests.sandbox.processes import wait_until

patient = settings(deadline=None)
Point = namedtuple("Point", "x y")


@dataclass
class Record:
    name: str
    secret: str = field(default="hidden", repr=False)
    inner: Any = None


def describe(value: object, max_chars: int = 200) -> str:
    return Abbreviation(max_chars).of(value)


def cut(text: str, most: int) -> str:
    left = (most - 3) // 2
    return text if len(text) <= most else f"{text[:left]}...{text[left + 3 - most :]}"


def of_cell(body: str) -> Any:
    """An object whose `__repr__` a cell has defined."""
    source = "class Thing:\n    def __repr__(self):\n        " + body
    names: dict[str, Any] = {"time": time}
    exec(compile(source, "<cell 1>", "exec"), names)
    return names["Thing"]()


plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
hashable = st.integers() | st.text() | st.tuples(st.integers(), st.text())
nested = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner) | st.dictionaries(hashable, inner) | st.frozensets(hashable) | st.tuples(inner, inner)
    ),
)


@patient
@given(nested, st.integers(min_value=10, max_value=300))
def test_plain_values_are_described_by_repr_with_the_middle_cut(value: object, most: int) -> None:
    expected = repr(value).encode(errors="backslashreplace").decode()
    assert describe(value, most) == cut(expected, most)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((1,), "(1,)"),
        (set(), "set()"),
        (frozenset({1}), "frozenset({1})"),
        (deque([1], maxlen=2), "deque([1], maxlen=2)"),
        (Point(1, "a"), "Point(x=1, y='a')"),
        (Record("a"), "Record(name='a', inner=None)"),
        (Counter("aab"), "Counter({'a': 2, 'b': 1})"),
        (OrderedDict(a=1), "OrderedDict({'a': 1})"),
        (defaultdict(list, a=[1]), "defaultdict(<class 'list'>, {'a': [1]})"),
        (len, "<built-in function len>"),
        (time, "<module 'time'>"),
        (describe, "<function describe>"),
        (Record, "<class 'tests.sandbox.guest.tracing.test_abbreviate.Record'>"),
        (PurePosixPath("a"), "PurePosixPath('a')"),
        (ValueError("a\nb"), "ValueError('a\\nb')"),
        (np.float64(0.5), "np.float64(0.5)"),
        (np.array([[1, 2], [3, 4]]), "array([[1, 2],       [3, 4]])"),
        (np.zeros((480, 640, 3), np.uint8), "<ndarray 480x640x3 uint8>"),
        (Image.new("L", (4, 3)), "<Image L 4x3>"),
        ([Image.new("RGB", (4, 3))], "[<Image RGB 4x3>]"),
        ("\ud800", "'\\ud800'"),
    ],
)
def test_a_known_value_is_described_briefly(value: object, text: str) -> None:
    assert describe(value) == text


def test_a_number_with_too_many_digits_to_write_is_described_by_its_size() -> None:
    assert describe([10**5000]) == "[<int of 16610 bits>]"


def test_addresses_are_left_out() -> None:
    class Plain:
        pass

    assert describe(Plain()).endswith("<locals>.Plain object>")
    assert " at 0x" not in describe([Plain(), iter([])])


def test_a_repr_of_the_cell_is_shown() -> None:
    assert describe([of_cell("return 'ImagePatch(left=0)'")]) == "[ImagePatch(left=0)]"


@pytest.mark.parametrize("error", ["ValueError", "SystemExit", "RecursionError"])
def test_a_repr_that_raises_is_described(error: str) -> None:
    assert describe({"a": of_cell(f"raise {error}('no')")}) == f"<repr raised {error}>"


def test_a_repr_that_is_not_text_is_described() -> None:
    assert describe(of_cell("return 5")) == "<repr raised TypeError>"


@pytest.mark.parametrize("body", ["\n".join(["while True:", "            pass"]), "time.sleep(60)"])
def test_a_repr_that_does_not_end_is_given_up(body: str) -> None:
    assert describe(of_cell(body)) == "<repr of Thing took too long>"


def test_slow_reprs_are_not_asked_forever() -> None:
    abbreviation = Abbreviation(200)
    slow = of_cell("time.sleep(0.03); return 'slow'")
    assert [abbreviation.of(slow) for _ in range(60)][-1] == "<Thing>"


def test_a_repr_of_megabytes_is_cut() -> None:
    assert len(describe(of_cell("return 'x' * 10_000_000"))) == 200


def test_an_alarm_of_the_cell_still_comes() -> None:
    rung = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    describe(of_cell("return 'a'"))
    try:
        assert wait_until(lambda: rung == [signal.SIGALRM])
    finally:
        signal.signal(signal.SIGALRM, before)


def wide_and_deep() -> object:
    value: Any = [0] * 1000
    for _ in range(15):
        value = [value, value]
    return value


def very_deep() -> object:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    return value


def inside_itself() -> object:
    value: list[Any] = [1]
    value += [value, {"a": value}]
    return value


HUGE: list[Callable[[], object]] = [
    lambda: list(range(2_000_000)),
    lambda: dict.fromkeys(range(1_000_000)),
    lambda: set(range(1_000_000)),
    lambda: "x" * 50_000_000,
    lambda: bytes(50_000_000),
    lambda: Record("a", inner=list(range(1_000_000))),
    wide_and_deep,
    very_deep,
]


@pytest.mark.parametrize("make", HUGE)
def test_a_huge_value_is_described_fast(make: Callable[[], object]) -> None:
    value = make()
    started = time.thread_time()
    assert len(describe(value)) <= 200
    assert time.thread_time() - started < 2  # of the processor, whatever else runs; all of it takes minutes


def test_the_end_of_a_long_list_is_shown() -> None:
    assert describe(list(range(1000)), 20) == cut(repr(list(range(1000))), 20)


def test_a_container_inside_itself_is_described_like_repr() -> None:
    assert describe(inside_itself()) == repr(inside_itself())


def test_an_error_is_described_like_the_last_line_of_a_traceback() -> None:
    abbreviation = Abbreviation(40)
    assert abbreviation.of_error(KeyError("a")) == "KeyError: 'a'"
    assert abbreviation.of_error(ValueError()) == "ValueError"
    assert abbreviation.of_error(np.linalg.LinAlgError("x")) == "numpy.linalg.LinAlgError: x"
    assert len(abbreviation.of_error(ValueError("x" * 100))) == 40


def test_an_error_whose_message_raises_is_described() -> None:
    class BrokenError(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert Abbreviation(200).of_error(BrokenError()) == "<str raised ValueError>"
