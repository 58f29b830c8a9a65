"""HTML that is safe by default: text is escaped unless it is Markup; highlighted code; the frame of every page.

Covered: names of elements and attributes come from PyVision's own code only; text and attribute values may come from
anywhere. Not covered: an attribute that takes a URL is safe only with a value that PyVision made (`#turn-1`,
`data:image/…`).
"""

from __future__ import annotations

import html
import re
from base64 import b64encode
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from pyvision.text.sanitize import printable

_HERE = Path(__file__).parent
_STYLES = ("page.css", "blocks.css", "experiment.css")
_HTML_VOID = {"img", "br", "meta", "input", "source"}
_VOID = {*_HTML_VOID, "rect", "use", "image"}
_NAME = re.compile(r"[a-z][a-zA-Z0-9-]*")
_MAX_HIGHLIGHTED_CHARS = 200_000  # highlighting a longer cell would take seconds
_PYGMENTS_STYLES = {"light": "default", "dark": "monokai"}


class Markup(str):
    """Text that already is HTML."""

    __slots__ = ()


def document(title: str, *body: object) -> str:
    """A page that opens offline, with the project's style sheet. It makes no request and runs no script.

    Its content security policy allows this one style sheet, by hash, and images as data URLs.
    """
    style = "".join((_HERE / name).read_text(encoding="utf-8") for name in _STYLES)
    style += highlight_styles()
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=Markup(policy)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(style)),
    )
    return f"<!doctype html>\n{element('html', head, element('body', *body), lang='en')}\n"


def element(name: str, /, *children: object, **attributes: object) -> Markup:
    """An element. In attribute names `class_` means class and `_` means `-`.

    True is an attribute without a value; None and False are left out.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a valid element name")
    opening = "".join([name, *(_attribute(key, value) for key, value in attributes.items())])
    if name in _VOID:
        return Markup(f"<{opening}>" if name in _HTML_VOID else f"<{opening}/>")
    return Markup(f"<{opening}>{join(*children)}</{name}>")


def fold(title: object, *content: object) -> Markup:
    """Content that is hidden until its title is clicked."""
    return element("details", element("summary", title), *content, class_="folded")


def join(*parts: object) -> Markup:
    """The parts one after the other, without those that are None."""
    return Markup("".join(escape(part) for part in parts if part is not None))


def escape(text: object) -> Markup:
    """Text as HTML: no tag, no entity, no control character, no terminal escape sequence."""
    return text if isinstance(text, Markup) else Markup(html.escape(printable(str(text)), quote=True))


def shorten(text: str, chars: int) -> str:
    """The text on one line, cut to this length with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= chars else f"{line[: chars - 1]}…"


def count(number: int, noun: str) -> str:
    """A number with its noun: 1 box, 2 boxes."""
    plural = "es" if noun.endswith("x") else "s"
    return f"{number} {noun}{'' if number == 1 else plural}"


def highlight(code: str) -> Markup:
    """Python code with a `<span class=…>` around each token, and every character escaped."""
    text = printable(code)
    if len(text) > _MAX_HIGHLIGHTED_CHARS:
        return escape(text)
    lexer = _pygments("lexers").PythonLexer(ensurenl=False, stripnl=False)
    formatter = _pygments("formatters").HtmlFormatter(nowrap=True)
    return Markup(import_module("pygments").highlight(text, lexer, formatter))


def highlight_styles() -> str:
    """CSS for `.code` that follows the reader's choice of light or dark."""
    dark = f"@media screen and (prefers-color-scheme: dark) {{\n{token_styles('dark')}\n}}"
    return f"{token_styles('light')}\n{dark}"


def token_styles(theme: str) -> str:
    """CSS for the tokens of `.code` in the `light` or `dark` theme; the background belongs to the page."""
    formatter = _pygments("formatters").HtmlFormatter(style=_PYGMENTS_STYLES[theme])
    rules: list[str] = formatter.get_token_style_defs([".code"])
    return "\n".join(rules)


def _attribute(key: str, value: object) -> str:
    name = key.rstrip("_").replace("_", "-")
    if not _NAME.fullmatch(name) or name.startswith("on"):
        raise ValueError(f"{key!r} is not an allowed attribute name")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(value)}"'


def _pygments(part: str) -> Any:
    """A module of Pygments, which comes with IPython and is not typed."""
    return import_module(f"pygments.{part}")
