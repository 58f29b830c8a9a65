"""HTML that is safe by default: whatever is not Markup is text, and is escaped.

Covered: element names and attribute names come from our own code only; text and attribute values may come from
anywhere. Not covered: an attribute that takes a URL is safe only with a value of our own (`#turn-1`, `data:image/…`).
"""

from __future__ import annotations

import html
import re
from importlib import import_module
from string import Template
from typing import Any

from pyvision.text.sanitize import printable

_VOID = {"img", "br", "meta", "rect", "use", "image"}
_NAME = re.compile(r"[a-z][a-zA-Z0-9-]*")


class Markup(str):
    """Text that already is HTML."""

    __slots__ = ()


def escape(text: object) -> Markup:
    """Text as HTML shows it: no tag, no entity, no control character, no terminal escape."""
    return text if isinstance(text, Markup) else Markup(html.escape(printable(str(text)), quote=True))


def join(*parts: object) -> Markup:
    """The parts one after the other; None is nothing."""
    return Markup("".join(escape(part) for part in parts if part is not None))


def element(name: str, *children: object, **attributes: object) -> Markup:
    """An element. `class_` is class, `_` is `-`; True is an attribute without a value, None and False are none."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of an element")
    opening = "".join([name, *(_attribute(key, value) for key, value in attributes.items())])
    if name in _VOID:
        return Markup(f"<{opening}>" if name in ("img", "br", "meta") else f"<{opening}/>")
    return Markup(f"<{opening}>{join(*children)}</{name}>")


def render(template: str, **values: object) -> Markup:
    """A template file with every $name filled in, escaped unless it is Markup. Raises KeyError for one too few."""
    return Markup(Template(template).substitute({name: escape(value) for name, value in values.items()}))


def _attribute(key: str, value: object) -> str:
    name = key.rstrip("_").replace("_", "-")
    if not _NAME.fullmatch(name) or name.startswith("on"):
        raise ValueError(f"{key!r} is no attribute that a page of ours may hold")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(value)}"'


# ---- Python as HTML with its parts marked by classes; the style sheet for them in light and dark.


_MOST_CHARS = 200_000  # a cell beyond this is shown plain: colouring it takes seconds
_STYLES = {"light": "default", "dark": "monokai"}


def highlight(code: str) -> Markup:
    """The code with `<span class=…>` around its parts, every character of it escaped."""
    text = printable(code)
    if len(text) > _MOST_CHARS:
        return escape(text)
    lexer = _pygments("lexers").PythonLexer(ensurenl=False, stripnl=False)
    formatter = _pygments("formatters").HtmlFormatter(nowrap=True)
    return Markup(import_module("pygments").highlight(text, lexer, formatter))


def highlight_styles() -> str:
    """CSS for `.code`: light, and dark where the reader's system is."""
    return f"{styles_of('light')}\n@media screen and (prefers-color-scheme: dark) {{\n{styles_of('dark')}\n}}"


def styles_of(shade: str) -> str:
    """The colours of the parts alone, `light` or `dark`: background and frame are the page's."""
    formatter = _pygments("formatters").HtmlFormatter(style=_STYLES[shade])
    rules: list[str] = formatter.get_token_style_defs([".code"])
    return "\n".join(rules)


def _pygments(part: str) -> Any:
    """A module of Pygments, which comes with IPython and has no types of its own."""
    return import_module(f"pygments.{part}")
