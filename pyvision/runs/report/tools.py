"""The use of a tool as HTML: what it was asked, what it gave back and where that comes from. All of it is text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from pyvision.events import ToolRun
from pyvision.runs.report.markup import Markup, element
from pyvision.types import Picture

_LINE = 100  # characters of the one line that stands for it


class Draws(Protocol):
    """What puts pictures on a page; `Figures` is one."""

    def glimpse(self, name: str, picture: Picture) -> Markup: ...


def tool_block(used: ToolRun, figures: Draws) -> Markup:
    """One use: a line of what was asked and found, which opens on the whole."""
    seen, request = used.observation, used.request
    found = seen.error or seen.text
    line = element(
        "summary",
        element("b", used.tool.replace("_", " ")),
        f" {_short(request.text)}" if request.text else None,
        element("span", f" → {_short(found) or 'nothing'}", class_="bad" if seen.error else None),
        element("small", f" {used.seconds:.1f} s"),
    )
    picture = figures.glimpse("what it looked at", request.picture) if request.picture else None
    return element(
        "details",
        line,
        _label("asked", request.text),
        _label("with", _options(request.options)),
        picture,
        _label("failed" if seen.error else "found", found),
        element("ul", *(element("li", f"{source.title} · {source.address}") for source in seen.sources))
        if seen.sources
        else None,
        class_="note tool",
    )


def _label(label: str, text: str) -> Markup | None:
    return element("div", element("small", label), element("pre", text, tabindex=0)) if text else None


def _options(options: Mapping[str, Any]) -> str:
    return json.dumps(dict(options), ensure_ascii=False, default=str) if options else ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LINE else f"{line[: _LINE - 1]}…"
