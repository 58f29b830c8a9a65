"""Numbers as people and LaTeX write them; nothing is ever evaluated."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.bench.metrics.mathvision import value_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-3.5", -3.5),
        ("−3", -3),
        ("1,204", 1204),
        ("1{,}204.5", 1204.5),
        ("1e-3", 0.001),
        ("3/4", 0.75),
        (r"\frac{3}{4}", 0.75),
        (r"\dfrac 34", 0.75),
        (r"\frac\pi2", math.pi / 2),
        (r"1\frac{1}{2}", 1.5),
        ("-1 1/2", -1.5),
        ("½", 0.5),
        ("2¾", 2.75),
        (r"\sqrt{2}", math.sqrt(2)),
        (r"\sqrt[3]{8}", 2),
        ("√2", math.sqrt(2)),
        ("2π", 2 * math.pi),
        (r"2\sqrt{3}", 2 * math.sqrt(3)),
        (r"4+2\sqrt{2}", 4 + 2 * math.sqrt(2)),
        (r"3\times 10^{3}", 3000),
        (r"\left(1+2\right)\cdot 3", 9),
        ("10^-2", 0.01),
        ("-2^2", -4),
        (r"60^{\circ}", 60),
        ("60°", 60),
        (r"50\%", 50),
        (r"\$5", 5),
        ("$7$", 7),
        ("5 cm", 5),
        ("5cm²", 5),
        (r"5\text{ cm}^2", 5),
        ("12 square units", 12),
        ("5 m^2", 5),
        ("5.", 5),
    ],
)
def test_a_number_is_read_in_any_of_its_forms(text: str, value: float) -> None:
    assert value_of(text) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "2x",
        "3 4",
        "1/0",
        "2^9999",
        "1e999",
        "(-8)^(1/3)",
        r"\sqrt{-1}",
        "(1",
        "1)",
        r"\sin 1",
        "__import__('os')",
        "(" * 100 + "1" + ")" * 100,
        "2" + "^2" * 140,
        "²",
        "٣",
    ],
)
def test_what_is_no_number_has_no_value(text: str) -> None:
    assert value_of(text) is None


@given(st.integers(-999_999, 999_999), st.integers(1, 999))
def test_a_fraction_is_read_in_each_notation(above: int, below: int) -> None:
    forms = (
        f"{above}/{below}",
        rf"\frac{{{above}}}{{{below}}}",
        rf"$\dfrac{{{above}}}{{{below}}}$ cm",
        f"{above / below!r}",
    )
    for form in forms:
        assert value_of(form) == pytest.approx(above / below, abs=1e-9)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_python_writes_is_read_back(number: float) -> None:
    assert value_of(repr(number)) == number


@given(st.text() | st.text("0123456789+-*/^(){}[]\\,. πfracsqrt%$e"))
def test_any_text_has_a_finite_value_or_none(text: str) -> None:
    value = value_of(text)
    assert value is None or math.isfinite(value)
