"""The Agent Trajectory Interchange Format, version 1.6, with images as files beside it.

Source: harbor, RFC 0001 "Agent Trajectory Format": steps numbered from 1 by `step_id`, of a `source` (system, user,
agent); only an agent's step has `tool_calls` and `metrics`; a result of an `observation` names the `tool_call_id` that
it answers; content is text or a list of parts, an image by the relative path of its file (since 1.6).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeAlias

from pyvision.config.files import package_version
from pyvision.errors import FormatError
from pyvision.events import CellRun, ModelCall, ToolRun
from pyvision.runs.export.conversations import is_interpreter
from pyvision.runs.export.formats import Export, as_json, facts, picture_files
from pyvision.runs.run import Names, Run, Turn, as_picture, pair_figures
from pyvision.text.native_tool_calls import code_of, text_of
from pyvision.trajectory import picture_file
from pyvision.types import Message, Part, Picture, Text, ToolCall
from sandbox import Figure, Omitted, Stream

VERSION = "ATIF-v1.6"
TOOL = "python"
_Made: TypeAlias = tuple[
    str, dict[str, Any], Sequence[Part]
]  # the name, the arguments and the result of a call
_SOURCES = {"system": "system", "user": "user"}


def export_atif(run: Run, folder: Path) -> Export:
    """trajectory.json and the images. An interpreter turn is the observation of its cell."""
    steps = [{"step_id": number, **step} for number, step in enumerate(_steps(run), start=1)]
    trajectory = {
        "schema_version": VERSION,
        "session_id": run.folder.name or "run",
        "agent": _agent(run),
        "steps": steps,
        "final_metrics": _final_metrics(run, len(steps)),
        "extra": facts(run),
    }
    return Export((("trajectory.json", as_json(trajectory, indent=2)), *picture_files(_pictures(run))))


def _agent(run: Run) -> dict[str, Any]:
    models = sorted(set(run.began.models.values())) if run.began else []
    return {"name": "pyvision", "version": package_version()} | (
        {"model_name": ", ".join(models)} if models else {}
    )


def _steps(run: Run) -> Iterator[dict[str, Any]]:
    seen: set[Message] = set()
    for turn, later in zip_longest(run.turns, run.turns[1:]):
        called = _calls(turn, later)
        if turn.asked is None:
            if called:
                yield {"source": "agent", "message": "", **called}
        else:
            yield from _requests(turn.asked, seen)
            yield _agent_step(turn.asked, called)
        for asked in turn.calls_for_tools:
            yield from _requests(asked, seen)
            yield _agent_step(asked, {})


def _requests(asked: ModelCall, seen: set[Message]) -> Iterator[dict[str, Any]]:
    """What was sent to the model for the first time."""
    for message in asked.messages:
        if message not in seen and message.role in _SOURCES and not is_interpreter(message):
            yield {"source": _SOURCES[message.role], "message": _content(message.parts)}
    seen |= set(asked.messages)


def _agent_step(asked: ModelCall, called: dict[str, Any]) -> dict[str, Any]:
    step: dict[str, Any] = {"source": "agent", "message": asked.reply.text, "model_name": asked.model}
    if asked.reply.reasoning:
        step["reasoning_content"] = asked.reply.reasoning
    return (
        step
        | called
        | {
            "metrics": _metrics(asked),
            "extra": {"role": asked.role, "finish": asked.reply.finish, "for_tool": asked.for_tool},
        }
    )


def _calls(turn: Turn, later: Turn | None) -> dict[str, Any]:
    calls, results = list[dict[str, Any]](), list[dict[str, Any]]()
    for number, (name, arguments, output) in enumerate(_pair_calls(turn, later), start=1):
        key = f"turn-{turn.number}-call-{number}"
        calls.append({"tool_call_id": key, "function_name": name, "arguments": arguments})
        results.append({"source_call_id": key, "content": _content(output)})
    return {"tool_calls": calls, "observation": {"results": results}} if calls else {}


def _pair_calls(turn: Turn, later: Turn | None) -> Iterator[_Made]:
    """The cells of a turn, the calls of its reply that ran none, in their order, and the tools the strategy used."""
    cells = list(pair_figures(turn.events))
    calls = turn.asked.reply.calls if turn.asked else ()
    answers = later.asked.messages if later and later.asked else ()
    results = {message.call_id: message.parts for message in answers if message.role == "tool"}
    for at, call in enumerate(calls):
        if cells and (len(calls) - at <= len(cells) or _code(call) == cells[0][0].code):
            yield _cell(*cells.pop(0))
        else:
            yield call.name, _arguments(call), results.get(call.id, ())
    yield from (_cell(*each) for each in cells)
    yield from map(_use, _own_uses(turn))


def _own_uses(turn: Turn) -> Iterator[ToolRun]:
    """The tools that no cell used: a cell's come before it."""
    last = max((at for at, event in enumerate(turn.events) if isinstance(event, CellRun)), default=-1)
    return (event for event in turn.events[last + 1 :] if isinstance(event, ToolRun))


def _use(used: ToolRun) -> _Made:
    """A picture is given by the path of its file."""
    request, observation = used.request, used.observation
    arguments = {"text": request.text} if request.text else {}
    arguments |= {"image": picture_file(request.picture)} if request.picture else {}
    return used.tool, arguments | dict(request.options), (Text(observation.error or observation.text),)


def _cell(ran: CellRun, names: Names) -> _Made:
    return TOOL, {"code": ran.code}, _render(ran, names)


def _code(call: ToolCall) -> str | None:
    try:
        return code_of(call)
    except FormatError:
        return None


def _arguments(call: ToolCall) -> dict[str, Any]:
    """As an object, which the format wants; others, and malformed JSON, as text."""
    try:
        arguments = json.loads(call.arguments, parse_constant=str)
    except (ValueError, RecursionError):
        arguments = None
    return arguments if isinstance(arguments, dict) else {"input": call.arguments}


def _render(ran: CellRun, names: Names) -> tuple[Text | Picture, ...]:
    """The output of a cell, and how it ended unless it succeeded."""
    given = iter(names)
    parts: list[Text | Picture] = []
    for output in ran.result.outputs:
        match output:
            case Stream(text=text) | Omitted(note=text):
                parts.append(Text(text))
            case Figure():
                named = next(given, None)
                parts.append(named[1] if named else as_picture(output))
    if ran.result.status != "ok":
        error = ran.result.error
        parts.append(
            Text(
                f"[{ran.result.status}] {error.name}: {error.message}" if error else f"[{ran.result.status}]"
            )
        )
    return tuple(parts)


def _content(parts: Sequence[Part]) -> str | list[dict[str, Any]]:
    texts = [text_of(part) for part in parts if not isinstance(part, Picture)]
    return "".join(texts) if len(texts) == len(parts) else [_part(part) for part in parts]


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, Picture):
        return {"type": "image", "source": {"media_type": part.mime, "path": picture_file(part)}}
    return {"type": "text", "text": text_of(part)}


def _metrics(asked: ModelCall) -> dict[str, Any]:
    usage = asked.reply.usage
    counts = {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
    }
    optional = {
        "logprobs": [token.logprob for token in asked.reply.logprobs],
        "prompt_token_ids": list(asked.reply.prompt_ids),
        "completion_token_ids": list(asked.reply.token_ids),
    }
    return (
        counts
        | {name: each for name, each in optional.items() if each}
        | {"extra": {"seconds": asked.seconds}}
    )


def _final_metrics(run: Run, steps: int) -> dict[str, Any]:
    ended = run.ended
    if ended is None:
        return {"total_steps": steps}
    totals = {
        "total_prompt_tokens": ended.usage.input_tokens,
        "total_completion_tokens": ended.usage.output_tokens,
        "total_cached_tokens": ended.usage.cached_tokens,
        "total_steps": steps,
    }
    return (
        totals
        | ({"total_cost_usd": ended.cost} if ended.cost is not None else {})
        | {"extra": {"seconds": ended.seconds}}
    )


def _pictures(run: Run) -> Iterator[Picture]:
    for turn in run.turns:
        conversation = turn.asked.messages if turn.asked else ()
        yield from (part for message in conversation for part in message.parts if isinstance(part, Picture))
        yield from (used.request.picture for used in _own_uses(turn) if used.request.picture)
        for ran, names in pair_figures(turn.events):
            yield from (part for part in _render(ran, names) if isinstance(part, Picture))
