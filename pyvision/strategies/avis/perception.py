"""What is known of the image before the search: caption, writing and objects, as the lines that a model reads.

One item a line, indented by two spaces and followed by a comma; places are named after a grid of three by three. These
are the forms of the paper's prompts (appendix D); the names of the middle row are ours, except for "center".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from pyvision.agent.episode import Episode
from pyvision.errors import ImageError
from pyvision.images.pixels import crop
from pyvision.strategies.avis.actions import Toolbox, hits_of
from pyvision.types import Observation, Picture, ToolRequest

WHOLE = "whole image"
_ROWS = ("upper", "center", "lower")
_COLUMNS = ("left", "center", "right")
_MAX_TEXTS, _MAX_ENTITIES, _SENTENCE_CHARS = 12, 3, 200


@dataclass(frozen=True, slots=True)
class DetectedObject:
    """number: from 1. picture: its part of the image. look_up: gives what the collection knows of it, as lines.

    It is looked up when it is first described to a model, so that a search that needs no object looks up none.
    """

    number: int
    label: str
    place: str
    picture: Picture
    look_up: Callable[[], tuple[str, ...]] = tuple

    def block(self) -> str:
        """As the selector and the reasoner read it."""
        return block(f"Object #{self.number}", [caption_line(self.label, self.place), *self.look_up()])


@dataclass(frozen=True, slots=True)
class ImageContext:
    """The image as it is known before the first action. lines: what is known of the image as a whole."""

    picture: Picture | None
    lines: tuple[str, ...] = ()
    objects: tuple[DetectedObject, ...] = ()

    def object_at(self, number: int) -> DetectedObject:
        """Numbers count from 1."""
        return self.objects[number - 1]

    @property
    def has_known_object(self) -> bool:
        """Whether the collection knows one of the objects; they are looked up."""
        return any(each.look_up() for each in self.objects)

    def overview(self) -> tuple[str, ...]:
        """What the planner sees at the start: the lines of the image, and one line for each object."""
        objects = (f"Object #{each.number}: {caption_line(each.label, each.place)}" for each in self.objects)
        return (*self.lines, *objects)


def describe_image(picture: Picture, episode: Episode, toolbox: Toolbox, max_objects: int) -> ImageContext:
    """Uses whichever of caption, ocr and detect is set up. max_objects: those with the highest scores are kept."""
    lines: list[str] = []
    if toolbox.can_perceive("caption") and not episode.last_call():
        lines += _caption(toolbox.call_tool("caption", ToolRequest(picture=picture)))
    if toolbox.can_perceive("ocr"):
        lines += _texts(toolbox.call_tool("ocr", ToolRequest(picture=picture)))
    objects: tuple[DetectedObject, ...] = ()
    if toolbox.can_perceive("detect") and not episode.last_call():
        found = toolbox.call_tool("detect", ToolRequest("object", picture))
        objects = tuple(_objects(picture, _rows(found, "boxes")[:max_objects], toolbox))
    return ImageContext(picture, tuple(lines), objects)


def location(centre_x: float, centre_y: float) -> str:
    """Which ninth of the image a point lies in; both are shares of its sides from the top left, 0 to 1."""
    row, column = _ROWS[_third(centre_y)], _COLUMNS[_third(centre_x)]
    return "center" if row == column else f"{row} {column}"


def caption_line(caption: str, place: str) -> str:
    return f"{_flat(caption)} (Caption, {place})"


def text_line(text: str, score: float | None = None) -> str:
    """A line of writing in the image. score: 0 to 1."""
    return f"Extracted Text: {_flat(text)}{_score(score)}"


def entity_line(hit: Mapping[str, Any]) -> str:
    """What a search found for an image: its title, the first sentence of the text, and the score in percent."""
    title, text = _flat(str(hit.get("title") or "(untitled)")), _first_sentence(str(hit.get("text") or ""))
    near = "near match, not the same: " if hit.get("is_near") is True else ""
    return f"{near}{title}{': ' + text if text else ''}{_score(hit.get('score'))}"


def block(name: str, lines: Iterable[str]) -> str:
    """`name [`, the items, `]`."""
    return "\n".join([f"{name} [", *(f"  {line}," for line in lines), "]"])


def indent_block(text: str) -> str:
    """A block as an item of another one."""
    return text.replace("\n", "\n  ")


def _caption(seen: Observation) -> list[str]:
    text = seen.data.get("caption") if isinstance(seen.data, Mapping) else None
    caption = str(text or seen.text).strip()
    return [caption_line(caption, WHOLE)] if caption else []


def _texts(seen: Observation) -> list[str]:
    lines = (line for line in _rows(seen, "lines") if str(line.get("text", "")).strip())
    return [text_line(str(line["text"]), line.get("score")) for line in lines][:_MAX_TEXTS]


def _objects(picture: Picture, boxes: list[Mapping[str, Any]], toolbox: Toolbox) -> Iterator[DetectedObject]:
    number = 0
    for box in boxes:
        try:
            left, top, right, bottom = (float(box[side]) for side in ("left", "top", "right", "bottom"))
            part = crop(picture, (left, top, right, bottom))
        except (ImageError, KeyError, TypeError, ValueError, OverflowError):
            continue  # the tool may be third-party: an invalid box, or one outside the image, is no object
        number += 1
        place = location((left + right) / 2 / picture.width, (top + bottom) / 2 / picture.height)
        label = str(box.get("label") or "object")
        yield DetectedObject(number, label, place, part, cache(partial(_entities, part, toolbox)))


def _entities(part: Picture, toolbox: Toolbox) -> tuple[str, ...]:
    """What the collection knows of this part of the image; the paper's service names entities for every box."""
    tool = toolbox.tool_of("identical_image_search")
    if tool is None:
        return ()
    seen = toolbox.call_tool(tool, ToolRequest(picture=part))
    return tuple(entity_line(hit) for hit in hits_of(seen)[:_MAX_ENTITIES])


def _rows(seen: Observation, key: str) -> list[Mapping[str, Any]]:
    found = seen.data.get(key) if isinstance(seen.data, Mapping) else None
    rows = [row for row in found if isinstance(row, Mapping)] if isinstance(found, list | tuple) else []
    return sorted(rows, key=_confidence, reverse=True) if key == "boxes" else rows


def _confidence(row: Mapping[str, Any]) -> float:
    score = row.get("score")
    return float(score) if isinstance(score, int | float) else 0.0


def _third(share: float) -> int:
    return min(2, max(0, int(share * 3)))


def _flat(text: str) -> str:
    return " ".join(text.split())


def _score(score: Any) -> str:
    return f" (score={100 * score:.1f})" if isinstance(score, int | float) else ""


def _first_sentence(text: str) -> str:
    sentence = _flat(text).split(". ")[0].rstrip(".")
    return sentence if len(sentence) <= _SENTENCE_CHARS else sentence[: _SENTENCE_CHARS - 1] + "…"
