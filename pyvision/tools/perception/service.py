"""What all providers of perception share: the tool and its request, the observations, models loaded once.

Coordinates are pixels of the given image, as floats, from its top left corner. Scores are 0 to 1 in `data`; in `text`
they are percentages with one decimal, as in the listings of the AVIS paper (arXiv 2306.08129).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from threading import Lock
from typing import Any, ClassVar, TypeAlias, TypeVar

from pyvision.errors import ImageError, ToolError
from pyvision.types import Ask, Observation, Picture, ToolRequest

Provide: TypeAlias = Callable[[ToolRequest, Ask], Observation]

PURPOSES: Mapping[str, str] = {
    "caption": "says in a sentence what a picture shows",
    "vqa": "answers a simple question about what can be seen in a picture",
    "llm_qa": "answers a question from common knowledge or from a text, without a picture",
    "detect": "finds objects in a picture and tells where they are",
    "match": "tells how well each of several texts fits a picture",
    "verify": "says whether an object in a picture has a property",
    "depth": "estimates how far away each part of a picture is",
    "ocr": "reads the text in a picture",
}
MOST_TEXTS = 1000  # of one match; verify_property of VDebugger compares with 617
MOST_BOXES = 300  # of one image: more are noise, and a page of text for the model that reads them
MOST_CHARS = 4000  # of an answer or a caption
DEPTH_CELLS = 64  # of a returned depth map, along each side


@dataclass(frozen=True, slots=True)
class Service:
    """A perception tool. `provide` raises ToolError if it fails, ConfigError if the user has to fix something.

    is_measured: its scores come from a network or a rule, and can be ranked; those of a chat model are opinions.
    """

    is_repeatable: ClassVar[bool] = True
    name: str
    provide: Provide
    is_measured: bool = False

    @property
    def purpose(self) -> str:
        return PURPOSES[self.name]

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        try:
            return self.provide(request, ask)
        except ImageError as error:  # the image came with the request: not a setting that the user can fix
            raise ToolError(f"{self.name}: {error}") from error


def picture_of(request: ToolRequest, tool: str) -> Picture:
    """The image of a request. Raises ToolError if there is none."""
    if request.picture is None:
        raise ToolError(f"{tool}: the request has no image; give one")
    return request.picture


def text_of(request: ToolRequest, tool: str) -> str:
    """The text of a request. Raises ToolError if it is empty."""
    if not (text := request.text.strip()):
        raise ToolError(f"{tool}: the request has no text; give a question")
    return text


def texts_of(request: ToolRequest, tool: str) -> tuple[str, ...]:
    """The texts to match. Raises ToolError unless they are a list of one to MOST_TEXTS texts."""
    texts = request.options.get("texts")
    if not isinstance(texts, list | tuple) or not texts or not all(isinstance(text, str) for text in texts):
        raise ToolError(f"{tool}: the option texts must be a list of at least one text, not {texts!r:.80}")
    if len(texts) > MOST_TEXTS:
        raise ToolError(f"{tool}: {len(texts)} texts are more than {MOST_TEXTS}; give fewer")
    return tuple(texts)


def context_of(request: ToolRequest, tool: str) -> str:
    """The text that a question is about, empty if there is none. Raises ToolError if it is not a text."""
    context = request.options.get("context") or ""
    if not isinstance(context, str):
        raise ToolError(f"{tool}: the option context must be text, not {context!r:.80}")
    return context


def is_all(text: str) -> bool:
    """Whether a request is for every object, not for those of one name."""
    return text.strip().lower() in ("", "object", "objects")


@dataclass(frozen=True, slots=True)
class Box:
    """An object in an image: pixels from the top left, right and bottom exclusive. score: 0 to 1."""

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
    """A line of text in an image and its position; coordinates and score as in `Box`."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    score: float


_Region = TypeVar("_Region", Box, Line)


def caption_observation(caption: str) -> Observation:
    """A caption as `{"caption": …}`. Raises ToolError for an empty one."""
    return _text_observation("caption", caption)


def answer_observation(answer: str) -> Observation:
    """A short text as `{"answer": …}`. Raises ToolError for an empty one."""
    return _text_observation("answer", answer)


def _text_observation(key: str, text: str) -> Observation:
    if not (text := text.strip()[:MOST_CHARS]):
        raise ToolError(f"{key}: the model returned an empty reply; ask another one")
    return Observation(text, {key: text})


def boxes_observation(boxes: Iterable[Box], picture: Picture, wanted: str) -> Observation:
    """`{"boxes": […]}`, highest score first, clipped to the image; boxes without an area are dropped."""
    clipped = (_clip(box, picture) for box in boxes)
    best = sorted((box for box in clipped if box.area > 0), key=lambda box: -box.score)[:MOST_BOXES]
    text = "\n".join(f"{_format_score(box.label, box.score)} at {_format_edges(box)}" for box in best)
    return Observation(text or f"Found no {wanted or 'objects'}.", {"boxes": [asdict(box) for box in best]})


def scores_observation(texts: Sequence[str], scores: Sequence[float]) -> Observation:
    """`{"scores": […]}`, one per text, in the order of the texts."""
    clipped = [_clip_score(score) for score in scores]
    text = "\n".join(_format_score(each, score) for each, score in zip(texts, clipped, strict=True))
    return Observation(text, {"scores": clipped})


def ocr_observation(lines: Iterable[Line], picture: Picture) -> Observation:
    """`{"lines": […]}`, in reading order, clipped to the image; empty lines are dropped."""
    clipped = [_clip(line, picture) for line in lines if line.text.strip()]
    text = "\n".join(f"Extracted Text: {_format_score(_one_line(line.text), line.score)}" for line in clipped)
    return Observation(text or "No text was found.", {"lines": [asdict(line) for line in clipped]})


def depth_observation(depth: Any, picture: Picture) -> Observation:
    """`{"depth": rows from the top, "width", "height"}`, larger is farther; `depth` is a map of any size.

    Scaled down to DEPTH_CELLS a side, by the mean of each cell. Raises ToolError for a value that is not finite.
    """
    rows = [[float(value) for value in row] for row in _shrink(depth)]
    if not all(math.isfinite(value) for row in rows for value in row):
        raise ToolError("depth: the map holds values that are not finite numbers; try another model")
    height, width = len(rows), len(rows[0])
    low, high = min(map(min, rows)), max(map(max, rows))
    text = (
        f"A depth map of {width} x {height} cells over {picture.width} x {picture.height} pixels, "
        f"from {low:.3g} (nearest) to {high:.3g} (farthest), in no unit."
    )
    return Observation(text, {"depth": rows, "width": width, "height": height})


def _shrink(depth: Any) -> Any:
    """A map of at most DEPTH_CELLS a side: each cell is the mean of the values inside it."""
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


def _clip(region: _Region, picture: Picture) -> _Region:
    """The region clipped to the image, with its edges in order and a score from 0 to 1."""
    left, right = sorted(_clip_edge(edge, picture.width) for edge in (region.left, region.right))
    top, bottom = sorted(_clip_edge(edge, picture.height) for edge in (region.top, region.bottom))
    if isinstance(region, Box):
        return Box(left, top, right, bottom, _clip_score(region.score), _one_line(region.label))
    return Line(region.text, left, top, right, bottom, _clip_score(region.score))


def _clip_edge(edge: float, side: int) -> float:
    return min(max(float(edge), 0.0), float(side))


def _clip_score(score: float) -> float:
    return min(1.0, max(0.0, float(score)))


def _format_score(name: str, score: float) -> str:
    return f"{name} (score={100 * score:.1f})"


def _format_edges(box: Box) -> str:
    return f"left {box.left:.0f}, top {box.top:.0f}, right {box.right:.0f}, bottom {box.bottom:.0f}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


class SharedModel:
    """What `load` returns, loaded on first use and used by one thread at a time. A failed load is tried again."""

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load
        self._loaded: Any = None
        self._lock = Lock()

    @contextmanager
    def acquire(self) -> Iterator[Any]:
        """The loaded model, for this thread alone while the block runs: few networks are thread-safe."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            yield self._loaded


_SHARED: dict[Hashable, SharedModel] = {}
_SHARED_LOCK = Lock()


def share_model(key: Hashable, load: Callable[[], Any]) -> SharedModel:
    """The model of this key: tools are built for each question, but what they load stays for the whole process."""
    with _SHARED_LOCK:
        return _SHARED.setdefault(key, SharedModel(load))
