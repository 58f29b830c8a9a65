"""The Agent Trajectory Interchange Format, version 1.6, with images as files beside it.

Source: harbor, RFC 0001 "Agent Trajectory Format": steps numbered from 1 by `step_id`, of a `source` (system, user,
agent); only an agent's step has `tool_calls` and `metrics`; a result of an `observation` names the `tool_call_id` that
it answers; content is text or a list of parts, an image by the relative path of its file (since 1.6).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pyvision.config.files import installed_version
from pyvision.events import CellRun, ModelCall
from pyvision.runs.export.conversations import is_interpreter
from pyvision.runs.export.formats import Export, as_json, facts, picture_files
from pyvision.runs.report.run import Run, Turn, as_picture, pair_figures
from pyvision.text.tool_calls import text_of
from pyvision.trajectory import picture_file
from pyvision.types import Message, Part, Picture, Text
from sandbox import Figure, Omitted, Stream

VERSION = "ATIF-v1.6"
TOOL = "python"
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
    return {"name": "pyvision", "version": installed_version()} | (
        {"model_name": ", ".join(models)} if models else {}
    )


def _steps(run: Run) -> Iterator[dict[str, Any]]:
    seen: set[Message] = set()
    for turn in run.turns:
        if turn.asked is None:
            yield from _cells_alone(turn)
            continue
        for message in turn.asked.messages:
            if message not in seen and message.role in _SOURCES and not is_interpreter(message):
                yield {"source": _SOURCES[message.role], "message": _content(message.parts)}
        seen |= set(turn.asked.messages)
        yield _agent_step(turn, turn.asked)


def _cells_alone(turn: Turn) -> Iterator[dict[str, Any]]:
    if turn.cells:
        yield {"source": "agent", "message": "", **_calls(turn)}


def _agent_step(turn: Turn, asked: ModelCall) -> dict[str, Any]:
    step: dict[str, Any] = {"source": "agent", "message": asked.reply.text, "model_name": asked.model}
    if asked.reply.reasoning:
        step["reasoning_content"] = asked.reply.reasoning
    return (
        step
        | _calls(turn)
        | {"metrics": _metrics(asked), "extra": {"role": asked.role, "finish": asked.reply.finish}}
    )


def _calls(turn: Turn) -> dict[str, Any]:
    if not turn.cells:
        return {}
    ids = [f"turn-{turn.number}-cell-{number}" for number in range(1, len(turn.cells) + 1)]
    cells = zip(ids, pair_figures(turn.events), strict=True)
    calls = [
        {"tool_call_id": key, "function_name": TOOL, "arguments": {"code": ran.code}}
        for key, ran in zip(ids, turn.cells, strict=True)
    ]
    results = [
        {"source_call_id": key, "content": _content(_render(ran, names))} for key, (ran, names) in cells
    ]
    return {"tool_calls": calls, "observation": {"results": results}}


def _render(ran: CellRun, names: tuple[tuple[str, Picture] | None, ...]) -> tuple[Text | Picture, ...]:
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
        for ran, names in pair_figures(turn.events):
            yield from (part for part in _render(ran, names) if isinstance(part, Picture))
