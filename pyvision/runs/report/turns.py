"""What happened in a turn, as HTML: what the model was sent and replied, cells with their output, tool calls.

The report renders whole turns of a recorded run. The demo renders the same events one by one, as they come.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from pyvision.events import CellRun, Event, ImageDefined, ModelCall, Note, ToolRun
from pyvision.pages.markup import Markup, count, element, fold, highlight, join, shorten
from pyvision.runs.report.crops import Crop, clip_box, collect_boxes
from pyvision.runs.report.notes import plain_note, render_note
from pyvision.runs.report.programs import boxes_found
from pyvision.runs.run import Names, Turn, as_picture, pair_figures
from pyvision.text.native_tool_calls import render_reply
from pyvision.text.replies import find_thought
from pyvision.types import Message, Outcome, Picture, Text, ToolCall, ToolRequest
from sandbox import CellResult, Figure, Omitted, Stream

_STATUS = {"ok": "ran", "error": "raised an error", "timeout": "timed out", "died": "the kernel died"}
_FINISH = {"length": "the reply was cut off at its length limit", "refusal": "the model declined"}
_LONG_CELL = 80  # lines; a longer cell is folded
_CONCLUDES = "host.conclude("  # a visual program, which its note shows
_NOTED = {"graph", "program", "refinement", "verdict", "plan", "decomposed"}  # their notes show a whole reply
_IMAGE_SEARCHES = {"identical_image_search", "image_search"}
_SUMMARY_CHARS = 100  # of a tool call
_LIST_HEAD = re.compile(r"\A\s*(?:Retrievals|Knowledge):\s*\[\s*")


class ImageRenderer(Protocol):
    """Puts images on a page; `Figures` is the report's."""

    @property
    def inputs(self) -> Mapping[str, Picture]: ...

    def figure(self, name: str, picture: Picture) -> Markup: ...

    def thumbnail(self, name: str, picture: Picture) -> Markup: ...

    def boxes(self, crops: Sequence[Crop], title: str = ...) -> Markup | None: ...


def turn_section(
    turn: Turn, previous: ModelCall | None, images: ImageRenderer, events: Sequence[Event]
) -> Markup:
    """One turn. previous: the model call of the same role before it; messages that it sent are not repeated.

    events: all events of the run.
    """
    title = f"Turn {turn.number}" if turn.number else "Before the first reply"
    heading = element("h2", title, id=f"turn-{turn.number}-title")
    call = _call_block(turn.asked, previous, turn) if turn.asked else None
    return element(
        "section",
        heading,
        call,
        _render_retrieval(turn, images),
        *_event_blocks(turn, images, events),
        id=f"turn-{turn.number}",
        class_="turn",
        aria_labelledby=f"turn-{turn.number}-title",
    )


def event_block(
    event: Event,
    names: Names,
    images: ImageRenderer,
    events: Sequence[Event],
    highlighter: Callable[[str], Markup] = highlight,
) -> Markup | None:
    """A cell, a tool call or a note; None for any other event. names: of the figures of a cell."""
    match event:
        case CellRun():
            return cell_block(event, names, images, highlighter)
        case ToolRun():
            return tool_block(event, images)
        case Note():
            found = images.boxes(boxes_found(event, images.inputs), "Boxes that the program found")
            return join(render_note(event, events), found)
    return None


def reasoning_block(call: ModelCall) -> Markup | None:
    """The reasoning of a reply, folded."""
    reasoning = call.reply.reasoning
    return fold("Reasoning", element("p", reasoning, class_="said")) if reasoning else None


def prose_block(text: str) -> Markup | None:
    """What a model wrote beside its code."""
    return element("p", text, class_="said") if text else None


def cell_block(
    ran: CellRun, names: Names, images: ImageRenderer, highlighter: Callable[[str], Markup] = highlight
) -> Markup:
    """One cell: code, how it ended, then output and figures in the order in which they came."""
    return element(
        "div",
        _code_block(ran.code, highlighter),
        element("p", *_status(ran.result), class_="facts"),
        output_block(ran, names, images),
        class_="cell",
    )


def output_block(ran: CellRun, names: Names, images: ImageRenderer) -> Markup:
    """What a cell put out, in order: text, figures, the error."""
    result = ran.result
    late = result.stragglers
    return join(
        *_output_blocks(result, names, images),
        images.boxes(collect_boxes(ran.code, images.inputs)),
        element("pre", _error_text(result), class_="output bad", tabindex=0) if result.error else None,
        fold("Late output of an earlier cell", element("pre", late)) if late else None,
    )


def tool_block(ran: ToolRun, images: ImageRenderer) -> Markup:
    """One tool call: a line with request and result, which unfolds to both in full."""
    request, observation = ran.request, ran.observation
    found = observation.error or observation.text
    summary = element(
        "summary",
        element("b", ran.tool.replace("_", " ")),
        f" {shorten(_describe_request(request), _SUMMARY_CHARS)}",
        element(
            "span",
            f" → {shorten(_LIST_HEAD.sub('', found), _SUMMARY_CHARS) or 'nothing'}",
            class_="bad" if observation.error else None,
        ),
        element("small", " answered before" if ran.is_cached else f" {ran.seconds:.1f} s"),
    )
    sources = [element("li", f"{source.title} · {source.address}") for source in observation.sources]
    return element(
        "details",
        summary,
        _field("request", request.text),
        _field("options", _format_options(request.options)),
        images.thumbnail("input image", request.picture) if request.picture else None,
        _field("error" if observation.error else "result", found),
        element("ul", *sources) if sources else None,
        class_="note tool",
    )


def answer_block(outcome: Outcome) -> Markup | None:
    """The answer, if there is one."""
    if outcome.answer is None:
        return None
    label = "Answer (the whole last reply)" if outcome.is_last_resort else "Answer"
    return element("p", element("small", label), element("strong", outcome.answer), class_="answer")


def evidence_block(
    outcome: Outcome,
    originals: Mapping[str, Picture],
    draw_boxes: Callable[[str, Sequence[Crop]], Markup],
) -> Markup | None:
    """What the answer rests on: regions as boxes on their originals, cells and other figures by name."""
    if not outcome.evidence:
        return None
    regions: dict[str, list[Crop]] = {}
    for each in outcome.evidence:
        original = originals.get(each.name)
        box = (each.box or (0, 0, original.width, original.height)) if original else ()
        if original and (crop := clip_box(each.name, original, box)):
            regions.setdefault(each.name, []).append(crop)
    others = ", ".join(dict.fromkeys(each.name for each in outcome.evidence if each.name not in originals))
    is_derived = any(each.is_derived for each in outcome.evidence)
    label = "Evidence (none cited: what was looked at last)" if is_derived else "Evidence"
    return element(
        "div",
        element("p", element("small", label), f" {others}" if others else None),
        *(draw_boxes(name, crops) for name, crops in regions.items()),
        class_="evidence",
    )


def error_block(outcome: Outcome) -> Markup | None:
    """The error of a run, if there was one; highlighted if it prevented an answer."""
    if not outcome.error:
        return None
    return element(
        "pre", outcome.error, class_="output bad" if outcome.answer is None else "output", tabindex=0
    )


def format_tokens(call: ModelCall) -> str:
    """The token counts of one reply; empty if the endpoint reported none."""
    usage = call.reply.usage
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    return f"{usage.input_tokens:,} in{cached}, {usage.output_tokens:,} out" if usage.total else ""


def _call_block(call: ModelCall, previous: ModelCall | None, turn: Turn) -> Markup:
    reply, tokens = call.reply, format_tokens(call)
    facts = [call.role, call.model, f"{call.seconds:.1f} s", f"{tokens} tokens" if tokens else ""]
    prose = find_thought(reply.text) if turn.cells else reply.text.strip()
    if _is_in_notes(turn):
        prose = ""
    is_part = prose != render_reply(reply).strip()
    return join(
        element("p", " · ".join(filter(None, facts)), class_="facts"),
        _request_block(call, previous),
        reasoning_block(call),
        prose_block(prose),
        element("p", _FINISH[reply.finish], class_="bad") if reply.finish in _FINISH else None,
        fold("Full reply", element("pre", render_reply(reply), tabindex=0)) if is_part else None,
    )


def _render_retrieval(turn: Turn, images: ImageRenderer) -> Markup | None:
    """What a search by image found, as far as the reasoner of avis was shown it, after what was looked up."""
    searched = any(
        isinstance(event, Note) and event.label == "verdict" and event.data.get("action") in _IMAGE_SEARCHES
        for event in turn.events
    )
    if turn.asked is None or not searched:
        return None
    pictures = [p for message in turn.asked.messages for p in message.parts if isinstance(p, Picture)]
    found = [images.thumbnail(f"retrieved image {n}", picture) for n, picture in enumerate(pictures[1:], 1)]
    return element("div", *found, class_="pictures") if found else None


def _is_in_notes(turn: Turn) -> bool:
    """Whether notes below the reply show what it says, and nothing in it was unreadable."""
    labels = {event.label for event in turn.events if isinstance(event, Note) and event.data}
    return bool(labels & _NOTED) and "malformed" not in labels


def _request_block(call: ModelCall, previous: ModelCall | None) -> Markup:
    new = [message for message in call.messages if previous is None or message not in previous.messages]
    messages = [
        element("div", element("h4", message.role), *_parts(message), class_="message") for message in new
    ]
    images = {picture.sha256 for picture in call.sent}
    size = count(len(call.messages), "message") + (f", {count(len(images), 'image')}" if images else "")
    return fold(f"Sent to the model: {size}" + (" (only new messages shown)" if previous else ""), *messages)


def _parts(message: Message) -> Iterator[Markup]:
    for part in message.parts:
        match part:
            case Picture(width=width, height=height):
                yield element("p", f"[image, {width} × {height} px]", class_="facts")
            case Text(text=text) if text.strip():
                yield element("pre", text, tabindex=0)
            case ToolCall(name=name, arguments=arguments):
                yield element("pre", f"{name}: {arguments}", tabindex=0)


def _event_blocks(turn: Turn, images: ImageRenderer, events: Sequence[Event]) -> Iterator[Markup | None]:
    names = {id(cell): pairs for cell, pairs in pair_figures(turn.events)}
    for number, event in enumerate(turn.events):
        match event:
            case CellRun() | ToolRun() | Note():
                yield event_block(event, names.get(id(event), ()), images, events)
            case ModelCall():
                title = f"Model call by a tool: {event.role} · {event.model} · {event.seconds:.1f} s"
                reply = element("pre", render_reply(event.reply), tabindex=0)
                yield fold(title, _request_block(event, None), reasoning_block(event), reply)
            case ImageDefined():  # after a cell it is one of its figures
                if not any(isinstance(other, CellRun) for other in turn.events[:number]):
                    yield images.figure(event.name, event.picture)
            case _:  # unknown to this page: all of its fields
                fields = {key: value for key, value in asdict(event).items() if key != "kind"}
                yield plain_note(Note(event.kind, fields))


def _code_block(code: str, highlighter: Callable[[str], Markup]) -> Markup:
    title = element("summary", f"Cell, {count(code.count(chr(10)) + 1, 'line')}")
    block = element(
        "pre", element("code", highlighter(code)), class_="code", tabindex=0, aria_label="code of the cell"
    )
    return element("details", title, block, open=code.count("\n") < _LONG_CELL and _CONCLUDES not in code)


def _status(result: CellResult) -> tuple[object, ...]:
    status = element("span", _STATUS[result.status], class_=f"status {result.status}")
    lost = " · all variables were lost and the images loaded again" if result.state == "lost" else ""
    return status, f", {result.seconds:.1f} s{lost}"


def _output_blocks(result: CellResult, names: Names, images: ImageRenderer) -> Iterator[Markup]:
    remaining = iter(names)
    for output in result.outputs:
        match output:
            case Stream(name=name, text=text):
                yield element("pre", text, class_=f"output {name}", tabindex=0, aria_label=f"output: {name}")
            case Omitted(note=why):
                yield element("p", why, class_="facts")
            case Figure():
                yield images.figure(*(next(remaining, None) or ("unnamed figure", as_picture(output))))


def _error_text(result: CellResult) -> str:
    error = result.error
    return (error.traceback or f"{error.name}: {error.message}") if error else ""


def _field(label: str, text: str) -> Markup | None:
    return element("div", element("small", label), element("pre", text, tabindex=0)) if text else None


def _describe_request(request: ToolRequest) -> str:
    """What a tool was asked, on one line: its text, and the options that are texts."""
    return ", ".join(
        filter(None, [request.text, *(v for v in request.options.values() if isinstance(v, str))])
    )


def _format_options(options: Mapping[str, Any]) -> str:
    return json.dumps(dict(options), ensure_ascii=False, default=str) if options else ""
