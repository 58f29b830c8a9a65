r"""Charts: the relaxed accuracy of ChartQA and ChartQAPro, and the part of CharXiv that rules can decide.

All flavours see the content of a \boxed{} when there is one. `target`: a text or a number.

relaxed, chartqa: a number is right within 5 % of the truth, any other text when it is equal ignoring case. "12%" is
0.12. A truth of 0, and a truth that is no number, is compared as text.
* pix2struct, lmms-eval: google-research/pix2struct, the code that ChartQA's results are computed with.
* vlmevalkit: the same; white space at the ends of the answer is removed.

chartqapro: official: vis-nlp/ChartQAPro, `evaluate_predictions.py`. Lists are compared part by part, a missing or a
surplus part counts as 0; numbers within 5 %, percent signs are ignored; texts by their similarity (ANLS) from 0.5 up;
years exactly. `metadata["year_flags"]`: YES or NO for each part of the answer; `metadata["question_type"]`: of
Conversational only the last flag counts. That the script computes, but does not use, exact matches for fact checking
and multiple choice is kept.

charxiv: rules: `metadata["template"]` is the number of a descriptive question (1 to 19), `metadata["inst_category"]`
the kind of a reasoning question (1 and 2 text, 3 and 4 number). Numbers must be equal in value, "Not Applicable", yes
and no, layouts ("2 by 3") and texts must be the same but for case, dollar signs, quotes, spaces and a full stop. The
published grader is a model, which also accepts other wording: use a judge, whose prompt follows its rubrics.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Sequence

from pyvision.bench.metrics.anls import THRESHOLD, similarity
from pyvision.bench.metrics.mathvision import value_of
from pyvision.bench.metrics.registry import (
    Metric,
    final_part,
    score_equality,
    target_error,
    target_texts,
    unwrap_box,
)
from pyvision.bench.metrics.text import find_yes_no
from pyvision.bench.samples import Sample, Score

TOLERANCE = 0.05
_LONGEST_LIST = 2_000  # characters of an answer that is read as a Python list
_LIST = re.compile(r"\[(.*)\]")
_UNQUOTED = re.compile(r"(?<!['\w])(\w[^,]*?)(?!['\w])")
_LAYOUT = re.compile(r"(\d{1,3})\s*(?:by|x|×|\*)\s*(\d{1,3})", re.ASCII | re.IGNORECASE)
_NOT_APPLICABLE = re.compile(r"\bnot\s+applicable\b|\bn/?a\b", re.IGNORECASE)
_MARKS = re.compile(r"[$\s\"'“”‘’*`]")
_NUMERIC_TEMPLATES = frozenset({8, 9, 10, 12, 14, 15, 17, 19})
_LAYOUT_TEMPLATE, _YES_NO_TEMPLATE = 18, 11


def build_relaxed_metric(prepare: Callable[[str], str]) -> Metric:
    """A metric that gives 1 when the answer is within the tolerance of one of the truths, or equal to it."""

    def score(answer: str, sample: Sample) -> Score:
        text, truths = prepare(unwrap_box(answer)), target_texts(sample)
        right = any(is_close(text, truth) for truth in truths)
        return score_equality(text or None, " or ".join(truths), right=right)

    return score


def is_close(answer: str, truth: str) -> bool:
    """Within 5 % of the truth where both are numbers, else equal ignoring case."""
    number, wanted = _to_float(answer), _to_float(truth)
    if number is None or not wanted:
        return answer.lower() == truth.lower()
    return abs(number - wanted) / abs(wanted) <= TOLERANCE


def chartqapro(answer: str, sample: Sample) -> Score:
    """ChartQAPro's evaluation."""
    target = sample.target[-1] if isinstance(sample.target, list) and sample.target else sample.target
    if not isinstance(target, str) or not target.strip():
        raise target_error(sample, "a text, or a list of which the last counts")
    text = _strip(unwrap_box(answer))
    wanted = _parts_of(_quote(_strip(target)))
    parts = _parts_of(text)
    flags = _year_flags(sample, len(wanted))
    scores = [
        _score_part(part, truth, is_year=flag)
        for part, truth, flag in zip(parts, wanted, flags, strict=False)
    ]
    value = sum(scores) / max(len(parts), len(wanted))
    return Score(value, f"{text} for {target}", text)


def charxiv(answer: str, sample: Sample) -> Score:
    """CharXiv by rules."""
    text, truth = final_part(answer), target_texts(sample)[0]
    found, right = _find_charxiv(text, truth, sample)
    return score_equality(found, truth, right=right)


def charxiv_kind(sample: Sample) -> str:
    """`number`, `layout`, `yes or no` or `text`: what CharXiv's rubrics tell apart."""
    template = sample.metadata.get("template")
    if template in _NUMERIC_TEMPLATES or sample.metadata.get("inst_category") in (3, 4):
        return "number"
    return {_LAYOUT_TEMPLATE: "layout", _YES_NO_TEMPLATE: "yes or no"}.get(template or 0, "text")


def _find_charxiv(text: str, truth: str, sample: Sample) -> tuple[str | None, bool]:
    if _NOT_APPLICABLE.fullmatch(truth.strip()):
        return text or None, _NOT_APPLICABLE.search(text) is not None
    match charxiv_kind(sample):
        case "number":
            value, wanted = value_of(text), value_of(truth)
            right = value is not None and wanted is not None and math.isclose(value, wanted, rel_tol=1e-9)
            return None if value is None else text, right
        case "layout":
            found, wanted_layout = _LAYOUT.findall(text), _LAYOUT.findall(truth)
            return " by ".join(found[-1]) if found else None, found[-1:] == wanted_layout[-1:] != []
        case "yes or no":
            word = find_yes_no(text)
            return word, word == truth.strip().lower()
    return text or None, _plain(text) == _plain(truth)


def _plain(text: str) -> str:
    return _MARKS.sub("", text).casefold().rstrip(".")


def _to_float(text: str) -> float | None:
    try:
        return float(text.rstrip("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return None


def _strip(text: str) -> str:
    return text.strip(".").strip("\n")


def _quote(text: str) -> str:
    """A list with its parts in quotes, as the published script repairs the truth's; any other text unchanged."""
    inside = _LIST.fullmatch(text.strip())
    if inside is None or len(text) > _LONGEST_LIST:
        return text
    quoted = "[" + _UNQUOTED.sub(r"'\1'", inside[1]) + "]"
    return quoted if _literal(quoted) is not None else text


def _parts_of(text: str) -> Sequence[str]:
    """The parts of a text that is a Python list; any other text is one part."""
    found = _literal(text) if len(text) <= _LONGEST_LIST else None
    return [str(part).strip(" '") for part in found] if isinstance(found, list) and found else [text]


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _year_flags(sample: Sample, count: int) -> Sequence[bool]:
    given = sample.metadata.get("year_flags") or ["NO"]
    flags = [str(flag).upper() == "YES" for flag in (given if isinstance(given, list) else [given])]
    if sample.metadata.get("question_type") == "Conversational":
        flags = flags[-1:]
    return flags * count if len(flags) < count else flags


def _score_part(part: str, truth: str, *, is_year: bool) -> float:
    if is_year:
        return float(part.strip().lower() == truth.strip().lower())
    part, truth = (text.strip().strip("%").strip() for text in (part, truth))
    number, wanted = _plain_float(part), _plain_float(truth)
    if number is None or wanted is None:
        near = similarity_of_words(part, truth)
        return near if 1 - near < THRESHOLD else 0.0
    return float(number == 0 if wanted == 0 else abs(number - wanted) / abs(wanted) <= TOLERANCE)


def similarity_of_words(part: str, truth: str) -> float:
    """The similarity of two texts, with white space inside counted once."""
    part, truth = (" ".join(text.split()) for text in (part, truth))
    return similarity(part, truth) if part != truth else 1.0


def _plain_float(text: str) -> float | None:
    try:
        return float(text.strip().strip("%"))
    except ValueError:
        return None


relaxed = build_relaxed_metric(lambda text: text)
relaxed_stripped = build_relaxed_metric(str.strip)
