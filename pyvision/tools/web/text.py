"""Text from the web: read the visible text of an HTML page, and make any text safe to put into a conversation.

HTML: broken markup, elements without text (script, style, template…) and elements hidden by their own attributes are
handled. Not covered: text that a style sheet hides or a script writes.

Prompt injection: control, invisible and direction-changing characters are removed; our own tags, those of chat
templates and the markers of our tools' formats (`Title:`, `Knowledge: [`, …) are escaped everywhere; the end mark
contains the hash of the text, so that no text contains its own; the length is limited. Not covered: a model may still
follow an instruction between the marks. They show where the text comes from and cannot enforce anything.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from html.parser import HTMLParser

from pyvision.text.prompts import render
from pyvision.text.sanitize import sanitize

TEXT_CHARS = 6_000
_MARK_DIGITS = 24  # 96 bits of SHA-256
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")  # blank letters and marks
_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))  # variation selectors: they can carry any data
_OUR_TAG = re.compile(
    r"<(?=[\s/\\]*(?:data|context|knowledge|observation|tool_?\w*|instructions?)\b)", re.IGNORECASE
)
_MARKERS = (
    r"knowledge|title|content|context|retrievals|observation|extracted text|query suggestion|product|caption"
    r"|high confidence(?: response)?|query|question|answer|final answer|action|action input|thought|explanation"
    r"|visual|instructions?|system|developer|user|assistant|human"
)
_MARKER = re.compile(rf"\b({_MARKERS})(\s*)[:：﹕]", re.IGNORECASE)
_OBJECT = re.compile(r"\b(object\s*#\s*\d+\s*)\[", re.IGNORECASE)
_NO_COLON = "∶"  # RATIO: looks like a colon, and no Unicode normalization makes it one
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


def wrap_untrusted(text: str, source: str) -> str:
    """Cleaned text, between marks that it cannot contain. source: where it comes from, for the model."""
    from hashlib import sha256

    mark = sha256(text.encode("utf-8", "replace")).hexdigest()[:_MARK_DIGITS]
    return render("web/data.md", mark=mark, source=source, text=text)


def clean(text: str, limit: int = TEXT_CHARS) -> str:
    """The text without invisible characters, and with everything escaped that has a meaning in our formats."""
    visible = "".join(filter(_is_visible, text[: 4 * limit]))
    plain = sanitize(visible, limit)
    plain = _OUR_TAG.sub("‹", plain)
    plain = _OBJECT.sub(r"\1‹", plain)
    return _MARKER.sub(rf"\1\2{_NO_COLON}", plain)


def clean_line(text: str, limit: int) -> str:
    """The same, on one line."""
    return " ".join(clean(" ".join(text.split()), limit).split())


def _is_visible(character: str) -> bool:
    if character in _INVISIBLE or any(ord(character) in selectors for selectors in _SELECTORS):
        return False
    return character.isascii() or unicodedata.category(character) != "Cf"


@dataclass(frozen=True, slots=True)
class PageText:
    """title: one line, empty if there is none. text: one paragraph per line."""

    title: str
    text: str


def page_text(html: str) -> PageText:
    """The title and the visible text of an HTML document, even if it is broken."""
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
        self._open: list[str] = []  # the outermost hidden element and those inside it
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
