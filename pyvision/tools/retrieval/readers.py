"""Read a file into passages, by its kind: images, text, Markdown, JSON lines, PDF (with pypdf).

An image is one passage, its caption, with its features. Text is UTF-8, or UTF-16 with a byte order mark. A record is a
JSON object with a title, a text, a URL, and the name of an image relative to its file. An image outside of that folder
is never opened (links inside of it are followed), and a URL is never fetched.
"""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from logging import CRITICAL, getLogger
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from pyvision.errors import ConfigError, MissingExtra
from pyvision.images.read import MAX_FILE_BYTES, read
from pyvision.tools.retrieval.image_features import Embed, ImageFeatures, features_of
from pyvision.tools.retrieval.passages import Passage, markdown_passages, short_title, split, text_passages
from pyvision.tools.retrieval.scan import Kind, OnSkip, SourceFile

Read: TypeAlias = Iterator[tuple[Passage, ImageFeatures | None]]
MAX_TEXT_BYTES = 32 * 2**20
MAX_PDF_BYTES = 256 * 2**20
MAX_PAGE_CHARS = 200_000  # of one page of a PDF: a small file can unpack to any length
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
MAX_LINE_BYTES = 4 * 2**20
SIDECARS = (".txt", ".md", ".json")
_TITLES = ("title", "name", "entity")
_TEXTS = ("text", "caption", "description", "content")
_IMAGES = ("image", "file_name", "image_path")
_URLS = ("url", "link", "source")
MAX_BYTES: Mapping[Kind, int] = MappingProxyType(  # records have no limit: they are read line by line
    {"picture": MAX_FILE_BYTES, "text": MAX_TEXT_BYTES, "markdown": MAX_TEXT_BYTES, "pdf": MAX_PDF_BYTES}
)


def read_file(file: SourceFile, embed: Embed | None) -> Read:
    """The passages of a file, always in the same order; that of an image with its features.

    Raises ConfigError for an unusable file, OSError.
    """
    if file.kind == "picture":
        return _picture(file, embed)
    return _READERS[file.kind](file)


def _picture(file: SourceFile, embed: Embed | None) -> Read:
    yield file.caption or Passage(Path(file.path).stem, ""), features_of(read(file.path), embed)


def _text(file: SourceFile) -> Read:
    yield from _without_features(
        text_passages(read_text(file.path), Path(file.path).stem), file.caption_passages
    )


def _markdown(file: SourceFile) -> Read:
    yield from _without_features(
        markdown_passages(read_text(file.path), Path(file.path).stem), file.caption_passages
    )


def _records(file: SourceFile) -> Read:
    yield from _without_features(passages_in(records_in(file.path, _ignore), file.missing_images))


def _pdf(file: SourceFile) -> Read:
    for number, text in enumerate(pdf_pages(file.path), 1):
        title = f"{Path(file.path).stem}, page {number}"
        yield from _without_features(Passage(title, part) for part in split(text))


def _without_features(passages: Iterator[Passage], skip: int = 0) -> Read:
    for passage in islice(passages, skip, None):
        yield passage, None


def _ignore(path: str, why: str) -> None:
    """Invalid lines were already reported when captions were searched for."""


_READERS: Mapping[Kind, Callable[[SourceFile], Read]] = MappingProxyType(
    {"text": _text, "markdown": _markdown, "records": _records, "pdf": _pdf}
)


@dataclass(frozen=True, slots=True)
class PassageLine:
    """One line: its passage, and the absolute path of its image, if any."""

    passage: Passage
    image: str = ""


def records_in(path: str, on_skip: OnSkip) -> Iterator[PassageLine]:
    """Every valid record of a file; `on_skip` is called once with the number of invalid lines. Raises OSError."""
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
        needed = "a JSON object with a title or text, and no image outside of this folder"
        on_skip(path, f"{wrong} lines (the first is line {first}) are not {needed}")


def passages_in(records: Iterator[PassageLine], missing_images: frozenset[str]) -> Iterator[Passage]:
    """The passages of records without an image; those of the images named in `missing_images` count as such."""
    for record in records:
        if record.image and record.image not in missing_images:
            continue
        for part in split(record.passage.text) if record.passage.text else (record.passage.title,):
            yield Passage(record.passage.title, part, record.passage.url)


def join_captions(captions: Sequence[Passage]) -> Passage:
    """Several captions of one image as one: the first title and URL, every text once."""
    texts = dict.fromkeys(caption.text for caption in captions)
    urls = [caption.url for caption in captions if caption.url]
    return Passage(captions[0].title, "\n".join(texts), urls[0] if urls else "")


def find_sidecar(image: str) -> str | None:
    """The caption file next to an image, with the same stem; None if there is none."""
    stem = os.path.splitext(image)[0]  # noqa: PTH122 - strings: there may be 100,000 paths
    return next((stem + ending for ending in SIDECARS if Path(stem + ending).is_file()), None)


def sidecar_passages(path: str) -> list[Passage]:
    """The passages of a caption file; the first is the caption. Raises ConfigError, OSError."""
    text, name = read_text(path), Path(path).stem
    if path.endswith(".md"):
        return list(markdown_passages(text, name))
    if path.endswith(".txt"):
        passages = list(text_passages(text, ""))
        return [Passage(one.title or short_title(passages[0].text), one.text) for one in passages]
    value = _object(text)
    return [] if value is None else [_passage(value, name)]


def _lines(path: str) -> Iterator[bytes]:
    """The lines; only the start of one that is too long, which is then invalid JSON."""
    with Path(path).open("rb") as file:
        while line := file.readline(MAX_LINE_BYTES):
            yield line
            while len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE_BYTES)


def _record(line: bytes, path: Path) -> PassageLine | None:
    try:
        value = _object(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return None
    if value is None:
        return None
    image = _first(value, _IMAGES)
    passage = _passage(value, Path(image).stem if image else path.stem)
    if not image:
        return PassageLine(passage) if passage.text or _first(value, _TITLES) else None
    inside = _inside(path.parent, image)
    return PassageLine(passage, inside) if inside else None


def _object(text: str) -> Mapping[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # invalid JSON, a number with too many digits, or deep nesting
        return None
    return value if isinstance(value, dict) else None


def _passage(value: Mapping[str, Any], name: str) -> Passage:
    text = _first(value, _TEXTS)[:MAX_TEXT_BYTES]
    title = _first(value, _TITLES) or text.strip().partition("\n")[0] or name
    return Passage(short_title(title), text.strip(), " ".join(_first(value, _URLS).split()))


def _first(value: Mapping[str, Any], names: Sequence[str]) -> str:
    """The first of these that is a text; a number or a list of texts is converted to one."""
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
    """The path of an image inside a folder; empty if it lies outside, or cannot be a path."""
    if "\0" in name or "\n" in name or "://" in name:
        return ""
    path = os.path.abspath(folder / name)  # noqa: PTH100 - resolve() follows links
    return path if path.startswith(os.path.join(os.path.abspath(folder), "")) else ""  # noqa: PTH100, PTH118


def read_text(path: str) -> str:
    """The text of a file. Raises ConfigError if it is too large or not text, OSError."""
    with Path(path).open("rb") as file:
        data = file.read(MAX_TEXT_BYTES + 1)
    if len(data) > MAX_TEXT_BYTES:
        raise ConfigError(f"is larger than {MAX_TEXT_BYTES:,} bytes; split it")
    try:
        text = data.decode("utf-16" if data.startswith(_UTF16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"is not UTF-8 text (byte {error.start:,}); convert it with iconv") from error
    if "\0" in text:
        raise ConfigError("contains NUL characters, so it is not text; rename it if it is data")
    return clean_text(text)


def clean_text(text: str) -> str:
    """The text without what SQLite cannot store: lone surrogates, such as "\\ud800" in JSON, and NUL."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text.replace("\0", " ")


def pdf_pages(path: str) -> Iterator[str]:
    """The text of each page, empty for scans. Raises MissingExtra without pypdf, ConfigError, OSError."""
    for page in _open_pdf(path):
        yield clean_text(_page_text(page)[:MAX_PAGE_CHARS])


def _open_pdf(path: str) -> list[Any]:
    getLogger("pypdf").setLevel(CRITICAL)  # errors are reported in one line; warnings do not matter
    try:
        reader = import_module("pypdf").PdfReader  # not installed when types are checked
    except ImportError as error:
        raise MissingExtra("pypdf", "pdf") from error
    try:
        return list(reader(path).pages)
    except OSError:
        raise
    except Exception as error:  # pypdf raises any exception on hostile files
        raise ConfigError(
            f"cannot be read as PDF ({_first_line(error)}); save it again with another program"
        ) from error


def _page_text(page: Any) -> str:
    try:
        return str(page.extract_text())
    except Exception as error:  # as above
        raise ConfigError(
            f"contains a page that cannot be read ({_first_line(error)}); save it again"
        ) from error


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
