"""The encyclopaedia as a PyVision index, and how often its searches find the right entry."""

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
class CachedTool:
    """A Tool that caches the results of another one: the compared modes make the same searches."""

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
    """Write images and articles, index them, and return the path of the index."""
    documents = folder / "documents"
    documents.mkdir(parents=True)
    rows: list[dict[str, str]] = []
    for number, entry in enumerate(made.entries):
        (documents / f"{number}.png").write_bytes(drawing(entry).data)
        rows.append({"title": entry.title, "text": entry.title, "image": f"{number}.png"})
        rows.append({"title": entry.name, "text": entry.article()})
    rows += [{"title": person.name, "text": person.article()} for person in made.people]
    (documents / "entries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    index = folder / "index.sqlite"
    skipped: list[str] = []
    add(index, [documents], skipped.append, lambda done, count: None)
    if skipped:
        raise RuntimeError(f"the index skipped {len(skipped)} files, the first: {skipped[0]}")
    return index


def searches(index: Path) -> Mapping[str, Tool]:
    """The three tools over the index."""
    return {kind: CachedTool(index_tool(kind, str(index))) for kind in KINDS}


def recall(
    made: World, tools: Mapping[str, Tool], kind: str, depths: Sequence[int] = (1, 5, 10)
) -> list[int]:
    """For each depth, for how many entries one row of RECALLED has the right hit among the first results."""
    found = [0] * len(depths)
    for number, entry in enumerate(made.entries):
        search, _, what = kind.partition(": ")
        picture = None if what else view(entry, f"recall {number}")
        titles = _titles(tools[search], entry.name, picture, max(depths))
        wanted = {*([entry.name] if what else []), *([entry.title] if what != "its article" else [])}
        for place, depth in enumerate(depths):
            found[place] += not wanted.isdisjoint(titles[:depth])
    return found


def _titles(tool: Tool, name: str, picture: Picture | None, count: int) -> list[str]:
    text = f"{name} first recorded" if picture is None else ""
    observation = tool(ToolRequest(text, picture, {"count": count}), _refuse)
    return [str(hit["title"]) for hit in observation.data["hits"]]


def _refuse(role: str, messages: Sequence[Message]) -> Reply:
    raise AssertionError("a search asks no model")
