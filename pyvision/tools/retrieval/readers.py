"""Read a file into passages, by its kind; a picture is one passage with its looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from pyvision.images.read import MAX_FILE_BYTES, read
from pyvision.tools.retrieval.entries import Found, ImageFeatures, Kind, Passage
from pyvision.tools.retrieval.image_descriptors import Describe
from pyvision.tools.retrieval.image_features import features_of
from pyvision.tools.retrieval.passages import markdown_passages, split, text_passages
from pyvision.tools.retrieval.plain_text import MAX_PDF_BYTES, MAX_TEXT_BYTES, pdf_pages, read_text
from pyvision.tools.retrieval.records import passages_in, records_in

Read = Iterator[tuple[Passage, ImageFeatures | None]]

LARGEST: Mapping[Kind, int] = (
    MappingProxyType(  # in bytes; records are read line by line, however many there are
        {"picture": MAX_FILE_BYTES, "text": MAX_TEXT_BYTES, "markdown": MAX_TEXT_BYTES, "pdf": MAX_PDF_BYTES}
    )
)


def read_file(found: Found, describe: Describe | None) -> Read:
    """The passages of a file, in an order that never changes; a picture's with its looks.

    Raises ConfigError for a file that is unusable, OSError.
    """
    if found.kind == "picture":
        return _picture(found, describe)
    return _READERS[found.kind](found)


def _picture(found: Found, describe: Describe | None) -> Read:
    yield found.caption or Passage(Path(found.path).stem, ""), features_of(read(found.path), describe)


def _text(found: Found) -> Read:
    yield from _without_features(text_passages(read_text(found.path), Path(found.path).stem), found.taken)


def _markdown(found: Found) -> Read:
    yield from _without_features(markdown_passages(read_text(found.path), Path(found.path).stem), found.taken)


def _records(found: Found) -> Read:
    yield from _without_features(passages_in(records_in(found.path, _given_before), found.without))


def _pdf(found: Found) -> Read:
    for number, text in enumerate(pdf_pages(found.path), 1):
        title = f"{Path(found.path).stem}, page {number}"
        yield from _without_features(Passage(title, part) for part in split(text))


def _without_features(passages: Iterator[Passage], taken: int = 0) -> Read:
    for passage in islice(passages, taken, None):
        yield passage, None


def _given_before(path: str, why: str) -> None:
    """Lines that are no records were told of when captions were looked for in them."""


_READERS: Mapping[Kind, Callable[[Found], Read]] = MappingProxyType(
    {"text": _text, "markdown": _markdown, "records": _records, "pdf": _pdf}
)
