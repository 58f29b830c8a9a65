"""A report as a value: titles, paragraphs, tables and plots, before it is Markdown or a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pyvision.bench.analysis.statistics import Estimate


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A stretch of plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A line for a shell."""

    line: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of plain text as long as the head. The first column stands left, the others right.

    links: where the first cell of each row leads in a page, None for nowhere; Markdown for a terminal leaves them out.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    links: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Items:
    """A list of lines, each of any length."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """A PNG with what it shows in words; Markdown for a terminal leaves it out."""

    name: str
    png: bytes
    words: str


Part: TypeAlias = Paragraph | Command | Table | Items | Plot


@dataclass(frozen=True, slots=True)
class Section:
    """A title and what stands under it."""

    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report."""

    title: str
    sections: tuple[Section, ...]

    @property
    def plots(self) -> tuple[Plot, ...]:
        return tuple(part for section in self.sections for part in section.parts if isinstance(part, Plot))


def percent(share: float) -> str:
    """`0.5` as `50.0`."""
    return f"{100 * share:.1f}"


def format_signed_percent(share: float) -> str:
    """`0.5` as `+50.0`."""
    return f"{100 * share:+.1f}"


def interval(found: Estimate | None) -> str:
    """`[low, high]` in percent; a dash for no estimate."""
    return f"[{percent(found.low)}, {percent(found.high)}]" if found else "–"


def value(found: Estimate | None) -> str:
    """The value in percent; a dash for no estimate."""
    return percent(found.value) if found else "–"


def probability(p: float) -> str:
    """A p-value with as many digits as anyone reads."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"
