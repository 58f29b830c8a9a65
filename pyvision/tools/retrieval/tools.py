"""The tools that search the user's own collection: identical_image, similar_image, document.

The lines that a model reads have the form of the AVIS listings (arXiv 2306.08129): `Retrievals: [` with the titles of
pictures, copies as `high confidence: TITLE (score=97.3)`; `Knowledge: [` with blocks of `Title:` and `Content:`.
Each title and each content is one line, so that a text cannot pass itself off as another block.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pyvision.errors import ToolError
from pyvision.tools.retrieval.database import index_path
from pyvision.tools.retrieval.entries import Hit
from pyvision.tools.retrieval.search import Index
from pyvision.types import Ask, Observation, Picture, Source, Tool, ToolRequest

_USUAL_HITS, _MAX_HITS = 5, 100

Search = Callable[[Index, ToolRequest, int], tuple[Hit, ...]]


@dataclass(frozen=True, slots=True)
class _Row:
    """One kind of search, and how its hits are told."""

    purpose: str
    search: Search
    tell: Callable[[Sequence[Hit]], str]


@dataclass(frozen=True, slots=True)
class IndexTool:
    """A search over one index. Takes `options["count"]`: how many hits, 5 unless told, 100 at most."""

    name: str
    index: Index

    @property
    def purpose(self) -> str:
        return _ROWS[self.name].purpose

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        """Raises ConfigError when there is no index, ToolError when it is locked or asked without what it needs."""
        row = _ROWS[self.name]
        hits = row.search(self.index, request, _count(request))
        sources = tuple(Source(hit.title, hit.url or hit.path) for hit in hits)
        return Observation(row.tell(hits), {"hits": [_plain(hit) for hit in hits]}, sources)


def index_tool(kind: str, where: str = "") -> Tool:
    """The tool of that name over the index at `where`, or the usual one (PYVISION_INDEX). Nothing is opened yet.

    Raises KeyError for another name.
    """
    _ROWS[kind]
    return IndexTool(kind, Index(index_path(where, os.environ)))


def retrievals(hits: Sequence[Hit]) -> str:
    """Pictures as a model reads them; no score where it says nothing about a copy."""
    return _block("Retrievals", [_title(hit) for hit in hits])


def knowledge(hits: Sequence[Hit]) -> str:
    """Passages as a model reads them."""
    return _block("Knowledge", [f"Title: {_line(hit.title)}\n  Content: {_line(hit.text)}" for hit in hits])


def _identical(index: Index, request: ToolRequest, count: int) -> tuple[Hit, ...]:
    return index.identical(_picture(request), count)


def _similar(index: Index, request: ToolRequest, count: int) -> tuple[Hit, ...]:
    return index.similar(_picture(request), count)


def _documents(index: Index, request: ToolRequest, count: int) -> tuple[Hit, ...]:
    if not request.text.strip():
        raise ToolError("document: the query is empty; give words to look for")
    return index.documents(request.text, count)


_ROWS: Mapping[str, _Row] = MappingProxyType(
    {
        "identical_image": _Row(
            "finds what the user's collection says of a picture that is the same as the whole image",
            _identical,
            retrievals,
        ),
        "similar_image": _Row(
            "finds the titles of pictures in the user's collection that look like a part of the image",
            _similar,
            retrievals,
        ),
        "document": _Row(
            "finds passages in the user's collection by words, for what the image alone does not tell",
            _documents,
            knowledge,
        ),
    }
)


def _picture(request: ToolRequest) -> Picture:
    if request.picture is None:
        raise ToolError("the search for images was given no picture; give one")
    return request.picture


def _count(request: ToolRequest) -> int:
    count = request.options.get("count", _USUAL_HITS)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= _MAX_HITS:
        raise ToolError(f"count={count!r}: give a whole number from 1 to {_MAX_HITS}")
    return count


def _title(hit: Hit) -> str:
    score = f"{_line(hit.title)} (score={100 * hit.score:.1f})"
    return f"high confidence: {score}" if hit.is_same else score


def _block(name: str, items: Sequence[str]) -> str:
    return "\n".join([f"{name}: [", *(f"  {item}," for item in items), "]"])


def _line(text: str) -> str:
    return " ".join(text.split())


def _plain(hit: Hit) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "id": hit.id,
        "title": hit.title,
        "text": hit.text,
        "score": hit.score,
        "path": hit.path,
    }
    return plain | ({"url": hit.url} if hit.url else {})
