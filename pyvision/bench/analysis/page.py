"""A report as one HTML file that opens offline: everything escaped, no scripts, pictures inside."""

from __future__ import annotations

import base64
import hashlib
from html import escape

from pyvision.bench.analysis.document import Command, Document, Items, Paragraph, Part, Plot, Section, Table
from pyvision.bench.analysis.markdown import plain

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


def to_page(document: Document) -> str:
    """The whole report as HTML, with a policy that allows its one style sheet and its own pictures only."""
    title = escape(plain(document.title))
    body = "\n".join(_section(section) for section in document.sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n<h1>{title}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _policy() -> str:
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def _section(section: Section) -> str:
    parts = "\n".join(_part(part) for part in section.parts)
    return f"<section>\n<h2>{escape(plain(section.title))}</h2>\n{parts}\n</section>"


def _part(part: Part) -> str:
    match part:
        case Paragraph(text=text):
            return f"<p>{escape(plain(text))}</p>"
        case Command(line=line):
            return f"<pre><code>{escape(plain(line))}</code></pre>"
        case Items(lines=lines):
            listed = "\n".join(f"<li>{escape(plain(line))}</li>" for line in lines)
            return f"<ul>\n{listed}\n</ul>"
        case Table():
            return _table(part)
        case Plot(png=png, words=words):
            return _figure(base64.b64encode(png).decode(), escape(plain(words)))


def _figure(data: str, words: str) -> str:
    image = f'<img src="data:image/png;base64,{data}" alt="{words}">'
    return f"<figure>\n{image}\n<figcaption>{words}</figcaption>\n</figure>"


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(plain(cell))}</th>' for cell in table.head)
    links = table.links or (None,) * len(table.rows)
    rows = "\n".join(_row(row, link) for row, link in zip(table.rows, links, strict=True))
    return (
        f'<div class="wide" tabindex="0">\n<table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</div>"
    )


def _row(row: tuple[str, ...], link: str | None) -> str:
    first, *others = (escape(plain(cell)) for cell in row)
    if link is not None:
        first = f'<a href="{escape(link)}">{first}</a>'
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in (first, *others)) + "</tr>"
