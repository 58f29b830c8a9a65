r"""MathVision: an answer is right when it is the option's letter, the option's value, or equal to the free answer.

`target`: the letter or the value. Answers are equal when their texts are, once layout, units and everything before the
last "=" or "≈" are removed; or their values, to 1e-6; or, for points and lists, each of their parts in order.

The published script calls eval() and latex2sympy on what the model wrote. Here `value_of` reads the number without
evaluating any code:
* Read: decimals, thousands separators (`1,204`, `1{,}204`), `1e-3`, `3/4`, `\frac{3}{4}`, `\frac34`, `1\frac{1}{2}`,
  `1 1/2`, `½`, `\sqrt{2}`, `\sqrt[3]{8}`, `√2`, `π`, `^`, products with and without a sign, brackets, and sums of
  these. An integer before a fraction is a mixed number; any other two values side by side are a product.
* Ignored: dollar signs and other currencies, percent and degree signs, `\text{…}`, and units behind the number.
* Not read, where latex2sympy does: variables, functions (`\sin`, `\log`), sums, integrals, matrices, equations. Such
  answers are compared as texts only, so an expression that is equal only by computer algebra is wrong here.
"""

from __future__ import annotations

import math
import re

from pyvision.bench.metrics.choice import find_exact, find_official, options_of, right_letter
from pyvision.bench.metrics.registry import final_part, score_equality, target_texts, unwrap_box
from pyvision.bench.samples import Sample, Score
from pyvision.errors import FormatError

TOLERANCE = 1e-6
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_MOST_CHARACTERS = 300  # of an expression; anything longer is prose
_MOST_DEPTH = 30  # of brackets, roots and exponents within each other
_REPLACED = [
    (re.compile(pattern, re.ASCII), replacement)
    for pattern, replacement in (
        (r"\\left|\\right|\\[,;!:]|\\\s|\\quad|~|\$|\\\$|[€£¥]", " "),
        (r"\{,\}", ","),
        (r"\\[dtc]frac", r"\\frac"),
        (r"\\cdot|\\times|[×·∙]", "*"),
        (r"\\div|÷|⁄", "/"),
        (r"[−–]", "-"),
        (r"\\pi(?![a-zA-Z])", "π"),
        (r"\*\*", "^"),
        (r"\^\s*(?:\{\s*\\circ\s*\}|\\circ)|°|\\degree|\\?%", " "),
        (r"\\(?:text|mathrm|mbox|textbf|rm)\s*\{[^{}]*\}(?:\s*\^\s*\{?\d\}?)?", " "),
        (r"\s+", " "),
        (r"(?<![\d.,])(\d+) (\d+)\s?/\s?(\d+)", r"(\1+\2/\3)"),  # 1 1/2
    )
]
_VULGAR = {
    "½": "12", "⅓": "13", "⅔": "23", "¼": "14", "¾": "34", "⅕": "15", "⅖": "25", "⅗": "35", "⅘": "45", "⅙": "16",
    "⅚": "56", "⅛": "18", "⅜": "38", "⅝": "58", "⅞": "78",
}  # fmt: skip
_SHORT_UNITS = "mm|cm|dm|km|ft|mi|kg|mg|ml|hr|in|lb|km/h|m/s|mph|pm|am|sq|cu"
_UNIT = re.compile(
    rf"(?<=[\d)}}π. ])(?:\s?(?:{_SHORT_UNITS}|(?<= )[mglsht]|[a-z]{{3,}})(?![a-z])\.?(?:\s?\^\s?\{{?\d\}}?|[²³])?)+\Z",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,3}(?!\d))?", re.I | re.A
)
_FRACTION_NEXT = re.compile(r"\s*\\frac")


def official(answer: str, sample: Sample) -> Score:
    """Right by letter, by the option's value, or by the free answer."""
    if sample.choices:
        return _choose(answer, sample)
    text, truths = final_part(answer), target_texts(sample)
    return score_equality(
        text or None, " or ".join(truths), right=any(equal(text, truth) for truth in truths)
    )


def equal(answer: str, truth: str) -> bool:
    """Whether two answers mean the same number, point, list or text."""
    answer, truth = _right_side(answer), _right_side(truth)
    if _squeeze(answer) == _squeeze(truth) != "":
        return True
    parts, wanted = _parts(answer), _parts(truth)
    if len(wanted) > 1:
        return len(parts) == len(wanted) and all(map(equal, parts, wanted))
    left, right = value_of(answer), value_of(truth)
    return (
        left is not None and right is not None and math.isclose(left, right, rel_tol=1e-9, abs_tol=TOLERANCE)
    )


def value_of(text: str) -> float | None:
    """The value of the text when all of it is a number as described above, else None."""
    if len(text) > _MOST_CHARACTERS:
        return None
    try:
        value = _Parser(_clean(text)).whole()
    except (FormatError, ZeroDivisionError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def _choose(answer: str, sample: Sample) -> Score:
    options, right = options_of(sample), right_letter(sample)
    text = final_part(answer)
    letter = find_exact(text, options) or next(
        (key for key, option in options.items() if equal(text, option)), None
    )
    letter = letter or find_official(unwrap_box(answer), options)
    return score_equality(letter, right, right=letter == right, what="option")


def _right_side(text: str) -> str:
    for sign in ("=", "≈", r"\approx"):
        text = text.rpartition(sign)[2]
    return text


def _squeeze(text: str) -> str:
    """The text without layout: with the words of \\text{…}, which `_clean` would take for a unit."""
    unwrapped = re.sub(r"\\(?:text|mathrm|mbox)\s*\{([^{}]*)\}", r"\1", text)
    return _clean(unwrapped).replace(" ", "").lower()


def _parts(text: str) -> list[str]:
    """The parts between the commas of a point or a list; a number with thousands separators is one part."""
    text = text.strip().strip("$").strip().replace(r"\left", "").replace(r"\right", "")
    text = text.replace(r"\{", "{").replace(r"\}", "}").replace(r"\(", "(")
    if _BRACKETS.get(text[:1]) == text[-1:] != "":
        text = text[1:-1]
    elif _THOUSANDS.fullmatch(text):
        return [text]
    return [part.strip() for part in text.split(",")]


def _clean(text: str) -> str:
    """The expression without what does not affect its value: layout, currency, percent and degree signs, units.

    Prose (anything longer than a few hundred characters) is returned unchanged.
    """
    if len(text) > _MOST_CHARACTERS:
        return text.strip()
    for character, digits in _VULGAR.items():
        text = text.replace(character, rf"\frac{digits}")
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    return _UNIT.sub("", text.strip()).strip().rstrip(".").strip()


class _Parser:
    """A recursive-descent parser. Each method reads one construct and advances; FormatError if it is not there."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.depth = 0

    def whole(self) -> float:
        value = self.sum()
        if self.next():
            raise FormatError(f"{self.text[self.place :]!r} is left over")
        return value

    def next(self) -> str:
        """The next character other than a space; empty at the end."""
        while self.text[self.place : self.place + 1] == " ":
            self.place += 1
        return self.text[self.place : self.place + 1]

    def accept(self, mark: str) -> bool:
        self.next()
        found = self.text.startswith(mark, self.place)
        self.place += len(mark) * found
        return found

    def sum(self) -> float:
        value = self.product()
        while (sign := self.next()) and sign in "+-":
            self.place += 1
            term = self.product()
            value = value + term if sign == "+" else value - term
        return value

    def product(self) -> float:
        value = self.factor()
        while sign := self.next():
            if self.accept("*"):
                value *= self.factor()
            elif self.accept("/"):
                value /= self.factor()
            elif sign in "({[π√\\":  # side by side
                value *= self.power()
            else:
                break
        return value

    def factor(self) -> float:
        sign = 1.0
        while (mark := self.next()) and mark in "+-":
            self.place += 1
            sign = -sign if mark == "-" else sign
        return sign * self.power()

    def power(self) -> float:
        base = self.atom()
        if not self.accept("^"):
            return base
        self.descend()
        value = base ** self.factor()
        self.depth -= 1
        if isinstance(value, complex):
            raise FormatError("a root of a negative number")
        return float(value)

    def descend(self) -> None:
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            raise FormatError("too deep")

    def atom(self) -> float:
        if self.accept("π"):
            return math.pi
        if self.accept("\\frac"):
            return self.argument() / self.argument()
        if self.accept("\\sqrt") or self.accept("√"):
            return self.root()
        return self.group() if self.next() in ("(", "{", "[") else self.number()

    def group(self) -> float:
        close = {"(": ")", "{": "}", "[": "]"}[self.next()]
        self.place += 1
        self.descend()
        value = self.sum()
        self.depth -= 1
        if not self.accept(close):
            raise FormatError(f"no {close}")
        return value

    def argument(self) -> float:
        r"""What follows a command: a group, π or one digit, as in `\frac12`."""
        if self.next() == "{":
            return self.group()
        if self.accept("π"):
            return math.pi
        digit = self.next()
        if not (digit.isascii() and digit.isdigit()):
            raise FormatError("a command without its argument")
        self.place += 1
        return float(digit)

    def root(self) -> float:
        degree = self.group() if self.next() == "[" else 2.0
        self.descend()
        radicand = self.atom()
        self.depth -= 1
        if radicand < 0:
            raise FormatError("a root of a negative number")
        return float(radicand ** (1 / degree))

    def number(self) -> float:
        found = _NUMBER.match(self.text, self.place)
        if found is None:
            raise FormatError("no number")
        self.place = found.end()
        value = float(found[0].replace(",", ""))
        mixed = found[0].isdigit() and _FRACTION_NEXT.match(self.text, self.place)
        return value + self.atom() if mixed and self.next() else value
