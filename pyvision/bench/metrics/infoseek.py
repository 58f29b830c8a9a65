"""InfoSeek: words and dates by exact match, quantities by ranges.

`target`: for words and dates the accepted texts (`answer_eval`); for quantities the range as [low, high], one number,
or the dataset's own [{"range": [low, high]}]. `metadata["question_type"]`: String, Time or Numerical; without it, a
target made of numbers or a range is a quantity.

Flavours
* official: the rules of edchengg/infoseek_eval (MIT). Words and dates: equal to one of the accepted after lower case,
  without punctuation, articles and surplus spaces. Quantities: `numbers_of` the answer; a single one must lie in the
  range; two must lie in it, or share half of their union with it. A single number as reference is a range of ±10 %.
  Where no number is found it compares 0, so that such an answer is right when the range holds 0.
* readme: as its README promises. A date is right within one year (the script needs equality), and an answer without
  any number is wrong.

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
_HYPHEN_BEHIND_DIGIT = re.compile(r"(?<=\d)\s*[-–—]")
_NUMBER = re.compile(r"-?(?:\d+\.\d+|\d+|\.\d+)", re.ASCII)
_YEAR = re.compile(r"\b\d{4}\b", re.ASCII)


def official(answer: str, sample: Sample) -> Score:
    """The published script's rules."""
    text = unwrap_box(answer)
    if type_of(sample) != "numerical":
        return _match(text, sample)
    found = numbers_of(text)
    score = _in_range(found or (0.0, 0.0), sample)
    return score if found else Score(score.value, "no number found, 0 compared")


def readme(answer: str, sample: Sample) -> Score:
    """The rules that its README promises."""
    text = unwrap_box(answer)
    match type_of(sample):
        case "numerical":
            found = numbers_of(text)
            return _in_range(found, sample) if found else score_equality(None, "", right=False, what="number")
        case "time":
            return _within_a_year(text, sample)
        case _:
            return _match(text, sample)


def type_of(sample: Sample) -> str:
    """string, time or numerical."""
    given = str(sample.metadata.get("question_type", "")).lower()
    return given or ("string" if _range(sample.target) is None else "numerical")


def normalise(text: str) -> str:
    """Lower case, without punctuation, articles and surplus spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def numbers_of(text: str) -> tuple[float, ...]:
    """The first two numbers of the text; the first alone when the second is smaller. `5-7` holds 5 and 7."""
    text = _HYPHEN_BEHIND_DIGIT.sub(" to ", text.replace(",", ""))
    found = tuple(float(number) for number in _NUMBER.findall(text)[:2])
    return found[:1] if len(found) == 2 and found[0] > found[1] else found


def _match(text: str, sample: Sample) -> Score:
    found, truths = normalise(text), target_texts(sample)
    return score_equality(found or None, " or ".join(truths), right=found in map(normalise, truths))


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
    right = inside or (len(found) == 2 and _intersection_over_union(found, (low, high)) >= 0.5)
    return score_equality(values, f"in {low:g} to {high:g}", right=right)


def _intersection_over_union(left: tuple[float, ...], right: tuple[float, ...]) -> float:
    """Intersection over union of two intervals; 0 where both are points."""
    overlap = min(left[1], right[1]) - max(left[0], right[0])
    union = max(left[1], right[1]) - min(left[0], right[0])
    return max(0.0, overlap) / union if union > 0 else 0.0


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
