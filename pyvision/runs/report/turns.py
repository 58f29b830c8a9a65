"""One turn as HTML: what the model was sent and said, the cells that ran, what they showed, how they ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from pyvision.events import CellRun, Event, ImageDefined, ModelCall, Note, ToolRun
from pyvision.runs.report.crops import Crop, collect_boxes
from pyvision.runs.report.figures import Figures
from pyvision.runs.report.markup import Markup, element, highlight, join
from pyvision.runs.report.notes import note, plain
from pyvision.runs.report.run import Turn, as_picture, pair_figures
from pyvision.text.replies import thought
from pyvision.types import Message, Picture, Text
from sandbox import CellResult, Figure, Omitted, Stream

_STATUS = {"ok": "ran", "error": "raised an error", "timeout": "ran out of time", "died": "the kernel died"}
_FINISH = {
    "length": "the reply was cut at its length limit",
    "refusal": "the model declined",
}


def turn_section(turn: Turn, before: ModelCall | None, figures: Figures, run: Sequence[Event]) -> Markup:
    """The section of one turn. before: the reply before it of the same role, whose conversation needs no second telling.

    run: all events of the run.
    """
    title = f"Turn {turn.number}" if turn.number else "Before the first reply"
    heading = element("h2", title, id=f"turn-{turn.number}-title")
    parts = [_ask(turn.asked, before, turn) if turn.asked else None, *_events(turn, figures, run)]
    return element(
        "section",
        heading,
        *parts,
        id=f"turn-{turn.number}",
        class_="turn",
        aria_labelledby=f"turn-{turn.number}-title",
    )


def tokens(asked: ModelCall) -> str:
    """The tokens of one reply in words; empty where the endpoint counted none."""
    usage = asked.reply.usage
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    return f"{usage.input_tokens:,} in{cached}, {usage.output_tokens:,} out" if usage.total else ""


def _ask(asked: ModelCall, before: ModelCall | None, turn: Turn) -> Markup:
    reply = asked.reply
    facts = [
        asked.role,
        asked.model,
        f"{asked.seconds:.1f} s",
        f"{tokens(asked)} tokens" if tokens(asked) else "",
    ]
    said = thought(reply.text) if turn.cells else reply.text.strip()
    return join(
        element("p", " · ".join(fact for fact in facts if fact), class_="facts"),
        _sent(asked, before),
        _fold("Reasoning", element("p", reply.reasoning, class_="said")) if reply.reasoning else None,
        element("p", said, class_="said") if said else None,
        element("p", _FINISH[reply.finish], class_="bad") if reply.finish in _FINISH else None,
        _fold("The whole reply", element("pre", reply.text, tabindex=0))
        if said != reply.text.strip()
        else None,
    )


def _sent(asked: ModelCall, before: ModelCall | None) -> Markup:
    new = [message for message in asked.messages if before is None or message not in before.messages]
    told = [
        element("div", element("h4", message.role), _message(message), class_="message") for message in new
    ]
    pictures = {picture.sha256 for picture in asked.sent}
    count = ", ".join(
        [
            _count(len(asked.messages), "message"),
            *([_count(len(pictures), "picture")] if pictures else []),
        ]
    )
    return _fold(f"What the model was sent: {count}" + (", the new ones" if before else ""), *told)


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'s'[: count != 1]}"


def _message(message: Message) -> Markup:
    return join(*(_part(part) for part in message.parts))


def _part(part: Text | Picture) -> Markup:
    if isinstance(part, Text):
        return element("pre", part.text, tabindex=0) if part.text.strip() else Markup("")
    return element("p", f"[picture, {part.width} × {part.height} px]", class_="facts")


def _events(turn: Turn, figures: Figures, run: Sequence[Event]) -> Iterator[Markup]:
    names = {id(ran): given for ran, given in pair_figures(turn.events)}
    for number, event in enumerate(turn.events):
        match event:
            case CellRun():
                yield cell_block(event, names[id(event)], figures)
            case ImageDefined():
                if not any(isinstance(other, CellRun) for other in turn.events[:number]):
                    yield figures.located(event.name, event.picture)
            case ToolRun():
                yield tool_block(event, figures)
            case Note():
                yield note(event, run)
            case _:
                yield _other(event)


def _other(event: Event) -> Markup:
    """An event that this page knows nothing of, in full."""
    return plain(Note(event.kind, {key: value for key, value in asdict(event).items() if key != "kind"}))


class Draws(Protocol):
    """What puts pictures on a page; `Figures` is one."""

    @property
    def inputs(self) -> Mapping[str, Picture]: ...

    def located(self, name: str, picture: Picture) -> Markup: ...

    def glimpse(self, name: str, picture: Picture) -> Markup: ...

    def boxes(self, crops: Sequence[Crop]) -> Markup | None: ...


def cell_block(
    ran: CellRun,
    names: tuple[tuple[str, Picture] | None, ...],
    figures: Draws,
    coloured: Callable[[str], Markup] = highlight,
) -> Markup:
    """One cell: code, how it ended, output and figures in the order in which they came.

    coloured: code -> HTML, for who has coloured it before.
    """
    result = ran.result
    late = _fold("Written late, by an earlier cell", element("pre", result.stragglers))
    return element(
        "div",
        _code(ran.code, coloured),
        element("p", *_ending(result), class_="facts"),
        *_outputs(result, names, figures),
        figures.boxes(collect_boxes(ran.code, figures.inputs)),
        element("pre", _error(result), class_="output bad", tabindex=0) if result.error else None,
        late if result.stragglers else None,
        class_="cell",
    )


def _code(code: str, coloured: Callable[[str], Markup]) -> Markup:
    title = f"Cell, {_count(code.count(chr(10)) + 1, 'line')}"
    text = element("code", coloured(code))
    block = element("pre", text, class_="code", tabindex=0, aria_label="code of the cell")
    return element("details", element("summary", title), block, open=True)


def _ending(result: CellResult) -> tuple[object, ...]:
    """How the cell ended, in how long, and what became of the variables."""
    status = element("span", _STATUS[result.status], class_=f"status {result.status}")
    lost = " · variables were lost, the images loaded again" if result.state == "lost" else ""
    return status, f", {result.seconds:.1f} s{lost}"


def _outputs(
    result: CellResult, names: tuple[tuple[str, Picture] | None, ...], figures: Draws
) -> Iterator[Markup]:
    given = iter(names)
    for output in result.outputs:
        match output:
            case Stream(name=name, text=text):
                yield element("pre", text, class_=f"output {name}", tabindex=0, aria_label=f"output: {name}")
            case Omitted(note=why):
                yield element("p", why, class_="facts")
            case Figure():
                named = next(given, None)
                yield (
                    figures.located(*named)
                    if named
                    else figures.located("a figure without a name", as_picture(output))
                )


def _error(result: CellResult) -> str:
    error = result.error
    return (error.traceback or f"{error.name}: {error.message}") if error else ""


def _fold(title: str, *content: object) -> Markup:
    return element("details", element("summary", title), *content, class_="folded")


# ---- The use of a tool as HTML: what it was asked, what it gave back and where that comes from. All of it is text.


_LINE = 100  # characters of the one line that stands for it


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
