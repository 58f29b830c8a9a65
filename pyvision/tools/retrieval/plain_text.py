"""Read the text of a file: UTF-8, or UTF-16 that says so; PDF documents by pypdf, where that is installed."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from importlib import import_module
from logging import CRITICAL, getLogger
from pathlib import Path
from typing import Any

from pyvision.errors import ConfigError, MissingExtra

MAX_TEXT_BYTES = 32 * 2**20
MAX_PDF_BYTES = 256 * 2**20
MAX_PAGE_CHARS = 200_000  # of one page of a PDF: a small file can unpack to any length
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_text(path: str) -> str:
    """The text of a file. Raises ConfigError for what is too large or no text, OSError."""
    with Path(path).open("rb") as file:
        data = file.read(MAX_TEXT_BYTES + 1)
    if len(data) > MAX_TEXT_BYTES:
        raise ConfigError(f"is larger than {MAX_TEXT_BYTES:,} bytes; part it")
    try:
        text = data.decode("utf-16" if data.startswith(_UTF16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"is no UTF-8 text (byte {error.start:,}); convert it with iconv") from error
    if "\0" in text:
        raise ConfigError("holds NUL characters, so it is no text; rename it if it is data")
    return clean_text(text)


def clean_text(text: str) -> str:
    """The text without what no database takes: halves of characters, as "\\ud800" in JSON makes them, and NUL."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text.replace("\0", " ")


def pdf_pages(path: str) -> Iterator[str]:
    """The text of each page; scans have none. Raises MissingExtra without pypdf, ConfigError, OSError."""
    for page in _open(path):
        yield clean_text(_text_of(page)[:MAX_PAGE_CHARS])


def _open(path: str) -> list[Any]:
    getLogger("pypdf").setLevel(CRITICAL)  # what it makes of a bad file is told in one line, or was no harm
    try:
        reader = import_module("pypdf").PdfReader  # it is not there when types are checked
    except ImportError as error:
        raise MissingExtra("pypdf", "pdf") from error
    try:
        return list(reader(path).pages)
    except OSError:
        raise
    except Exception as error:  # the reader raises anything at all on hostile files
        raise ConfigError(
            f"cannot be read as PDF ({_brief(error)}); save it again with another program"
        ) from error


def _text_of(page: Any) -> str:
    try:
        return str(page.extract_text())
    except Exception as error:  # as above
        raise ConfigError(f"holds a page that cannot be read ({_brief(error)}); save it again") from error


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
