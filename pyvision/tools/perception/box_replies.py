"""Read bounding boxes out of a model's reply, whatever dialect it words them in.

Known dialects: `{"box": [x1, y1, x2, y2], "label": …}` as the prompt asks for; `bbox_2d` of the Qwen-VL family;
`box_2d` of Gemini, which counts rows first, in thousandths ([y1, x1, y2, x2]); edges by name; bare lists of four.
The scale is the user's to choose (`--tool detect=model:pixels`): a number alone does not tell what it counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyvision.errors import FormatError
from pyvision.text.parsing import MOST_CHARS, number_of, values_in
from pyvision.tools.perception.observations import Box

SCALES: Mapping[str, float | None] = {"1000": 1000.0, "pixels": None, "unit": 1.0}  # of a full side
_ROWS_FIRST = "box_2d"
_BOX_KEYS = ("box", "bbox_2d", "bbox", _ROWS_FIRST, "bounding_box", "boundingbox", "coordinates", "xyxy")
_EDGES = (
    ("left", "top", "right", "bottom"),
    ("x1", "y1", "x2", "y2"),
    ("xmin", "ymin", "xmax", "ymax"),
    ("x_min", "y_min", "x_max", "y_max"),
)
_LABEL_KEYS = ("label", "name", "object", "class", "category")
_SCORE_KEYS = ("score", "confidence", "probability")
_NUMBER = r"\s*(-?\d{1,9}(?:\.\d{1,9})?)\s*"
_FOUR = re.compile(rf"[\[(<]{_NUMBER},{_NUMBER},{_NUMBER},{_NUMBER}[\])>]")
_DEEPEST = 12  # levels of lists and objects
_MOST = 3000
_SLACK = 1.05  # how far over the edge of its scale a coordinate may be: models round


@dataclass(frozen=True, slots=True)
class _Told:
    """A box as it stands in a reply; numbers is x1, y1, x2, y2 on the scale that the reply uses."""

    numbers: tuple[float, float, float, float]
    label: str
    score: float
    in_thousandths: bool = False


def boxes_in(text: str, scale: str, size: tuple[int, int], label: str) -> tuple[Box, ...]:
    """The boxes of a reply in pixels of a picture of this width and height; none where it says `[]`.

    scale: what the reply counts in, a key of SCALES, unless all its numbers are shares of 1. label: for boxes without
    one. Raises FormatError for a reply without boxes, and for one whose boxes do not lie on the scale.
    """
    values = list(values_in(text))
    told = [each for value in values for each in _walk(value, 0)] or list(_in_prose(text))
    if not told:
        if any(_says_none(value) for value in values):
            return ()
        raise FormatError(f"the reply holds no boxes: {text.strip()!r:.120}")
    told = told[:_MOST]
    side = 1.0 if _is_share(told) else SCALES[scale]
    placed = [box for each in told if (box := _place(each, side, size, label))]
    if not placed:
        raise FormatError(
            f"no box of the reply lies on the scale {scale!r}, the first is {list(told[0].numbers)}; "
            f"choose another: --tool detect=model:{'|'.join(SCALES)}"
        )
    return tuple(placed)


def _walk(value: Any, depth: int) -> Iterator[_Told]:
    """The boxes in a JSON value, those of an object with its label and score."""
    if depth > _DEEPEST:
        return
    match value:
        case dict():
            if (told := _labelled(value)) is not None:
                yield told
                return
            for inner in value.values():
                yield from _walk(inner, depth + 1)
        case list():
            if (four := _four(value)) is not None:
                yield _Told(four, "", 1.0)
                return
            for inner in value:
                yield from _walk(inner, depth + 1)


def _labelled(thing: Mapping[str, Any]) -> _Told | None:
    for key in _BOX_KEYS:
        inner = thing.get(key)
        numbers = _four(inner) if isinstance(inner, list) else _edges(inner)
        if numbers is not None:
            y_first = key == _ROWS_FIRST
            in_order = (numbers[1], numbers[0], numbers[3], numbers[2]) if y_first else numbers
            return _Told(in_order, _label(thing), _score(thing), y_first)
    numbers = _edges(thing)
    return None if numbers is None else _Told(numbers, _label(thing), _score(thing))


def _four(values: Sequence[Any]) -> tuple[float, float, float, float] | None:
    if len(values) == 2 and all(isinstance(corner, list) and len(corner) == 2 for corner in values):
        values = [*values[0], *values[1]]
    if len(values) != 4:
        return None
    a, b, c, d = (number_of(value) for value in values)
    return None if a is None or b is None or c is None or d is None else (a, b, c, d)


def _edges(value: Any) -> tuple[float, float, float, float] | None:
    if not isinstance(value, dict):
        return None
    for names in _EDGES:
        if all(name in value for name in names):
            return _four([value[name] for name in names])
    return None


def _label(thing: Mapping[str, Any]) -> str:
    return next((text for key in _LABEL_KEYS if isinstance(text := thing.get(key), str)), "")[:200]


def _score(thing: Mapping[str, Any]) -> float:
    """1 where none is told; per cent where it is more than 1."""
    told = next((n for key in _SCORE_KEYS if (n := number_of(thing.get(key))) is not None), 1.0)
    return told / 100 if told > 1 else told


def _in_prose(text: str) -> Iterator[_Told]:
    for found in _FOUR.finditer(text[:MOST_CHARS]):
        a, b, c, d = (float(number) for number in found.groups())
        yield _Told((a, b, c, d), "", 1.0)


def _says_none(value: Any) -> bool:
    return value in ([], {}) or (isinstance(value, dict) and any(inner == [] for inner in value.values()))


def _is_share(told: Sequence[_Told]) -> bool:
    """Numbers up to 1 alone are shares, whatever was asked for: no box is a pixel or a thousandth wide."""
    return all(0 <= number <= 1 for each in told for number in each.numbers)


def _place(told: _Told, side: float | None, size: tuple[int, int], label: str) -> Box | None:
    """The box in pixels, None where it lies off its scale. side: what a full side counts, None for pixels."""
    if told.in_thousandths and side != 1:
        side = 1000.0
    across, down = (side, side) if side else size
    (left, right), (top, bottom) = sorted(told.numbers[::2]), sorted(told.numbers[1::2])
    if right > _SLACK * across or bottom > _SLACK * down or left < -0.05 * across or top < -0.05 * down:
        return None
    x, y = size[0] / across, size[1] / down
    return Box(left * x, top * y, right * x, bottom * y, told.score, told.label or label)
