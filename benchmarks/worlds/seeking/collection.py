"""The encyclopaedia as an index of pyvision's own, and how often a search of it finds the thing that was meant."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.worlds.seeking.entries import World, drawing, view
from pyvision.images.pixels import file_hash
from pyvision.tools.retrieval.building import add
from pyvision.tools.retrieval.tools import index_tool
from pyvision.types import Ask, Message, Observation, Picture, Reply, Tool, ToolRequest

KINDS = ("identical_image", "similar_image", "document")
RECALLED = ("identical_image", "similar_image", "document: its article", "document: article or caption")


@dataclass
class Remembered:
    """A Tool that asks another one only once for the same: the arms of a comparison search for the same things."""

    tool: Tool
    known: dict[object, Observation] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def purpose(self) -> str:
        return self.tool.purpose

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        key = request.text, request.picture and file_hash(request.picture), tuple(request.options.items())
        if key not in self.known:
            self.known[key] = self.tool(request, ask)
        return self.known[key]


def build(made: World, folder: Path) -> Path:
    """Write pictures and articles, index them, and give the path of the index."""
    papers = folder / "papers"
    papers.mkdir(parents=True)
    rows: list[dict[str, str]] = []
    for number, thing in enumerate(made.things):
        (papers / f"{number}.png").write_bytes(drawing(thing).data)
        rows.append({"title": thing.title, "text": thing.title, "image": f"{number}.png"})
        rows.append({"title": thing.name, "text": thing.article()})
    rows += [{"title": person.name, "text": person.article()} for person in made.people]
    (papers / "entries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    index = folder / "index.sqlite"
    left_out: list[str] = []
    add(index, [papers], left_out.append, lambda done, count: None)
    if left_out:
        raise RuntimeError(f"the index left out {len(left_out)} files, the first: {left_out[0]}")
    return index


def searches(index: Path) -> Mapping[str, Tool]:
    """The three tools over the index."""
    return {kind: Remembered(index_tool(kind, str(index))) for kind in KINDS}


def recall(
    made: World, tools: Mapping[str, Tool], kind: str, depths: Sequence[int] = (1, 5, 10)
) -> list[int]:
    """For how many things the right entry is among the first hits of one row of RECALLED, for each depth."""
    found = [0] * len(depths)
    for number, thing in enumerate(made.things):
        search, _, what = kind.partition(": ")
        picture = None if what else view(thing, f"recall {number}")
        titles = _titles(tools[search], thing.name, picture, max(depths))
        wanted = {*([thing.name] if what else []), *([thing.title] if what != "its article" else [])}
        for place, depth in enumerate(depths):
            found[place] += not wanted.isdisjoint(titles[:depth])
    return found


def _titles(tool: Tool, name: str, picture: Picture | None, count: int) -> list[str]:
    text = f"{name} first recorded" if picture is None else ""
    seen = tool(ToolRequest(text, picture, {"count": count}), _nobody)
    return [str(hit["title"]) for hit in seen.data["hits"]]


def _nobody(role: str, messages: Sequence[Message]) -> Reply:
    raise AssertionError("a search asks no model")
