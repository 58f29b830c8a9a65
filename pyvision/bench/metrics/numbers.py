r"""Whole numbers: counting, and TallyQA. All flavours see the content of a \boxed{} when there is one.

* integer: words (the whole answer, or else the last number of what follows "the answer is", in digits or words);
  exact (the whole answer); vlmevalkit and paper as for TallyQA.
* tallyqa: official (equal integers; the whole answer is a number, in digits or in words); vlmevalkit (the first number
  found, or the first number word from zero to twenty); paper (VDebugger: what Python's int() reads; it calls a module
  where it means a function, so "three" is wrong, and so is "3.0").

`target`: a whole number, or a text that is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pyvision.bench.metrics.finals import final_part, unwrap_box
from pyvision.bench.metrics.number_words import UP_TO_TWENTY, whole_number, whole_numbers
from pyvision.bench.metrics.scoring import Metric, score_equality, unusable
from pyvision.bench.samples import Sample, Score

_DIGITS_OR_WORD = re.compile(rf"[0-9]{{1,30}}|\b(?:{'|'.join(UP_TO_TWENTY)})\b", re.IGNORECASE)
_INT = re.compile(r"\s*[-+]?[0-9]{1,30}\s*")


def find_last(answer: str) -> int | None:
    """The number that the final part of the answer is, or the last one in it."""
    text = final_part(answer)
    whole = whole_number(text)
    return whole if whole is not None else next(reversed(whole_numbers(text)), None)


def find_whole(answer: str) -> int | None:
    """The number that the whole answer is."""
    return whole_number(unwrap_box(answer))


def find_first_to_twenty(answer: str) -> int | None:
    """The first run of digits or number word up to twenty, as VLMEvalKit reads TallyQA."""
    found = _DIGITS_OR_WORD.search(unwrap_box(answer))
    if found is None:
        return None
    word = found[0].lower()
    return UP_TO_TWENTY.index(word) if word in UP_TO_TWENTY else int(word)


def find_int(answer: str) -> int | None:
    """What int() makes of the whole answer."""
    text = unwrap_box(answer)
    return int(text) if _INT.fullmatch(text) else None


def integer_metric(find: Callable[[str], int | None]) -> Metric:
    """A metric that gives 1 when the finder finds the target."""

    def score(answer: str, sample: Sample) -> Score:
        truth = whole_number(str(sample.target))
        if truth is None:
            raise unusable(sample, "a whole number")
        number = find(answer)
        return score_equality(
            None if number is None else str(number), truth, right=number == truth, what="number"
        )

    return score


words = integer_metric(find_last)
exact = integer_metric(find_whole)
vlmevalkit = integer_metric(find_first_to_twenty)
paper = integer_metric(find_int)
