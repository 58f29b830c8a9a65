"""Markdown of models as HTML: paragraphs, lists, tables, code, links to web pages, and mathematics as MathML.

Covered: whatever the text holds, no element, attribute or address comes out of it but those that this module writes;
images are never loaded, and links lead to http and https only. Not covered: where a link leads is up to the model.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from pyvision.demo.maths import mathml
from pyvision.pages.markup import Markup, element, escape, highlight, join
from pyvision.text.sanitize import printable

_MAX_CHARS = 20_000  # a longer text is shown as it is
_BLOCK = re.compile(r"[ ]{0,3}(\$\$|\\\[)")
_WORDS = re.compile(r"\\(?:text|mathrm|textbf|mathbf|operatorname)\s*\{[^{}]*\}|\\[A-Za-z]+")
_CLOSING = {"$$": "$$", "\\[": "\\]", "\\(": "\\)", "$": "$"}
_WEB = ("http://", "https://")


def render_markdown(text: str) -> Markup:
    """A text of several blocks. A text that is too long to be parsed at once is shown as it is."""
    if len(text) > _MAX_CHARS:
        return element("p", text, class_="plain")
    text = printable(text)
    return Markup(_parser().render(f"{text}\n$$" if text.count("$$") % 2 else text))


def render_line(text: str) -> Markup:
    """One line as it is, with its mathematics only: an answer such as `2*3*4` or `__init__` keeps its characters."""
    text, parts, at = printable(text), list[Markup](), 0
    if bare := _bare_formula(text):
        return bare
    while len(text) <= _MAX_CHARS and (opening := _next_opening(text, at)) >= 0:
        parts.append(escape(text[at:opening]))
        end, source = _formula(text, opening)
        parts.append(mathml(source) if source else escape(text[opening]))
        at = end if source else opening + 1
    return join(*parts, escape(text[at:]))


def _bare_formula(text: str) -> Markup | None:
    """A line that is one formula without its marks, such as `\\frac{1}{2}`."""
    if "\\" not in text or "$" in text or "\\(" in text or re.search(r"[A-Za-z]{3}", _WORDS.sub(" ", text)):
        return None
    found = mathml(text.strip())
    return found if found.startswith("<math") else None


def _next_opening(text: str, start: int) -> int:
    found = re.compile(r"\$|\\\(|\\\[").search(text, start)
    return found.start() if found else -1


def _formula(text: str, start: int) -> tuple[int, str]:
    """The end and the source of the formula that begins here; no source if none does. `$5 and $10` holds none."""
    opening = next((mark for mark in ("$$", "\\(", "\\[", "$") if text.startswith(mark, start)), "")
    if not opening:
        return start, ""
    begin = start + len(opening)
    end = text.find(_CLOSING[opening], begin, begin + 2_000)
    source = text[begin:end] if end > begin else ""
    after = end + len(opening)
    if opening == "$" and (
        not source or source != source.strip() or "\n" in source or text[after : after + 1].isdigit()
    ):
        return start, ""
    return after, source.strip()


@cache
def _parser() -> Any:
    """The parser, made once; it is used for one text at a time and holds no state between two."""
    parser = import_module("markdown_it").MarkdownIt("commonmark", {"html": False, "linkify": False})
    parser.enable(["table", "strikethrough"]).disable(["image", "html_block", "html_inline", "reference"])
    parser.validateLink = _is_web_address
    parser.inline.ruler.before("escape", "maths", _inline_maths)
    parser.block.ruler.before(
        "paragraph", "maths", _block_maths, {"alt": ["paragraph", "list", "blockquote"]}
    )
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


def _is_web_address(url: str) -> bool:
    return url.lower().startswith(_WEB)


def _inline_maths(state: Any, silent: bool) -> bool:  # noqa: FBT001 - as the parser calls it
    end, source = _formula(state.src, state.pos)
    if not source or end > state.posMax:
        return False
    if not silent:
        state.push("maths", "math", 0).content = source
    state.pos = end
    return True


def _block_maths(state: Any, line: int, last: int, silent: bool) -> bool:  # noqa: FBT001 - as the parser calls it
    start = state.bMarks[line] + state.tShift[line]
    if not _BLOCK.match(state.src, start):
        return False
    end, source = _formula(state.src, start)
    lines = state.src[start:end].count("\n") + 1
    rest = state.src[end:].partition("\n")[0]
    if not source or rest.strip() or line + lines > last:
        return False
    if not silent:
        token = state.push("maths_block", "math", 0)
        token.content, token.map, token.block = source, [line, line + lines], True
    state.line = line + lines
    return True


def _maths(_: object, tokens: Any, at: int, *others: object) -> str:
    return mathml(tokens[at].content)


def _maths_block(_: object, tokens: Any, at: int, *others: object) -> str:
    return element("div", mathml(tokens[at].content, is_block=True), class_="formula")


def _fence(_: object, tokens: Any, at: int, *others: object) -> str:
    code = tokens[at].content
    is_python = tokens[at].info.strip().lower() in ("python", "py", "python3")
    highlighted = highlight(code) if is_python else escape(code)
    return element("pre", element("code", highlighted), class_="code", tabindex=0)


def _link(_: object, tokens: Any, at: int, *others: object) -> str:
    url = printable(tokens[at].attrs["href"])
    opening = element("a", href=url, title=url, target="_blank", rel="noopener noreferrer nofollow")
    return opening.removesuffix("</a>")


def _heading(closing: str) -> Callable[..., str]:
    """A heading of a model is no heading of the page."""
    return lambda *_: f'<{closing}p class="heading">' if not closing else "</p>"


_RULES: dict[str, Callable[..., str]] = {
    "maths": _maths,
    "maths_block": _maths_block,
    "fence": _fence,
    "code_block": _fence,
    "link_open": _link,
    "heading_open": _heading(""),
    "heading_close": _heading("/"),
}
