"""InfoSeek: words and dates by exact match, quantities by ranges.

`target`: for words and dates the accepted texts (`answer_eval`); for quantities the range as [low, high], one number,
or the dataset's own [{"range": [low, high]}]. `metadata["question_type"]`: String, Time or Numerical; without it, a
target made of numbers or a range is a quantity.

Flavours
* as-published: the rules of edchengg/infoseek_eval (MIT). Words and dates: equal to one of the accepted after lower
  case, without punctuation, articles and surplus spaces. Quantities: `numbers_of` the answer; a single one must lie in
  the range; two must lie in it, or share half of their union with it. A single number as reference is a range of ±10 %.
  Where no number is found it compares 0, so that such an answer is right when the range holds 0.
* strict: the same, but an answer without any number is wrong.
* readme: strict, as its README promises it. A date is right within one year (the script needs equality).

The score of a split is its mean; the result is `aggregate.harmonic_mean` of unseen question and unseen entity.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from typing import Any

from pyvision.bench.metrics.registry import numbers_in, score_equality, target_error, target_texts, unwrap_box
from pyvision.bench.samples import Sample, Score

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_HYPHEN_BEHIND_DIGIT = re.compile(r"(?<=\d)-")
_NUMBER = re.compile(r"[-+]?\.?\d+(?:,\d{3})*\.?\d*(?:e[-+]?\d+)?", re.IGNORECASE)
_EPSILON = 1e-12  # as in the published script
_YEAR = re.compile(r"\b\d{4}\b", re.ASCII)


def strict(answer: str, sample: Sample) -> Score:
    """The published rules, but an answer without a number is wrong."""
    text = unwrap_box(answer)
    if type_of(sample) != "numerical":
        return _match(text, sample)
    found = numbers_of(text)
    return _in_range(found, sample) if found else score_equality(None, "", right=False, what="number")


def as_published(answer: str, sample: Sample) -> Score:
    """The published rules: an answer without a number is 0."""
    text = unwrap_box(answer)
    if type_of(sample) != "numerical" or numbers_of(text):
        return strict(answer, sample)
    return Score(_in_range((0.0, 0.0), sample).value, "no number found, 0 compared")


def readme(answer: str, sample: Sample) -> Score:
    """The rules that its README promises."""
    text = unwrap_box(answer)
    return _within_a_year(text, sample) if type_of(sample) == "time" else strict(answer, sample)


def type_of(sample: Sample) -> str:
    """string, time or numerical."""
    given = str(sample.metadata.get("question_type", "")).lower()
    return given or ("string" if _range(sample.target) is None else "numerical")


def normalise(text: str) -> str:
    """Lower case, without punctuation, articles and surplus spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def numbers_of(text: str) -> tuple[float, ...]:
    """The first two numbers of the text; the first alone when the second is smaller. `5-7` holds 5 and 7."""
    text = _HYPHEN_BEHIND_DIGIT.sub(" - ", text)
    found = tuple(_parse(number) for number in _NUMBER.findall(text)[:2])
    return found[:1] if len(found) == 2 and found[0] > found[1] else found


def _parse(number: str) -> float:
    """The value of `1,000`, `.5`, `1e6`; of two points (`1.2.3` cannot be, `.1.2` can) what is before the second."""
    digits = number.replace(",", "").strip(".")
    return float(digits.split(".")[0] if digits.count(".") > 1 else digits)


def _match(text: str, sample: Sample) -> Score:
    found, truths = normalise(text), target_texts(sample)
    right = found in map(normalise, truths)  # of articles and punctuation nothing is left on either side
    return score_equality(found if found or right else None, " or ".join(truths), right=right)


def _within_a_year(text: str, sample: Sample) -> Score:
    exact = _match(text, sample)
    years = [int(year) for truth in target_texts(sample) for year in _YEAR.findall(truth)]
    years_found = _YEAR.findall(text)
    if exact.value or len(years_found) != 1:
        return exact
    return score_equality(
        years_found[0],
        f"within a year of {years}",
        right=any(abs(int(years_found[0]) - year) <= 1 for year in years),
    )


def _in_range(found: tuple[float, ...], sample: Sample) -> Score:
    low, high = _reference(sample)
    first, last = found[0], found[-1]
    values = f"{first:g}" if len(found) == 1 else f"{first:g} to {last:g}"
    inside = low <= first <= high and low <= last <= high
    right = inside or (len(found) == 2 and _intersection_over_union(found, (low, high)) >= 0.5 - _EPSILON)
    return score_equality(values, f"in {low:g} to {high:g}", right=right)


def _intersection_over_union(left: tuple[float, ...], right: tuple[float, ...]) -> float:
    """Intersection over union of two intervals; 0 where both are points."""
    overlap = max(0.0, min(left[1], right[1]) - max(left[0], right[0]))
    union = left[1] - left[0] + right[1] - right[0] + 2 * _EPSILON - overlap
    return overlap / union


def _reference(sample: Sample) -> tuple[float, float]:
    reference = _range(sample.target)
    if reference is None:
        raise target_error(sample, "a range [low, high] or a number")
    return reference


def _range(target: Any) -> tuple[float, float] | None:
    if isinstance(target, list | tuple) and len(target) == 1:
        target = target[0]
    if isinstance(target, Mapping):
        target = target.get("range")
    if pair := numbers_in(target, 2):
        return pair[0], pair[1]
    single = numbers_in([target], 1) or numbers_in(target, 1)
    if single is None:
        return None
    margin = abs(single[0]) / 10
    return single[0] - margin, single[0] + margin
