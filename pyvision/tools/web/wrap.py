"""Make text from outside data: what a page says can stand in a conversation, and cannot end the place where it stands.

Covered: control, invisible and direction-changing characters are removed; our own tags, those of chat templates and
the markers of our tools' formats (`Title:`, `Knowledge: [`, …) are made harmless wherever they stand; the end mark
holds the hash of the text, so that no text holds its own; length is capped.
Not covered: a model may still do what a text between the marks tells it. The marks say what is whose; they do not
make anybody heed it.
"""

from __future__ import annotations

import re
import unicodedata

from pyvision.text.prompts import render
from pyvision.text.sanitize import sanitize

TEXT_CHARS = 6_000
_MARK_DIGITS = 24  # 96 bits of SHA-256
_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
)  # blank, though they count as letters or marks
_SELECTORS = (
    range(0xFE00, 0xFE10),
    range(0xE0100, 0xE01F0),
)  # variants of a character; they can carry any data
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
_NO_COLON = "∶"  # a ratio: looks like a colon, is none, and no normal form of Unicode makes it one


def wrap_untrusted(text: str, source: str) -> str:
    """Text that is already clean, between marks that it cannot hold. source: a word of ours, for the model."""
    from hashlib import sha256

    mark = sha256(text.encode("utf-8", "replace")).hexdigest()[:_MARK_DIGITS]
    return render("web/data.md", mark=mark, source=source, text=text)


def clean(text: str, limit: int = TEXT_CHARS) -> str:
    """The text without what is invisible, and without anything that one of our formats means something by."""
    visible = "".join(filter(_is_visible, text[: 4 * limit]))
    plain = sanitize(visible, limit)
    plain = _OUR_TAG.sub("‹", plain)
    plain = _OBJECT.sub(r"\1‹", plain)
    return _MARKER.sub(rf"\1\2{_NO_COLON}", plain)


def clean_line(text: str, limit: int) -> str:
    """The same in one line."""
    return " ".join(clean(" ".join(text.split()), limit).split())


def _is_visible(character: str) -> bool:
    if character in _INVISIBLE or any(ord(character) in selectors for selectors in _SELECTORS):
        return False
    return character.isascii() or unicodedata.category(character) != "Cf"
