"""The tools that search the user's own collection: identical_image, similar_image, document.

The text for a model has the form of the AVIS listings (arXiv 2306.08129): `Retrievals: [` with the titles of images and
what is said of each, `TITLE (score=97.3): CAPTION; file NAME`, copies after `high confidence: `, without copies the
nearest after `near match: `; `Knowledge: [` with blocks of `Title:` and `Content:`. Each is one line, so that no text
can imitate another block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from pyvision.config.environment import environment
from pyvision.errors import ToolError
from pyvision.tools.retrieval.database import index_path
from pyvision.tools.retrieval.search import Hit, Index
from pyvision.types import Ask, Observation, Picture, Source, Tool, ToolRequest

_DEFAULT_HITS, _MAX_HITS = 5, 100
_MOST_NEAR, _NEAR = 3, 0.8  # near matches, and the least similarity of one
_CAPTION_CHARS = 160

Search = Callable[[Index, ToolRequest, int], tuple[Hit, ...]]


@dataclass(frozen=True, slots=True)
class _Row:
    """One kind of search, and how its hits are formatted."""

    purpose: str
    search: Search
    format: Callable[[Sequence[Hit]], str]


@dataclass(frozen=True, slots=True)
class IndexTool:
    """A search over one index. Takes `options["count"]`: the number of hits, 5 by default, at most 100."""

    is_repeatable: ClassVar[bool] = True
    name: str
    index: Index

    @property
    def purpose(self) -> str:
        return _ROWS[self.name].purpose

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        """Raises ConfigError if there is no index, ToolError if it is locked or the request lacks something."""
        row = _ROWS[self.name]
        hits = row.search(self.index, request, _count(request))
        sources = tuple(Source(hit.title, hit.url or hit.path) for hit in hits)
        return Observation(row.format(hits), {"hits": [_plain(hit) for hit in hits]}, sources)


def index_tool(kind: str, where: str = "") -> Tool:
    """The tool of that name for the index at `where`, or the default one (PYVISION_INDEX). Opens nothing yet.

    Raises KeyError for an unknown name.
    """
    _ROWS[kind]
    return IndexTool(kind, Index(index_path(where, environment())))


def _format_images(hits: Sequence[Hit]) -> str:
    """Images, as text for a model."""
    return _block("Retrievals", [_describe_image(hit) for hit in hits])


def _format_passages(hits: Sequence[Hit]) -> str:
    """Passages, as text for a model."""
    return _block("Knowledge", [f"Title: {_line(hit.title)}\n  Content: {_line(hit.text)}" for hit in hits])


def _identical(index: Index, request: ToolRequest, count: int) -> tuple[Hit, ...]:
    """Copies of the image; without any, the images that come near to it, which say so."""
    picture = _picture(request)
    if copies := index.identical(picture, count):
        return copies
    near = (hit for hit in index.similar(picture, min(count, _MOST_NEAR)) if hit.score >= _NEAR)
    return tuple(replace(hit, is_near=True) for hit in near)


def _similar(index: Index, request: ToolRequest, count: int) -> tuple[Hit, ...]:
    return index.similar(_picture(request), count)


def _documents(index: Index, request: ToolRequest, count: int) -> tuple[Hit, ...]:
    if not request.text.strip():
        raise ToolError("document: the query is empty; give words to search for")
    return index.documents(request.text, count)


_ROWS: Mapping[str, _Row] = MappingProxyType(
    {
        "identical_image": _Row(
            "finds what the user's collection says of a picture that is the same as the whole image",
            _identical,
            _format_images,
        ),
        "similar_image": _Row(
            "finds the titles of pictures in the user's collection that look like a part of the image",
            _similar,
            _format_images,
        ),
        "document": _Row(
            "finds passages in the user's collection by words, for what the image alone does not tell",
            _documents,
            _format_passages,
        ),
    }
)


def _picture(request: ToolRequest) -> Picture:
    if request.picture is None:
        raise ToolError("the request has no image; give one")
    return request.picture


def _count(request: ToolRequest) -> int:
    count = request.options.get("count", _DEFAULT_HITS)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= _MAX_HITS:
        raise ToolError(f"count={count!r}: give a whole number from 1 to {_MAX_HITS}")
    return count


def _describe_image(hit: Hit) -> str:
    """What the collection says of an image: its title and similarity, the beginning of its caption, its file."""
    caption = _line(hit.text)
    caption = caption if len(caption) <= _CAPTION_CHARS else f"{caption[: _CAPTION_CHARS - 1]}…"
    file = Path(hit.path).name
    details = [
        part
        for part in (caption if caption != _line(hit.title) else "", f"file {file}" if file else "")
        if part
    ]
    return ": ".join([_title(hit), "; ".join(details)]) if details else _title(hit)


def _title(hit: Hit) -> str:
    score = f"{_line(hit.title)} (score={100 * hit.score:.1f})"
    if hit.is_same:
        return f"high confidence: {score}"
    return f"near match: {score}" if hit.is_near else score


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
    } | ({"is_near": True} if hit.is_near else {})
    return plain | ({"url": hit.url} if hit.url else {})
