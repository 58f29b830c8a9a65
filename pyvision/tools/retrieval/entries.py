"""The values of an index: passages, files that were found, pictures by their looks, hits, counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["picture", "text", "markdown", "records", "pdf"]
Complain: TypeAlias = Callable[[str, str], None]  # (path, why it is left out)


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of text with the title that it stands under; of a picture: its caption."""

    title: str
    text: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A file to index. path: absolute. companion: what else its entry depends on, as a short text.

    caption: of a picture, when there is one. taken: leading passages that are a picture's caption already.
    without: images that its records name and that are not there, so that these records are passages.
    """

    path: str
    kind: Kind
    size: int
    mtime_ns: int
    companion: str = ""
    caption: Passage | None = None
    taken: int = 0
    without: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ImageFeatures:
    """What is kept of a picture: hashes of 8 bytes each and a descriptor of float16 numbers (see looks.py)."""

    sha256: str
    width: int
    height: int
    dhash: bytes
    phash: bytes
    descriptor: bytes


@dataclass(frozen=True, slots=True)
class Hit:
    """What a search found. score: 0 to 1, comparable within one kind of search. is_same: an exact or near duplicate."""

    id: int
    title: str
    text: str
    url: str
    path: str
    score: float
    is_same: bool = False


def hit_of(row: Sequence[Any], score: float, *, is_same: bool = False) -> Hit:
    """The hit in a row of the database that begins with id, title, text, url and path."""
    passage, title, text, url, path = row[:5]
    return Hit(passage, title, text, url, path, score, is_same)


@dataclass(slots=True)
class Counts:
    """What one `index add` came to, in files; it grows while that goes on."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    left_out: int = 0
    other_kinds: int = 0  # files of kinds that are not indexed
    passages: int = 0  # written
    by_kind: dict[str, int] = field(default_factory=dict)  # of what was added or changed
