"""The table of metrics: every name with its flavours, the first of which is the default.

A flavour names its function as MODULE.FUNCTION of this package; it is imported when it is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from pyvision.bench.metrics.scoring import Metric
from pyvision.errors import ConfigError

_GQA: Mapping[str, str] = {
    "vlmevalkit": "text.gqa_vlmevalkit",
    "lmms-eval": "text.gqa_lmms_eval",
    "paper": "text.gqa_paper",
}
_BOX_ACCURACY: Mapping[str, str] = {  # these take a threshold, which stands in the metric's name
    "vlmevalkit": "boxes.accuracy",
    "strict": "boxes.accuracy_strict",
    "paper": "boxes.accuracy_paper",
}

METRICS: Mapping[str, Mapping[str, str]] = {
    "choice": {
        "official": "choice.official",
        "vlmevalkit": "choice.vlmevalkit",
        "exact": "choice.exact",
        "official-random": "choice.official_random",
    },
    "visualpuzzles": {
        "official": "choice.visualpuzzles",
        "official-random": "choice.visualpuzzles_random",
        "vlmevalkit": "choice.vlmevalkit",
    },
    "circular": {
        "vlmevalkit": "choice.vlmevalkit",
        "exact": "choice.exact",
    },  # of one row; `circular.py` joins them
    "scienceqa": {"lmms-eval": "choice.lmms_eval", "vlmevalkit": "choice.vlmevalkit"},
    "mmmu": {
        "official": "mmmu.official",
        "vlmevalkit": "mmmu.vlmevalkit",
        "official-random": "mmmu.official_random",
    },
    "mathvista": {"official": "mathvista.official", "vlmevalkit": "mathvista.vlmevalkit"},
    "mathvision": {"official": "mathvision.official"},
    "vqa": {"official": "vqa.official", "vlmevalkit": "vqa.vlmevalkit", "paper": "vqa.paper"},
    "infoseek": {"official": "infoseek.official", "readme": "infoseek.readme"},
    "text": {"plain": "text.plain", "exact": "text.exact", **_GQA},
    "gqa": _GQA,
    "covr": {"paper": "text.covr_paper"},
    "yes_no": {"words": "yes_no.words", "paper": "yes_no.paper"},
    "nlvr": {"words": "yes_no.words", "paper": "yes_no.paper"},
    "integer": {
        "words": "numbers.words",
        "exact": "numbers.exact",
        "vlmevalkit": "numbers.vlmevalkit",
        "paper": "numbers.paper",
    },
    "tallyqa": {"official": "numbers.exact", "vlmevalkit": "numbers.vlmevalkit", "paper": "numbers.paper"},
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
    return cast("Metric", metric(_threshold(name)) if flavours is _BOX_ACCURACY else metric)


def flavours_of(name: str) -> tuple[str, ...]:
    """The names of a metric's flavours, the default first. Raises ConfigError."""
    return tuple(_row(name))


def _row(name: str) -> Mapping[str, str]:
    if name in METRICS:
        return METRICS[name]
    if name.partition("@")[0] != "box_accuracy":
        raise ConfigError(f"unknown metric {name!r}; known metrics are {', '.join(METRICS)}")
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
            f"metric {name!r}: {text!r} is no threshold; write box_accuracy@0.5, above 0 and up to 1"
        )
    return value
