"""The evidence of an answer: read the citations of a reply, trace them to the images, or derive them from a crop.

A reply cites `<evidence>image_clue_0 [left, top, right, bottom] … cell 2</evidence>`. Any punctuation may stand between
a name and its numbers, JSON too; several boxes may follow one name. Each number and each list is bounded, and the
patterns are linear: the text comes from a model.
What a figure shows is a claim of the code in the kernel (`sandbox.Region`), so is all that is traced through it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite

from pyvision.types import Box, Evidence
from sandbox import Region

Sizes = Mapping[str, tuple[int, int]]
Figures = Mapping[str, Sequence[Region]]
MOST_CITED = 16
_MOST_CHARS = 4_000  # of the citations, and of numbers and notes after one name
_TAG = re.compile(r"<evidence>(.*?)(?:</evidence>|\Z)", re.IGNORECASE | re.DOTALL)
_NAME = re.compile(r"\b(?:(image)(?:_clue)?|(cell))[ _]?#?(\d{1,4})\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,7}(?:\.\d{1,6})?(?![\w])")
_WHOLE = 0.9  # of an image: a figure that shows so much of it is not a closer look


def find_evidence(text: str) -> tuple[Evidence, ...]:
    """What the last evidence tag cites, as it stands there: nothing is compared with the images yet."""
    tags = _TAG.findall(text)
    if not tags:
        return ()
    cited = tags[-1][:_MOST_CHARS]
    names = list(_NAME.finditer(cited))
    ends = [*(name.start() for name in names), len(cited)][1:]
    found = [
        each for name, end in zip(names, ends, strict=False) for each in _read(name, cited[name.end() : end])
    ]
    return tuple(dict.fromkeys(found))[:MOST_CITED]


def without_evidence(text: str) -> str:
    """The text without its evidence tags and what is in them."""
    return _TAG.sub("", text)


def trace_evidence(
    cited: Sequence[Evidence], originals: Sizes, figures: Figures, cells: int
) -> tuple[Evidence, ...]:
    """The citations that exist, boxes clipped; a region of a figure becomes the region of the original it shows.

    originals: width and height of each, in pixels. figures: what each shows, in the order of their names. cells: how
    many have run. A box whose numbers are all at most 1 is in shares of the width and height.
    """
    traced = (found for each in cited for found in _trace(each, originals, figures, cells))
    return tuple(dict.fromkeys(traced))[:MOST_CITED]


def derive_evidence(originals: Sizes, figures: Figures) -> tuple[Evidence, ...]:
    """The parts of originals that the last figure with a closer look shows; of the last figure with any, if none is."""
    whole: tuple[Evidence, ...] = ()
    for name in reversed(list(figures)):
        traced = [each for each in _trace(Evidence(name), originals, figures, 0) if each.name in originals]
        views = tuple(replace(each, is_derived=True) for each in dict.fromkeys(traced))[:MOST_CITED]
        close = tuple(each for each in views if _share(each, originals) < _WHOLE)
        if close:
            return close
        whole = whole or views
    return whole


def _read(name: re.Match[str], after: str) -> list[Evidence]:
    number = int(name[3])
    if name[2]:
        return [Evidence(f"cell {number}")]
    numbers = [float(each) for each in _NUMBER.findall(after)]
    boxes: list[Box] = list(zip(*[iter(numbers)] * 4, strict=False))
    if not boxes:
        return [Evidence(f"image_clue_{number}")]
    return [Evidence(f"image_clue_{number}", box) for box in boxes]


def _trace(cited: Evidence, originals: Sizes, figures: Figures, cells: int) -> Iterator[Evidence]:
    name, box = cited.name, cited.box
    if name.startswith("cell "):
        if 1 <= int(name.removeprefix("cell ")) <= cells:
            yield cited
    elif name in originals:
        clipped = _clip(box, originals[name])
        if box is None or clipped is not None:
            yield replace(cited, box=clipped)
    elif name in figures:
        found = [each for region in figures[name] for each in _through(cited, region, originals, figures)]
        yield from found or [replace(cited, box=None)]


def _through(cited: Evidence, region: Region, originals: Sizes, figures: Figures) -> Iterator[Evidence]:
    """The part of a figure that lies in one of its regions, traced on in the image that the region shows."""
    box = region.box if cited.box is None else _overlap(cited.box, region.box)
    if box is None or region.name not in {*originals, *_before(cited.name, figures)}:
        return
    target = replace(region, box=box).target
    if all(map(isfinite, target)):
        step = Evidence(region.name, target, source=cited.source or cited.name)
        yield from _trace(step, originals, figures, 0)


def _before(name: str, figures: Figures) -> Sequence[str]:
    """The figures before this one: a figure shows no later one, so that tracing ends."""
    names = list(figures)
    return names[: names.index(name)]


def _clip(box: Box | None, size: tuple[int, int]) -> Box | None:
    """Within the image, corners in order; None if nothing is left."""
    if box is None:
        return None
    if max(map(abs, box)) <= 1:
        box = (box[0] * size[0], box[1] * size[1], box[2] * size[0], box[3] * size[1])
    xs, ys = sorted((box[0], box[2])), sorted((box[1], box[3]))
    clipped = _overlap((xs[0], ys[0], xs[1], ys[1]), (0.0, 0.0, float(size[0]), float(size[1])))
    return _box(round(edge, 2) for edge in clipped) if clipped else None


def _box(edges: Iterable[float]) -> Box:
    left, top, right, bottom = edges
    return left, top, right, bottom


def _overlap(one: Box, other: Box) -> Box | None:
    left, top = max(one[0], other[0]), max(one[1], other[1])
    right, bottom = min(one[2], other[2]), min(one[3], other[3])
    return (left, top, right, bottom) if left < right and top < bottom else None


def _share(evidence: Evidence, originals: Sizes) -> float:
    if evidence.box is None:
        return 1.0
    left, top, right, bottom = evidence.box
    width, height = originals[evidence.name]
    return (right - left) * (bottom - top) / (width * height)
