"""Python as HTML with its parts marked by classes; the style sheet for them in light and dark."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pyvision.text.sanitize import printable
from pyvision.runs.report.markup import Markup, escape

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
