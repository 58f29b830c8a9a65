"""The first look at the picture, before any planning: caption, writing, objects, and what is known of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyvision.agent.episode import Episode
from pyvision.errors import ImageError
from pyvision.images.pixels import crop
from pyvision.strategies.avis.context import (
    WHOLE,
    block,
    caption_line,
    entity_line,
    indent_block,
    location,
    text_line,
)
from pyvision.strategies.avis.toolbox import Toolbox, hits_of
from pyvision.types import Observation, Picture, ToolRequest

_MOST_TEXTS, _MOST_ENTITIES = 12, 3


@dataclass(frozen=True, slots=True)
class DetectedObject:
    """A detected object. number: from 1. picture: its part of the whole. lines: what is known of it."""

    number: int
    label: str
    place: str
    picture: Picture
    lines: tuple[str, ...] = ()

    def block(self) -> str:
        """As the selector and the reasoner read it."""
        return block(f"Object #{self.number}", [caption_line(self.label, self.place), *self.lines])


@dataclass(frozen=True, slots=True)
class Scene:
    """The picture as it is known before the first action. lines: those of object 0, the whole of it."""

    picture: Picture | None
    lines: tuple[str, ...] = ()
    objects: tuple[DetectedObject, ...] = ()

    def detected(self, number: int) -> DetectedObject:
        """Numbers count from 1."""
        return self.objects[number - 1]

    def overview(self) -> tuple[str, ...]:
        """What the planner sees at the start: all of the whole, a line of each object."""
        objects = (f"Object #{t.number}: {caption_line(t.label, t.place)}" for t in self.objects)
        return (*self.lines, *objects)

    def blocks(self) -> tuple[str, ...]:
        """Object 0 and the others in full."""
        whole = block("Object #0", self.lines or (caption_line("picture", WHOLE),))
        return (indent_block(whole), *(indent_block(detected.block()) for detected in self.objects))


def look(picture: Picture, episode: Episode, toolbox: Toolbox, most: int) -> Scene:
    """Whatever of caption, ocr and detect is set up. most: objects that are kept, the surest first."""
    lines: list[str] = []
    if toolbox.perceived("caption") and not episode.last_call():
        lines += _caption(toolbox.use("caption", ToolRequest(picture=picture)))
    if toolbox.perceived("ocr"):
        lines += _texts(toolbox.use("ocr", ToolRequest(picture=picture)))
    objects: tuple[DetectedObject, ...] = ()
    if toolbox.perceived("detect") and not episode.last_call():
        found = toolbox.use("detect", ToolRequest("object", picture))
        objects = tuple(_objects(picture, _list(found, "boxes")[:most], toolbox))
    return Scene(picture, tuple(lines), objects)


def _caption(seen: Observation) -> list[str]:
    text = seen.data.get("caption") if isinstance(seen.data, Mapping) else None
    said = str(text or seen.text).strip()
    return [caption_line(said, WHOLE)] if said else []


def _texts(seen: Observation) -> list[str]:
    lines = (line for line in _list(seen, "lines") if str(line.get("text", "")).strip())
    return [text_line(str(line["text"]), line.get("score")) for line in lines][:_MOST_TEXTS]


def _objects(picture: Picture, boxes: list[Mapping[str, Any]], toolbox: Toolbox) -> Iterator[DetectedObject]:
    number = 0
    for box in boxes:
        try:
            left, top, right, bottom = (float(box[side]) for side in ("left", "top", "right", "bottom"))
            part = crop(picture, (left, top, right, bottom))
        except (ImageError, KeyError, TypeError, ValueError, OverflowError):
            continue  # a tool may be anybody's: a box that is none, or lies outside, is no object
        number += 1
        place = location((left + right) / 2 / picture.width, (top + bottom) / 2 / picture.height)
        label = str(box.get("label") or "object")
        yield DetectedObject(number, label, place, part, _entities(part, toolbox))


def _entities(part: Picture, toolbox: Toolbox) -> tuple[str, ...]:
    """What the collection knows of this very part; the paper's service names entities for every box."""
    tool = toolbox.tool_of("identical_image_search")
    if tool is None:
        return ()
    seen = toolbox.use(tool, ToolRequest(picture=part))
    return tuple(entity_line(hit) for hit in hits_of(seen)[:_MOST_ENTITIES])


def _list(seen: Observation, key: str) -> list[Mapping[str, Any]]:
    found = seen.data.get(key) if isinstance(seen.data, Mapping) else None
    rows = [row for row in found if isinstance(row, Mapping)] if isinstance(found, list | tuple) else []
    return sorted(rows, key=_surety, reverse=True) if key == "boxes" else rows


def _surety(row: Mapping[str, Any]) -> float:
    score = row.get("score")
    return float(score) if isinstance(score, int | float) else 0.0
