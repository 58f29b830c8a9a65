"""The objects of a picture as the detector found them, each with its crop, and the words for where they lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyvision.errors import ImageError
from pyvision.images.pixels import crop
from pyvision.strategies.avis.perception import caption_line, location
from pyvision.types import Picture

MOST_THINGS = 10  # on one page, the surest first


@dataclass(frozen=True, slots=True)
class Detection:
    """One object. number: from 1; 0 would be the whole picture. box: left, top, right, bottom in pixels."""

    number: int
    label: str
    score: float
    box: tuple[float, float, float, float]
    crop: Picture
    place: str

    def __str__(self) -> str:
        """As a line of a planner's context tells of it."""
        return f"Object #{self.number}: {caption_line(self.label or 'object', self.place)}"


def detections_in(picture: Picture, data: Any) -> tuple[Detection, ...]:
    """The objects of a detector's `Observation.data`; a box without a pixel in the picture is left out."""
    boxes = data.get("boxes", ()) if isinstance(data, Mapping) else ()
    surest = sorted(boxes, key=lambda box: -float(box.get("score", 0)))
    return tuple(_number(picture, surest))[:MOST_THINGS]


def _number(picture: Picture, boxes: Sequence[Mapping[str, Any]]) -> Iterator[Detection]:
    number = 0
    for found in boxes:
        box = (float(found["left"]), float(found["top"]), float(found["right"]), float(found["bottom"]))
        try:
            part = crop(picture, box)
        except ImageError:
            continue  # a tool may not keep to the picture: nothing of it can be shown
        number += 1
        label, score = str(found.get("label", "")), float(found.get("score", 0))
        yield Detection(number, label, score, box, part, _place(picture, box))


def _place(picture: Picture, box: tuple[float, float, float, float]) -> str:
    left, top, right, bottom = box
    return location((left + right) / 2 / picture.width, (top + bottom) / 2 / picture.height)
