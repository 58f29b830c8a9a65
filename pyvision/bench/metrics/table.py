"""The table of metrics: every name with its flavours, the first of which is the default."""

from __future__ import annotations

from collections.abc import Mapping

from pyvision.bench.metrics import (
    blind,
    boxes,
    choice,
    infoseek,
    mathvision,
    mathvista,
    mmmu,
    numbers,
    text,
    vqa,
    yes_no,
)
from pyvision.bench.metrics.scoring import Metric
from pyvision.errors import ConfigError

_GQA: Mapping[str, Metric] = {
    "vlmevalkit": text.gqa_vlmevalkit,
    "lmms-eval": text.gqa_lmms_eval,
    "paper": text.gqa_paper,
}

METRICS: Mapping[str, Mapping[str, Metric]] = {
    "choice": {
        "official": choice.official,
        "vlmevalkit": choice.vlmevalkit,
        "exact": choice.exact,
        "official-random": choice.official_random,
    },
    "visualpuzzles": {
        "official": choice.visualpuzzles,
        "official-random": choice.visualpuzzles_random,
        "vlmevalkit": choice.vlmevalkit,
    },
    "circular": {
        "vlmevalkit": choice.vlmevalkit,
        "exact": choice.exact,
    },  # of one row; `circular.py` joins them
    "scienceqa": {"lmms-eval": choice.lmms_eval, "vlmevalkit": choice.vlmevalkit},
    "mmmu": {
        "official": mmmu.official,
        "vlmevalkit": mmmu.vlmevalkit,
        "official-random": mmmu.official_random,
    },
    "mathvista": {"official": mathvista.official, "vlmevalkit": mathvista.vlmevalkit},
    "mathvision": {"official": mathvision.official},
    "vqa": {"official": vqa.official, "vlmevalkit": vqa.vlmevalkit, "paper": vqa.paper},
    "infoseek": {"official": infoseek.official, "readme": infoseek.readme},
    "text": {"plain": text.plain, "exact": text.exact, **_GQA},
    "gqa": _GQA,
    "covr": {"paper": text.covr_paper},
    "yes_no": {"words": yes_no.words, "paper": yes_no.paper},
    "nlvr": {"words": yes_no.words, "paper": yes_no.paper},
    "integer": {
        "words": numbers.words,
        "exact": numbers.exact,
        "vlmevalkit": numbers.vlmevalkit,
        "paper": numbers.paper,
    },
    "tallyqa": {"official": numbers.exact, "vlmevalkit": numbers.vlmevalkit, "paper": numbers.paper},
    "blind": {"tasks": blind.by_task},
    "box_iou": {"top-left": boxes.iou, "paper": boxes.iou_paper},
    "box_accuracy": boxes.accuracy_at(0.5),
    "box_accuracy@0.5": boxes.accuracy_at(0.5),
    "box_accuracy@0.7": boxes.accuracy_at(0.7),
}


def find_metric(name: str, flavour: str | None = None) -> Metric:
    """The metric of that name; the first of its flavours when none is named. Raises ConfigError.

    `box_accuracy@T` takes any threshold above 0 and up to 1.
    """
    flavours = flavours_of(name)
    if flavour is None:
        return next(iter(flavours.values()))
    if flavour not in flavours:
        raise ConfigError(
            f"metric {name!r} has no flavour {flavour!r}; its flavours are {', '.join(flavours)}"
        )
    return flavours[flavour]


def flavours_of(name: str) -> Mapping[str, Metric]:
    """The flavours of a metric, the default first. Raises ConfigError."""
    if name in METRICS:
        return METRICS[name]
    family, _, threshold = name.partition("@")
    if family == "box_accuracy":
        return boxes.accuracy_at(_threshold(name, threshold))
    raise ConfigError(f"unknown metric {name!r}; known metrics are {', '.join(METRICS)}")


def _threshold(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise ConfigError(
            f"metric {name!r}: {text!r} is no threshold; write box_accuracy@0.5, above 0 and up to 1"
        )
    return value
