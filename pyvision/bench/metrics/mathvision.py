r"""MathVision: an answer is right when it is the option's letter, the option's value, or equal to the free answer.

`target`: the letter or the value. Answers are equal when their texts are, once layout, units and what stands before the
last "=" or "≈" are set aside; or their values, to 1e-6; or, for points and lists, each of their parts in order.

The published script calls eval() and latex2sympy on what the model wrote. This one runs nothing: `expressions.py` says
what it reads. So answers with variables or functions are compared as texts alone, and an expression that only computer
algebra can tell to be equal is wrong here.
"""

from __future__ import annotations

import math
import re

from pyvision.bench.metrics.choice import find_exact, find_official, options_of, right_letter
from pyvision.bench.metrics.expressions import clean_expression, value_of
from pyvision.bench.metrics.finals import final_part, unwrap_box
from pyvision.bench.metrics.scoring import accepted_texts, score_equality
from pyvision.bench.samples import Sample, Score

TOLERANCE = 1e-6

_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}


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


def _right_side(text: str) -> str:
    for sign in ("=", "≈", r"\approx"):
        text = text.rpartition(sign)[2]
    return text


def _squeeze(text: str) -> str:
    """The text without layout: also the words of \\text{…}, which `clean_expression` would take for a unit."""
    words = re.sub(r"\\(?:text|mathrm|mbox)\s*\{([^{}]*)\}", r"\1", text)
    return clean_expression(words).replace(" ", "").lower()


def _parts(text: str) -> list[str]:
    """The parts between the commas of a point or a list; a number with thousands separators is one part."""
    text = text.strip().strip("$").strip().replace(r"\left", "").replace(r"\right", "")
    text = text.replace(r"\{", "{").replace(r"\}", "}").replace(r"\(", "(")
    if _BRACKETS.get(text[:1]) == text[-1:] != "":
        text = text[1:-1]
    elif _THOUSANDS.fullmatch(text):
        return [text]
    return [part.strip() for part in text.split(",")]


def official(answer: str, sample: Sample) -> Score:
    """Right by letter, by the option's value, or by the free answer."""
    if sample.choices:
        return _choose(answer, sample)
    text, truths = final_part(answer), accepted_texts(sample)
    return score_equality(
        text or None, " or ".join(truths), right=any(equal(text, truth) for truth in truths)
    )


def _choose(answer: str, sample: Sample) -> Score:
    options, right = options_of(sample), right_letter(sample)
    text = final_part(answer)
    letter = find_exact(text, options) or next(
        (key for key, option in options.items() if equal(text, option)), None
    )
    letter = letter or find_official(unwrap_box(answer), options)
    return score_equality(letter, right, right=letter == right, what="option")
