"""What perception gives back: one builder a tool, so that every provider speaks in the same values.

Coordinates are pixels of the picture that was given, as floats, from its top left corner. Scores lie between 0 and 1
in `data`; in `text` they are per cent, with one decimal, as in the AVIS paper's listings (arXiv 2306.08129).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from pyvision.errors import ToolError
from pyvision.types import Observation, Picture

MOST_BOXES = 300  # of one picture: more is noise, and a page of text for the model that reads it
MOST_CHARS = 4000  # of an answer or a caption: no essay
DEPTH_CELLS = 64  # of a depth map along each side, as it is handed out


@dataclass(frozen=True, slots=True)
class Box:
    """A thing in a picture: pixels from the top left, right and bottom exclusive. score: 0 to 1."""

    left: float
    top: float
    right: float
    bottom: float
    score: float
    label: str

    @property
    def area(self) -> float:
        return max(0.0, self.right - self.left) * max(0.0, self.bottom - self.top)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text in a picture, and where it stands; coordinates and score as in `Box`."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    score: float


Placed = TypeVar("Placed", Box, Line)


def caption_observation(caption: str) -> Observation:
    """A caption as `{"caption": …}`. Raises ToolError for an empty one."""
    return _format("caption", caption)


def answer_observation(answer: str) -> Observation:
    """A short text as `{"answer": …}`. Raises ToolError for an empty one."""
    return _format("answer", answer)


def boxes_observation(boxes: Iterable[Box], picture: Picture, wanted: str) -> Observation:
    """`{"boxes": […]}`, the surest first, cut to the picture; what then has no area is left out."""
    within = [_within(box, picture) for box in boxes]
    kept = sorted((box for box in within if box.area > 0), key=lambda box: -box.score)[:MOST_BOXES]
    text = "\n".join(f"{_score(box.label, box.score)} at {_place(box)}" for box in kept)
    return Observation(text or f"Found no {wanted or 'objects'}.", {"boxes": [asdict(box) for box in kept]})


def scores_observation(texts: Sequence[str], scores: Sequence[float]) -> Observation:
    """`{"scores": […]}`, one a text and in its order."""
    inside = [_share(score) for score in scores]
    text = "\n".join(_score(each, score) for each, score in zip(texts, inside, strict=True))
    return Observation(text, {"scores": inside})


def depth_observation(depth: Any, picture: Picture) -> Observation:
    """`{"depth": rows from the top, "width", "height"}`, larger is farther; `depth` is a map of any size.

    Scaled down to DEPTH_CELLS a side, by the mean of each cell. Raises ToolError for a map with a number that is none.
    """
    cells = _reduce(depth)
    rows = [[float(value) for value in row] for row in cells]
    if not all(math.isfinite(value) for row in rows for value in row):
        raise ToolError("depth: the map holds values that are no numbers; try another model")
    height, width = len(rows), len(rows[0])
    low, high = min(map(min, rows)), max(map(max, rows))
    text = (
        f"A depth map of {width} x {height} cells over {picture.width} x {picture.height} pixels, "
        f"from {low:.3g} (nearest) to {high:.3g} (farthest), in no unit."
    )
    return Observation(text, {"depth": rows, "width": width, "height": height})


def read(lines: Iterable[Line], picture: Picture) -> Observation:
    """`{"lines": […]}`, in reading order, cut to the picture; empty ones are left out."""
    within = [_within(line, picture) for line in lines if line.text.strip()]
    text = "\n".join(f"Extracted Text: {_score(_one_line(line.text), line.score)}" for line in within)
    return Observation(text or "No text was found.", {"lines": [asdict(line) for line in within]})


def _format(kind: str, text: str) -> Observation:
    if not (told := text.strip()[:MOST_CHARS]):
        raise ToolError(f"{kind}: the model said nothing; ask another one")
    return Observation(told, {kind: told})


def _within(placed: Placed, picture: Picture) -> Placed:
    """The same thing cut to the picture, with edges in order and a score between 0 and 1."""
    left, right = sorted(_along(edge, picture.width) for edge in (placed.left, placed.right))
    top, bottom = sorted(_along(edge, picture.height) for edge in (placed.top, placed.bottom))
    if isinstance(placed, Box):
        return Box(left, top, right, bottom, _share(placed.score), _one_line(placed.label))
    return Line(placed.text, left, top, right, bottom, _share(placed.score))


def _along(edge: float, side: int) -> float:
    return min(max(float(edge), 0.0), float(side))


def _share(score: float) -> float:
    return min(1.0, max(0.0, float(score)))


def _score(name: str, score: float) -> str:
    return f"{name} (score={100 * score:.1f})"


def _place(box: Box) -> str:
    return f"left {box.left:.0f}, top {box.top:.0f}, right {box.right:.0f}, bottom {box.bottom:.0f}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _reduce(depth: Any) -> Any:
    """A map of at most DEPTH_CELLS a side: each cell the mean of the values that fall into it."""
    import numpy

    values = numpy.atleast_2d(numpy.asarray(depth, dtype=float))
    for axis in (0, 1):
        length = values.shape[axis]
        if length > DEPTH_CELLS:
            starts = numpy.arange(DEPTH_CELLS) * length // DEPTH_CELLS
            sums = numpy.add.reduceat(values, starts, axis=axis)
            sizes = numpy.diff(numpy.append(starts, length))
            values = sums / (sizes[:, None] if axis == 0 else sizes[None, :])
    return values
