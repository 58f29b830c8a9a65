"""A report as a value: titles, paragraphs, tables and plots, rendered as Markdown or as one HTML page.

The Markdown fits a terminal of 80 columns. The page opens offline: everything escaped, no scripts, images inside.
"""

from __future__ import annotations

import base64
import hashlib
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias
from unicodedata import category, east_asian_width

from pyvision.bench.analysis.statistics import Estimate

COLUMNS = 80
_MIN_WIDTH = 8  # minimum width of the first cell

STYLE = """\
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid #8884; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; overflow-wrap: break-word; }
td:first-child { min-width: 8rem; max-width: 26rem; }
li { overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: .8rem; background: #8882; border-radius: .3rem; }
img { max-width: 100%; height: auto; background: white; }
figure { margin: 1rem 0; } figcaption { font-size: .9rem; opacity: .8; }
"""


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
    """Rows of plain text as long as the head. The first column is aligned left, the others right.

    links: the link of the first cell of each row, or None; only the page shows them.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    links: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Items:
    """A bulleted list; items may be of any length."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """A PNG with its caption; only the page shows it."""

    name: str
    png: bytes
    caption: str


Part: TypeAlias = Paragraph | Command | Table | Items | Plot


@dataclass(frozen=True, slots=True)
class Section:
    """A title with its content."""

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


def to_markdown(document: Document) -> str:
    """The whole report without its plots."""
    lines = [f"# {_escape(plain(document.title))}", ""]
    for section in document.sections:
        lines += [f"## {_escape(plain(section.title))}", ""]
        for part in section.parts:
            lines += _markdown_lines(part)
    return "\n".join(lines).rstrip() + "\n"


def to_page(document: Document) -> str:
    """The whole report as HTML, with a policy that allows only its style sheet and embedded images."""
    title = escape(plain(document.title))
    body = "\n".join(_html_section(section) for section in document.sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n<h1>{title}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )


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
        case Plot():
            return
    yield ""


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


def _policy() -> str:
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def _html_section(section: Section) -> str:
    parts = "\n".join(_html_part(part) for part in section.parts)
    return f"<section>\n<h2>{escape(plain(section.title))}</h2>\n{parts}\n</section>"


def _html_part(part: Part) -> str:
    match part:
        case Paragraph(text=text):
            return f"<p>{escape(plain(text))}</p>"
        case Command(line=line):
            return f"<pre><code>{escape(plain(line))}</code></pre>"
        case Items(lines=lines):
            listed = "\n".join(f"<li>{escape(plain(line))}</li>" for line in lines)
            return f"<ul>\n{listed}\n</ul>"
        case Table():
            return _html_table(part)
        case Plot(png=png, caption=caption):
            return _html_figure(base64.b64encode(png).decode(), escape(plain(caption)))


def _html_figure(data: str, caption: str) -> str:
    image = f'<img src="data:image/png;base64,{data}" alt="{caption}">'
    return f"<figure>\n{image}\n<figcaption>{caption}</figcaption>\n</figure>"


def _html_table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(plain(cell))}</th>' for cell in table.head)
    links = table.links or (None,) * len(table.rows)
    rows = "\n".join(_html_row(row, link) for row, link in zip(table.rows, links, strict=True))
    return (
        f'<div class="wide" tabindex="0">\n<table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</div>"
    )


def _html_row(row: tuple[str, ...], link: str | None) -> str:
    first, *others = (escape(plain(cell)) for cell in row)
    if link is not None:
        first = f'<a href="{escape(link)}">{first}</a>'
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in (first, *others)) + "</tr>"
