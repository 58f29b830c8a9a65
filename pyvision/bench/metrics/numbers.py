r"""Whole numbers in digits or English words: counting, and TallyQA. All flavours see the content of a \boxed{} if any.

* integer: words (the whole answer, or else the last number of what follows "the answer is", in digits or words, without
  clauses that decline to answer and without "one" as a pronoun);
  exact (the whole answer); vlmevalkit and paper as for TallyQA.
* tallyqa: exact (as above; no script is published); vlmevalkit (the first number up to twenty, in digits or in words);
  paper (VDebugger: what Python's int() reads; it calls a module
  where it means a function, so "three" is wrong, and so is "3.0").

`target`: a whole number, or a text that is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pyvision.bench.metrics.registry import Metric, final_part, score_equality, target_error, unwrap_box
from pyvision.bench.samples import Sample, Score
from pyvision.text.refusals import clauses_of

_TO_TWENTY = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty"""

_TENS_NAMES = "twenty thirty forty fifty sixty seventy eighty ninety"

UP_TO_TWENTY = tuple(_TO_TWENTY.split())
"""The words for 0 to 20, each at its number."""

_SMALL = {word: value for value, word in enumerate(UP_TO_TWENTY[:20])}
_TENS = {word: 10 * value for value, word in enumerate(_TENS_NAMES.split(), start=2)}


def _one_of(*words: str) -> str:
    return f"(?:{'|'.join(sorted(words, key=len, reverse=True))})"


_UNDER_20 = _one_of(*[word for word, value in _SMALL.items() if value])
_ONE_TO_NINE = _one_of(*[word for word, value in _SMALL.items() if 0 < value < 10])
_UNDER_100 = rf"(?:{_one_of(*_TENS)}(?:[\s-]+{_ONE_TO_NINE})?\b|{_UNDER_20})"
_UNDER_1000 = rf"(?:(?:(?:an?|{_ONE_TO_NINE})[\s-]+)?hundred(?:[\s-]+(?:and\s+)?{_UNDER_100})?|{_UNDER_100})"
_PHRASE = re.compile(
    rf"\b(?:zero|(?:(?:a|{_UNDER_1000})[\s-]+)?thousand(?:,?\s+(?:and\s+)?{_UNDER_1000})?|{_UNDER_1000})\b"
)
_DIGITS = re.compile(r"(?<![\w.,])[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.0+)?(?!\w|[.,]\d)", re.ASCII)
_MOST_DIGITS = 30  # a longer run of digits is not a count, and int() rejects very long ones
_DIGITS_OR_WORD = re.compile(rf"\b(?:[0-9]|1[0-9]|20|{'|'.join(UP_TO_TWENTY)})\b")
_PRONOUN = re.compile(
    r"\b(?:no|which|what|this|that|each|any|every|the|some|another|either|neither|other|same|last|first)\s+one\b"
    r"|\bone\s+(?:of|can|cannot|can['’]t|could|may|might|must|should|would|will|is|was|has|who|that|which|to|by)\b"
)
_INT = re.compile(r"\s*[-+]?[0-9]{1,30}\s*")


def integer_metric(find: Callable[[str], int | None]) -> Metric:
    """A metric that gives 1 when the finder finds the target."""

    def score(answer: str, sample: Sample) -> Score:
        truth = whole_number(str(sample.target))
        if truth is None:
            raise target_error(sample, "a whole number")
        number = find(answer)
        return score_equality(
            None if number is None else str(number), truth, right=number == truth, what="number"
        )

    return score


def find_last(answer: str) -> int | None:
    """The number that the final part of the answer is, or the last one in it."""
    text = final_part(answer)
    whole = whole_number(text)
    return whole if whole is not None else next(reversed(whole_numbers("\n".join(clauses_of(text)))), None)


def find_whole(answer: str) -> int | None:
    """The number that the whole answer is."""
    return whole_number(unwrap_box(answer))


def find_first_to_twenty(answer: str) -> int | None:
    """The first number up to twenty, in digits or as a word, as VLMEvalKit reads TallyQA."""
    found = _DIGITS_OR_WORD.search(unwrap_box(answer).lower())
    if found is None:
        return None
    word = found[0]
    return UP_TO_TWENTY.index(word) if word in UP_TO_TWENTY else int(word)


def find_int(answer: str) -> int | None:
    """What int() reads from the whole answer."""
    text = unwrap_box(answer)
    return int(text) if _INT.fullmatch(text) else None


def whole_number(text: str) -> int | None:
    """The number that the whole text is, or None: `7`, `-7`, `7.0`, `1,204`, `seven`, `one hundred and four`."""
    text = text.strip().lower().rstrip(".!")
    if _DIGITS.fullmatch(text):
        return _parse_digits(text)
    return _parse_words(text) if _PHRASE.fullmatch(text) else None


def whole_numbers(text: str) -> tuple[int, ...]:
    """The whole numbers that the text gives in digits, in order; if there are none, those in words.

    Digits go first because "one" is more often a pronoun; where it is one, it is skipped. A decimal
    fraction is not a whole number.
    """
    text = text.lower()
    in_digits = [_parse_digits(match[0]) for match in _DIGITS.finditer(text)]
    return tuple(value for value in in_digits if value is not None) or tuple(
        _parse_words(match[0]) for match in _PHRASE.finditer(_PRONOUN.sub(" ", text))
    )


def _parse_digits(text: str) -> int | None:
    digits = text.replace(",", "").replace("−", "-").partition(".")[0]
    return int(digits) if len(digits) <= _MOST_DIGITS else None


def _parse_words(phrase: str) -> int:
    total, group = 0, 0
    for word in re.findall("[a-z]+", phrase):
        if word == "thousand":
            total, group = max(group, 1) * 1000, 0
        elif word == "hundred":
            group = max(group, 1) * 100
        else:
            group += _SMALL.get(word, 0) + _TENS.get(word, 0)
    return total + group


last = integer_metric(find_last)
exact = integer_metric(find_whole)
vlmevalkit = integer_metric(find_first_to_twenty)
paper = integer_metric(find_int)
