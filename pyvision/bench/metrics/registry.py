"""The table of metrics, and what they share: their type, the final part of an answer, and reading the target.

A metric has one or more flavours; the first is the default. A flavour names its function as MODULE.FUNCTION of this
package, which is imported when it is chosen.

What the names of flavours promise: `official` equals the published script, and credits no reply that names no answer.
`as-published` equals it too, but the script credits some of such replies; it is never the default. No flavour of a
choice credits a reply that only declines (`choice.unless_declined`), as published scripts do. `strict` is ours: as the
script where the reply names an answer, and nothing where it does not. `vlmevalkit`, `lmms-eval` and `pix2struct` are
the rules of these projects, `paper` those of a paper's code. `conformance` says what of this was measured.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

from pyvision.bench.samples import Sample, Score
from pyvision.errors import ConfigError, FormatError, suggest
from pyvision.text.replies import find_boxed

Metric: TypeAlias = Callable[[str, Sample], Score]
"""From an answer (boxed, or the whole prose) and its sample to a score.

`Score.parsed` is None exactly when the rules found nothing that could be compared. Any text is scored; only a
sample whose target is not what the metric needs raises ConfigError.
"""

_CUE = re.compile(r"\banswers?(?:\s+(?:is|are|would\s+be)\b\s*:?|\s*:)[\s*_]*", re.IGNORECASE)
_MARKS = " \t\r\n*_`\"'“”‘’"

_ANLS: Mapping[str, str] = {
    "official": "anls.official",
    "vlmevalkit": "anls.vlmevalkit",
    "lmms-eval": "anls.vlmevalkit",  # the same rules
}
_RELAXED: Mapping[str, str] = {
    "pix2struct": "charts.relaxed",
    "vlmevalkit": "charts.relaxed_stripped",
    "lmms-eval": "charts.relaxed",
}
_GQA: Mapping[str, str] = {
    "vlmevalkit": "text.gqa_vlmevalkit",
    "lmms-eval": "text.gqa_lmms_eval",
    "paper": "text.gqa_paper",
}
_BOX_ACCURACY: Mapping[str, str] = {  # these take a threshold, which is part of the metric's name
    "vlmevalkit": "boxes.accuracy",
    "strict": "boxes.accuracy_strict",
    "paper": "boxes.accuracy_paper",
}
METRICS: Mapping[str, Mapping[str, str]] = {
    "choice": {
        "strict": "choice.strict",
        "mmmu": "choice.mmmu",
        "vlmevalkit": "choice.vlmevalkit",
        "exact": "choice.exact",
    },
    "visualpuzzles": {
        "strict": "choice.strict",
        "as-published": "choice.visualpuzzles",
        "vlmevalkit": "choice.vlmevalkit",
    },
    # scores of single rows, which `aggregate.circular` combines
    "circular": {"strict": "choice.strict", "vlmevalkit": "choice.vlmevalkit", "exact": "choice.exact"},
    "scienceqa": {
        "strict": "choice.strict",
        "lmms-eval": "choice.lmms_eval",
        "vlmevalkit": "choice.vlmevalkit",
    },
    "mmmu": {
        "strict": "mmmu.strict",
        "as-published": "mmmu.as_published",
        "vlmevalkit": "mmmu.vlmevalkit",
    },
    "mathvista": {
        "strict": "mathvista.strict",
        "as-published": "mathvista.as_published",
        "vlmevalkit": "mathvista.vlmevalkit",
    },
    "mathvision": {"official": "mathvision.official"},
    "vqa": {"official": "vqa.official", "vlmevalkit": "vqa.vlmevalkit", "paper": "vqa.paper"},
    "textvqa": {"official": "vqa.textvqa", "vlmevalkit": "vqa.vlmevalkit"},
    "anls": _ANLS,
    "docvqa": _ANLS,
    "relaxed": _RELAXED,
    "chartqa": _RELAXED,
    "chartqapro": {"official": "charts.chartqapro"},
    "charxiv": {"rules": "charts.charxiv"},  # the published grader is a model: see `judge`
    "infoseek": {
        "strict": "infoseek.strict",
        "as-published": "infoseek.as_published",
        "readme": "infoseek.readme",
    },
    "text": {"plain": "text.plain", "exact": "text.exact", **_GQA},
    "gqa": _GQA,
    "covr": {"paper": "text.covr_paper"},
    "yes_no": {"words": "text.yes_no", "paper": "text.yes_no_paper"},
    "nlvr": {"words": "text.yes_no", "paper": "text.yes_no_paper"},
    "integer": {
        "words": "numbers.last",
        "exact": "numbers.exact",
        "vlmevalkit": "numbers.vlmevalkit",
        "paper": "numbers.paper",
    },
    "tallyqa": {"exact": "numbers.exact", "vlmevalkit": "numbers.vlmevalkit", "paper": "numbers.paper"},
    "blind": {"tasks": "blind.by_task"},
    "box_iou": {"top-left": "boxes.iou", "paper": "boxes.iou_paper"},
    "box_accuracy": _BOX_ACCURACY,
    "box_accuracy@0.5": _BOX_ACCURACY,
    "box_accuracy@0.7": _BOX_ACCURACY,
}


def find_metric(name: str, flavour: str | None = None) -> Metric:
    """The metric of that name; the first of its flavours when none is named. Raises ConfigError.

    `box_accuracy@T` takes any threshold above 0 and up to 1.
    """
    flavours = _row(name)
    chosen = next(iter(flavours)) if flavour is None else flavour
    if chosen not in flavours:
        raise ConfigError(
            f"metric {name!r} has no flavour {chosen!r}; its flavours are {', '.join(flavours)}"
        )
    module, _, function = flavours[chosen].partition(".")
    metric = getattr(import_module(f"pyvision.bench.metrics.{module}"), function)
    return _reject_blank(metric(_threshold(name)) if flavours is _BOX_ACCURACY else metric)


@cache
def _reject_blank(metric: Metric) -> Metric:
    """The metric, except that a blank answer has no value to compare, whatever the truth."""

    def score(answer: str, sample: Sample) -> Score:
        found = metric(answer, sample)
        return found if answer.strip() else Score(0.0, "the answer is blank")

    return score


def flavours_of(name: str) -> tuple[str, ...]:
    """The names of a metric's flavours, the default first. Raises ConfigError."""
    return tuple(_row(name))


def unwrap_box(answer: str) -> str:
    r"""The content of the last `\boxed{}` or `<answer>`, or the unchanged answer if there is none."""
    try:
        return find_boxed(answer) or answer
    except FormatError:  # an unclosed box: only the prose around it is left
        return answer


def final_part(answer: str) -> str:
    """The boxed content; else what follows the last "answer is" or "Answer:"; else the whole, without marks."""
    text = unwrap_box(answer)
    *_, last = [None, *_CUE.finditer(text)]
    rest = text[last.end() :] if last else ""
    return rest.strip(_MARKS) or text.strip(_MARKS)


def score_equality(parsed: str | None, truth: object, *, right: bool, what: str = "answer") -> Score:
    """1 or 0 for what was found, with the comparison as text; 0 if nothing was found."""
    if parsed is None:
        return Score(0.0, f"no {what} found")
    return Score(1.0, f"{parsed} is right", parsed) if right else Score(0.0, f"{parsed}, not {truth}", parsed)


def target_texts(sample: Sample) -> tuple[str, ...]:
    """The texts that count as right: the target, or each item of a list."""
    match sample.target:
        case [*texts] if texts and all(map(_is_text, texts)):
            return tuple(str(text) for text in texts)
        case single if _is_text(single):
            return (str(single),)
    raise target_error(sample, "a text, a number or a list of them; none may be blank or NaN")


def _is_text(target: Any) -> bool:
    match target:
        case float():
            return not math.isnan(target)
        case str():
            return target.strip() != ""
    return isinstance(target, int)


def numbers_in(target: Any, count: int) -> tuple[float, ...] | None:
    """The target as `count` numbers, or None if it is anything else."""
    match target:
        case Sequence() if not isinstance(target, str) and len(target) == count:
            numbers = [
                value for value in target if isinstance(value, int | float) and not isinstance(value, bool)
            ]
            return tuple(map(float, numbers)) if len(numbers) == count else None
    return None


def target_error(sample: Sample, needed: str) -> ConfigError:
    """The error for a target that the metric cannot compare with."""
    return ConfigError(
        f"sample {sample.id!r}: target {sample.target!r} cannot be scored; this metric needs {needed}"
    )


def _row(name: str) -> Mapping[str, str]:
    if name in METRICS:
        return METRICS[name]
    if name.partition("@")[0] != "box_accuracy":
        raise ConfigError(f"unknown metric {name!r}; {suggest(name, METRICS, 'known metrics are')}")
    _threshold(name)
    return _BOX_ACCURACY


def _threshold(name: str) -> float:
    _, at, text = name.partition("@")
    if not at:
        return 0.5
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise ConfigError(
            f"metric {name!r}: {text!r} is not a threshold; write a number above 0 and up to 1, as in box_accuracy@0.5"
        )
    return value
