"""A report as Markdown that also reads well in a terminal of 80 columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from unicodedata import category, east_asian_width

from pyvision.bench.analysis.document import Command, Document, Items, Paragraph, Part, Plot, Table

COLUMNS = 80
_LEAST = 8  # columns of the first cell, however wide the others are


def to_markdown(document: Document) -> str:
    """The whole report; plots are left out."""
    lines = [f"# {_escape(plain(document.title))}", ""]
    for section in document.sections:
        lines += [f"## {_escape(plain(section.title))}", ""]
        for part in section.parts:
            lines += _lines(part)
    return "\n".join(lines).rstrip() + "\n"


def plain(text: str) -> str:
    """One line without control characters, so that what a model wrote cannot steer a terminal."""
    visible = "".join(
        " " if category(letter) in ("Cc", "Cf", "Zl", "Zp", "Cs") else letter for letter in text
    )
    return re.sub(r"\s+", " ", visible).strip()


def _lines(part: Part) -> Iterator[str]:
    match part:
        case Paragraph(text=text):
            yield from _wrap(text)
        case Command(line=line):
            yield from ("```sh", plain(line), "```")
        case Items(lines=lines):
            for line in lines:
                yield from _wrap(f"- {line}", "  ")
        case Table():
            yield from _table(part)
        case Plot():
            return
    yield ""


def _wrap(text: str, further: str = "") -> list[str]:
    return textwrap.wrap(
        _escape(plain(text)),
        COLUMNS,
        subsequent_indent=further,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _table(table: Table) -> Iterator[str]:
    rows = [[_escape(plain(cell)).replace("|", "\\|") for cell in row] for row in (table.head, *table.rows)]
    widths = [max(2, *(_width(row[column]) for row in rows)) for column in range(len(table.head))]
    widths[0] = max(_LEAST, min(widths[0], COLUMNS - sum(widths[1:]) - 3 * len(widths) - 1))
    yield _row(rows[0], widths)
    yield "| " + " | ".join(["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]) + " |"
    for row in rows[1:]:
        yield _row(row, widths)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = _cut(cells[0], widths[0])
    padded = [first + " " * (widths[0] - _width(first))]
    padded += [" " * (width - _width(cell)) + cell for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return "| " + " | ".join(padded) + " |"


def _cut(text: str, width: int) -> str:
    """The text, or as much of its end as fits: what tells sub-categories apart stands at the end."""
    if _width(text) <= width:
        return text
    while _width(text) > width - 1:
        text = text[1:]
    return "…" + text


def _escape(text: str) -> str:
    """Nothing in a text is an element of HTML or a picture to be fetched when Markdown is made into a page."""
    return text.replace("<", "‹").replace("![", "! [").replace("](", "] (")


def _width(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
