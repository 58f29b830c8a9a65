"""What a person would read on a web page: its title and its text, without the markup.

Covered: broken markup, elements that are not text (script, style, template…), what is hidden by its own attributes.
Not covered: text that a style sheet hides or a script writes; it stays in, or stays out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.parser import HTMLParser

_SKIPPED = frozenset(
    ("script", "style", "template", "noscript", "svg", "math", "iframe", "object", "canvas", "select")
)
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "br", "caption", "dd", "div", "dl", "dt", "fieldset"),
        *("figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li"),
        *("main", "nav", "ol", "p", "pre", "section", "table", "td", "th", "tr", "ul"),
    )
)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PageText:
    """title: one line, empty where there is none. text: paragraphs, one a line."""

    title: str
    text: str


def page_text(html: str) -> PageText:
    """The title and the visible text of an HTML document, however broken."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.pieces).split("\n"))
    return PageText(" ".join("".join(reader.title).split()), "\n".join(line for line in lines if line))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.title: list[str] = []
        self._open: list[str] = []  # elements from the one that is not shown inwards
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_title = tag == "title" and "svg" not in self._open
        if tag in _VOID:
            self._break_at(tag)
        elif self._open or tag in _SKIPPED or _is_hidden(dict(attrs)):
            self._open.append(tag)
        else:
            self._break_at(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._break_at(tag)

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False
        if tag in self._open:
            while self._open.pop() != tag:
                pass
        self._break_at(tag)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self._open:
            self.pieces.append(re.sub(r"\s", " ", data))

    def _break_at(self, tag: str) -> None:
        if tag in _BLOCKS and not self._open:
            self.pieces.append("\n")


def _is_hidden(attributes: dict[str, str | None]) -> bool:
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or _HIDDEN_STYLE.search(attributes.get("style") or "") is not None
    )
