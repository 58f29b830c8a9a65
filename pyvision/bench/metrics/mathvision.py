r"""MathVision: an answer is right when it equals the right option's letter, its value, or the free answer.

`target`: the letter or the value. Flavour `official` follows the published script (mathllm/MATH-V, `evaluation`): of a
reply it takes the letter that it begins or ends with, the number behind the last "is", the last box, or the first
sentence behind "the answer is"; it removes layout and everything before the last "=" or "\approx"; texts are equal
ignoring case, numbers when they are equal once rounded to two decimals, points and lists in each of their parts.

The script calls eval() and latex2sympy on what the model wrote. Here `value_of` reads the number without evaluating any
code:
* Read: decimals, thousands separators (`1,204`, `1{,}204`), `1e-3`, `3/4`, `\frac{3}{4}`, `\frac34`, `1\frac{1}{2}`,
  `1 1/2`, `½`, `\sqrt{2}`, `\sqrt[3]{8}`, `√2`, `π`, `^`, products with and without a sign, brackets, and sums of
  these. An integer before a fraction is a mixed number; any other two values side by side are a product.
* Ignored: dollar signs and other currencies, percent and degree signs, `\text{…}`, and units behind the number; for
  `official` no unit but those that the script removes (km, m^3).
* Not read, where latex2sympy does: variables, functions (`\sin`, `\log`), sums, integrals, matrices, equations. Such
  answers are compared as texts only, so an expression that is equal only by computer algebra is wrong here.
"""

from __future__ import annotations

import math
import re

from pyvision.bench.metrics.choice import options_of, right_letter, unless_declined
from pyvision.bench.metrics.registry import score_equality, target_texts
from pyvision.bench.samples import Sample, Score
from pyvision.errors import FormatError

_BRACKETS = {"(": ")", "[": "]"}
_CUES = ("the final answer is", "the answer is", "the correct answer is", "the answer should be")
_BOX = re.compile(r"oxed\{(.*)\}", re.DOTALL)
_LAYOUT = (  # what the script removes or rewrites, in its order
    (" ", ""), ("\\,", ""), ("∞", "\\infty"), ("+\\infty", "\\infty"), ("\\\\", "\\"), ("\n", ""), ("\\text", ""),
    ("\\mbox", ""), ("bmatrix", "pmatrix"), ("\\left", ""), ("\\right", ""), ("^{\\circ}", ""), ("^\\circ", ""),
    ("{m}^3", ""), ("m^3", ""), ("{units}", ""), ("units", ""), ("{km}", ""), ("km", ""), ("\\!", ""), ("\\\\", "\\"),
    ("tfrac", "frac"), ("dfrac", "frac"), ("\\$", ""), ("$", ""), ("\\%", ""), ("{.", "{0."),
)  # fmt: skip
_LETTER_IN_BRACKETS = re.compile(r"\(([a-e])\)")
_LETTER_IN_BRACES = re.compile(r"\{([a-e])\}")
_UNREAD = re.compile(r"[°%€£¥½-¾⅐-⅞√π−–×·÷]|circ|mathrm|text|mbox|degree|units")  # latex2sympy neither
_ROOT_OF_ONE = re.compile(r"sqrt([^{])")
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
    found = extract(answer)
    if not sample.choices:
        truths = target_texts(sample)
        return score_equality(
            found or None, " or ".join(truths), right=any(equal(found, truth) for truth in truths)
        )
    options, right = options_of(sample), right_letter(sample)
    named = [letter for letter, text in options.items() if equal(found, letter) or equal(found, text)]
    is_right = unless_declined(answer, right, options) in named
    return score_equality(
        right if is_right else next(iter(named), None), right, right=is_right, what="option"
    )


def extract(reply: str) -> str:
    """The answer in a reply, in lower case and without layout, as the published script takes it out."""
    text = reply.strip()
    for letter in "ABCDE":
        ends = text.endswith((f" {letter}.", f" ({letter})."))
        if ends or text.startswith((f"{letter}\n", f"({letter})\n", f"({letter}) {letter}\n")):
            text = letter
    behind_is = text.split("is ")[-1].rstrip(".")
    if _is_float(behind_is):
        text = behind_is
    if "oxed{" not in text:
        text = _behind_cue(text)
    elif text.count("oxed{") > 1:
        text = r"\boxed{" + text.split("oxed{")[-1]
    bare = _LETTER_IN_BRACES.sub(r"\1", _LETTER_IN_BRACKETS.sub(r"\1", _normalise(text.lower())))
    return bare.rstrip(".").lstrip(":").strip()


def equal(one: str, other: str) -> bool:
    """Whether two answers are the same text, number, point or list, ignoring case."""
    one, other = one.lower().strip(), other.lower().strip()
    if not one or not other:
        return False
    if one == other:
        return True
    parts, wanted = _parts(one), _parts(other)
    if parts and wanted:
        return parts == wanted
    left, right = _round_value(one), _round_value(other)
    return left is not None and left == right


def value_of(text: str) -> float | None:
    """The value of the text when all of it is a number as described above, else None."""
    return _value_of_expression(_clean(text))


def _value_of_expression(text: str) -> float | None:
    if len(text) > _MOST_CHARACTERS:
        return None
    try:
        value = _Parser(text).whole()
    except (FormatError, ZeroDivisionError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def _behind_cue(text: str) -> str:
    """The first sentence behind each of the cues in turn, in either case."""
    for cue in _CUES:
        for form in (cue, cue.replace("the", "The")):
            before, found, after = text.rpartition(form)
            text = after.strip().split("\n")[0].split(". ")[0] if found else (before + after).strip()
    return text


def _normalise(text: str) -> str:
    text = text.replace("{}", "")
    boxed = _BOX.findall(text)
    text = boxed[-1] if boxed else text
    before, closed, _ = text.partition("}")
    if closed and "{" not in before:
        text = before
    text = text.split("=")[-1].split(r"\approx")[-1]
    for old, new in _LAYOUT:
        text = text.replace(old, new)
    if "sqrt" in text:
        text = _ROOT_OF_ONE.sub(r"sqrt{\1}", text)
    return f"0{text}" if text.startswith(".") else text


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parts(text: str) -> tuple[object, ...]:
    """The bracket and the rounded values of a point or a list of two or more numbers; empty for anything else."""
    if _BRACKETS.get(text[:1]) != text[-1:] or "," not in text:
        return ()
    values = [_round_value(part) for part in text[1:-1].split(",")]
    return () if None in values else (text[0], *values)


def _round_value(text: str) -> float | None:
    """The value to two decimals of a text that is a number without units."""
    value = None if _UNREAD.search(text) else _value_of_expression(_without_layout(text))
    return None if value is None else round(value, 2)


def _clean(text: str) -> str:
    """The expression without what does not affect its value: layout, currency, percent and degree signs, units.

    Prose (anything longer than a few hundred characters) is returned unchanged.
    """
    if len(text) > _MOST_CHARACTERS:
        return text.strip()
    return _UNIT.sub("", _without_layout(text).strip()).strip().rstrip(".").strip()


def _without_layout(text: str) -> str:
    if len(text) > _MOST_CHARACTERS:
        return text
    for character, digits in _VULGAR.items():
        text = text.replace(character, rf"\frac{digits}")
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    return text


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
