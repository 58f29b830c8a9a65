"""The first look at the picture, before any planning: caption, writing, objects, and what is known of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyvision.agent.episode import Episode
from pyvision.errors import ImageError
from pyvision.images.pixels import crop
from pyvision.strategies.avis.actions import Toolbox, hits_of
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


# ---- What is known of the picture as the lines that a model reads: captions with their place, entities, texts, objects.
# ----
# ---- One item a line, indented by two spaces, a comma behind it; places are the names of a grid of three by three. The
# ---- paper's prompts (appendix D) show these forms; the names of the middle row are ours, but for "center".


WHOLE = "whole image"
_ROWS = ("upper", "center", "lower")
_COLUMNS = ("left", "center", "right")


def location(centre_x: float, centre_y: float) -> str:
    """Which ninth of the picture a point lies in; both are shares of its sides from the top left, 0 to 1."""
    row, column = _ROWS[_third(centre_y)], _COLUMNS[_third(centre_x)]
    return "center" if row == column else f"{row} {column}"


def caption_line(caption: str, place: str) -> str:
    return f"{_flat(caption)} (Caption, {place})"


def text_line(text: str, score: float | None = None) -> str:
    """A line of writing in the picture. score: 0 to 1."""
    return f"Extracted Text: {_flat(text)}{_score(score)}"


def entity_line(hit: Mapping[str, Any]) -> str:
    """What a search found for a picture: its title, what the text begins with, and the score in percent."""
    title, text = _flat(str(hit.get("title") or "(untitled)")), _first_sentence(str(hit.get("text") or ""))
    return f"{title}{': ' + text if text else ''}{_score(hit.get('score'))}"


def block(name: str, lines: Iterable[str]) -> str:
    """`name [`, the items, `]`."""
    return "\n".join([f"{name} [", *(f"  {line}," for line in lines), "]"])


def indent_block(text: str) -> str:
    """A block as an item of another one."""
    return text.replace("\n", "\n  ")


def _third(share: float) -> int:
    return min(2, max(0, int(share * 3)))


def _flat(text: str) -> str:
    return " ".join(text.split())


def _score(score: Any) -> str:
    return f" (score={100 * score:.1f})" if isinstance(score, int | float) else ""


def _first_sentence(text: str, most: int = 200) -> str:
    sentence = _flat(text).split(". ")[0].rstrip(".")
    return sentence if len(sentence) <= most else sentence[: most - 1] + "…"
