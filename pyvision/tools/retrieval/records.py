"""Read JSON lines, whatever they call their parts, and the captions of pictures, beside them or in such lines.

A record is an object with a title, a text, the name of an image relative to its file, an address. An image outside
of the folder of the file is never opened (links inside of it are followed), and an address never fetched.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyvision.tools.retrieval.entries import Complain, Passage
from pyvision.tools.retrieval.passages import markdown_passages, short_title, split, text_passages
from pyvision.tools.retrieval.plain_text import MAX_TEXT_BYTES, clean_text, read_text

MAX_LINE_BYTES = 4 * 2**20
SIDECARS = (".txt", ".md", ".json")
_TITLES = ("title", "name", "entity")
_TEXTS = ("text", "caption", "description", "content")
_IMAGES = ("image", "file_name", "image_path")
_URLS = ("url", "link", "source")


@dataclass(frozen=True, slots=True)
class Record:
    """One line: its passage, and the absolute path of its image, if it has one."""

    passage: Passage
    image: str = ""


def records_in(path: str, complain: Complain) -> Iterator[Record]:
    """Every usable record of a file; one complaint counts those that are not. Raises OSError."""
    wrong, first = 0, 0
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        record = _record(line, Path(path))
        if record is None:
            wrong, first = wrong + 1, first or number
        else:
            yield record
    if wrong:
        told = "no record: a JSON object with a title or text, and no image outside of this folder"
        complain(path, f"{wrong} lines, the first is line {first}, hold {told}")


def passages_in(records: Iterator[Record], without: frozenset[str]) -> Iterator[Passage]:
    """The passages of records without an image; those of the images named in `without` count as such."""
    for record in records:
        if record.image and record.image not in without:
            continue
        for part in split(record.passage.text) if record.passage.text else (record.passage.title,):
            yield Passage(record.passage.title, part, record.passage.url)


def join_captions(captions: Sequence[Passage]) -> Passage:
    """Several captions of one picture as one: the first title and address, every text once."""
    texts = dict.fromkeys(caption.text for caption in captions)
    urls = [caption.url for caption in captions if caption.url]
    return Passage(captions[0].title, "\n".join(texts), urls[0] if urls else "")


def sidecar_of(picture: str) -> str | None:
    """The file beside a picture, of the same stem, that says what it shows."""
    stem = os.path.splitext(picture)[0]  # noqa: PTH122 - paths are text here: there may be 100,000
    return next((stem + ending for ending in SIDECARS if Path(stem + ending).is_file()), None)


def sidecar_passages(path: str) -> list[Passage]:
    """What such a file says; the first passage is the caption. Raises ConfigError, OSError."""
    text, name = read_text(path), Path(path).stem
    if path.endswith(".md"):
        return list(markdown_passages(text, name))
    if path.endswith(".txt"):
        found = list(text_passages(text, ""))
        return [Passage(one.title or short_title(found[0].text), one.text) for one in found]
    value = _object(text)
    return [] if value is None else [_passage(value, name)]


def _lines(path: str) -> Iterator[bytes]:
    """The lines; of one that is too long only the start, which is no JSON then."""
    with Path(path).open("rb") as file:
        while line := file.readline(MAX_LINE_BYTES):
            yield line
            while len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE_BYTES)


def _record(line: bytes, path: Path) -> Record | None:
    try:
        value = _object(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return None
    if value is None:
        return None
    image = _first(value, _IMAGES)
    passage = _passage(value, Path(image).stem if image else path.stem)
    if not image:
        return Record(passage) if passage.text or _first(value, _TITLES) else None
    inside = _inside(path.parent, image)
    return Record(passage, inside) if inside else None


def _object(text: str) -> Mapping[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # no JSON, a number of too many digits, or brackets without end
        return None
    return value if isinstance(value, dict) else None


def _passage(value: Mapping[str, Any], name: str) -> Passage:
    text = _first(value, _TEXTS)[:MAX_TEXT_BYTES]
    title = _first(value, _TITLES) or text.strip().partition("\n")[0] or name
    return Passage(short_title(title), text.strip(), " ".join(_first(value, _URLS).split()))


def _first(value: Mapping[str, Any], names: Sequence[str]) -> str:
    """The first of these that is a text; one of a number or a list of texts is made one."""
    for name in names:
        match value.get(name):
            case str(text) if text.strip():
                return clean_text(text)
            case bool() | None:
                continue
            case int() | float() as number:
                return str(number)
            case [str(), *_] as texts:
                return clean_text("\n".join(str(text) for text in texts))
    return ""


def _inside(folder: Path, name: str) -> str:
    """The path of an image inside a folder; empty for one that leads out of it, or that no file can have."""
    if "\0" in name or "\n" in name or "://" in name:
        return ""
    path = os.path.abspath(folder / name)  # noqa: PTH100 - resolve() follows links
    return path if path.startswith(os.path.join(os.path.abspath(folder), "")) else ""  # noqa: PTH100, PTH118
