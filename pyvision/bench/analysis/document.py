"""A report as a value: titles, paragraphs, tables and plots, rendered as Markdown that fits a terminal of 80 columns.

`pyvision.bench.analysis.page` renders it as an HTML page.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias
from unicodedata import category, east_asian_width

from pyvision.bench.analysis.statistics import Estimate

COLUMNS = 80
_MIN_WIDTH = 8  # minimum width of the first cell

Grade: TypeAlias = Literal["right", "wrong", "unscored"]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A shell command on one line."""

    line: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of plain text as long as the head. The first column is aligned left, the others right."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Items:
    """A bulleted list; items may be of any length."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """A PNG with its caption; only the page shows it. dark: the same for a dark page."""

    name: str
    png: bytes
    dark: bytes
    caption: str


@dataclass(frozen=True, slots=True)
class Card:
    """One answer. link: of its report, if there is one. thumbnail: a small JPEG of the first image; may be empty."""

    title: str
    grade: Grade
    facts: tuple[tuple[str, str], ...]  # such as ("answer", "4")
    link: str | None = None
    thumbnail: bytes = b""


@dataclass(frozen=True, slots=True)
class Gallery:
    """Answers beside their images; only the page shows it."""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Answers:
    """All answers as a table that the reader can filter by grade; in Markdown a plain table."""

    cards: tuple[Card, ...]


Part: TypeAlias = Paragraph | Command | Table | Items | Plot | Gallery | Answers


@dataclass(frozen=True, slots=True)
class Section:
    """A title with its content. is_folded: the page hides the content until the title is clicked."""

    title: str
    parts: tuple[Part, ...]
    is_folded: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report."""

    title: str
    sections: tuple[Section, ...]

    @property
    def plots(self) -> tuple[Plot, ...]:
        return tuple(part for section in self.sections for part in section.parts if isinstance(part, Plot))


def to_markdown(document: Document) -> str:
    """The whole report without its plots."""
    lines = [f"# {_escape(plain(document.title))}", ""]
    for section in document.sections:
        lines += [f"## {_escape(plain(section.title))}", ""]
        for part in section.parts:
            lines += _markdown_lines(part)
    return "\n".join(lines).rstrip() + "\n"


def format_percent(share: float) -> str:
    """`0.5` as `50.0`."""
    return f"{100 * share:.1f}"


def format_signed_percent(share: float) -> str:
    """`0.5` as `+50.0`."""
    return f"{100 * share:+.1f}"


def format_interval(found: Estimate | None) -> str:
    """`[low, high]` in percent; a dash for no estimate."""
    return f"[{format_percent(found.low)}, {format_percent(found.high)}]" if found else "–"


def format_value(found: Estimate | None) -> str:
    """The value in percent; a dash for no estimate."""
    return format_percent(found.value) if found else "–"


def format_probability(p: float) -> str:
    """A p-value to four digits."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def plain(text: str) -> str:
    """One line without control characters, so that text from a model cannot control the terminal."""
    visible = "".join(
        " " if category(letter) in ("Cc", "Cf", "Zl", "Zp", "Cs") else letter for letter in text
    )
    return re.sub(r"\s+", " ", visible).strip()


def _markdown_lines(part: Part) -> Iterator[str]:
    match part:
        case Paragraph(text=text):
            yield from _wrap(text)
        case Command(line=line):
            yield from ("```sh", plain(line), "```")
        case Items(lines=lines):
            for line in lines:
                yield from _wrap(f"- {line}", "  ")
        case Table():
            yield from _markdown_table(part)
        case Answers(cards=cards):
            yield from _markdown_table(_as_table(cards))
        case Plot() | Gallery():
            return
    yield ""


def _as_table(cards: Sequence[Card]) -> Table:
    head = ("sample", "grade", *(name for name, _ in cards[0].facts)) if cards else ("sample", "grade")
    return Table(head, tuple((card.title, card.grade, *(text for _, text in card.facts)) for card in cards))


def _wrap(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        _escape(plain(text)),
        COLUMNS,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _markdown_table(table: Table) -> Iterator[str]:
    rows = [[_escape(plain(cell)).replace("|", "\\|") for cell in row] for row in (table.head, *table.rows)]
    widths = [max(2, *(_width(row[column]) for row in rows)) for column in range(len(table.head))]
    widths[0] = max(_MIN_WIDTH, min(widths[0], COLUMNS - sum(widths[1:]) - 3 * len(widths) - 1))
    yield _markdown_row(rows[0], widths)
    yield "| " + " | ".join(["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]) + " |"
    for row in rows[1:]:
        yield _markdown_row(row, widths)


def _markdown_row(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = _shorten(cells[0], widths[0])
    padded = [first + " " * (widths[0] - _width(first))]
    padded += [" " * (width - _width(cell)) + cell for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return "| " + " | ".join(padded) + " |"


def _shorten(text: str, width: int) -> str:
    """The text, or as much of its end as fits: the end distinguishes sub-categories."""
    if _width(text) <= width:
        return text
    while _width(text) > width - 1:
        text = text[1:]
    return "…" + text


def _escape(text: str) -> str:
    """Text that Markdown renderers cannot turn into an HTML element, an image or a link."""
    return text.replace("<", "‹").replace("![", "! [").replace("](", "] (")


def _width(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
