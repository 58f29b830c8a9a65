"""One debate read back from its events: the graphs in order, the answers by round, what it cost and how it ended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyvision.events import ModelCall, RunStarted, RunEnded, Event, Note
from pyvision.strategies.bdog.graphs import Graph, read_graph
from pyvision.trajectory import CONFIG, read_trajectory


@dataclass(frozen=True, slots=True)
class Drawn:
    """A graph as a role left it. round: 0 for the blueprint. source: the steps by which it came about."""

    role: str
    round: int
    debater: int
    source: str
    repairs: tuple[str, ...]
    graph: Graph


@dataclass(frozen=True, slots=True)
class Change:
    """What a comparison of two graphs counted: attributes updated, entities and relations pruned and added."""

    comparison: str  # inter: blueprint and next blueprint; intra: affirmative and negative side
    round: int
    updated: int
    pruned: int
    added: int
    distance: float


@dataclass(frozen=True, slots=True)
class Record:
    """A run of the strategy. mode: which arm. tentative: (round, answer). target: the right answer, if it is known."""

    name: str
    mode: str
    question: str
    drawn: tuple[Drawn, ...]
    changes: tuple[Change, ...]
    tentative: tuple[tuple[int, str | None], ...]
    end_round: int | None
    why_ended: str | None
    answer: str | None
    end_reason: str | None
    tokens: int
    output_tokens: int
    seconds: float
    calls: int
    target: str | None = None


def read_record(folder: Path) -> Record:
    """The record of a run folder; of another strategy too, with its name as the mode. Raises RunFolderError."""
    trajectory = read_trajectory(folder)
    settings = _settings(folder)
    options, strategy = settings.get("options"), settings.get("strategy", "bdog")
    mode = options.get("mode", strategy) if isinstance(options, dict) else strategy
    target = settings.get("target")
    return record(folder.name, trajectory.events, mode=str(mode), target=str(target) if target else None)


def record(name: str, events: Iterable[Event], *, mode: str = "bdog", target: str | None = None) -> Record:
    """The record of a run's events; one that was cut short gives what there is."""
    events = tuple(events)
    notes = [event for event in events if isinstance(event, Note)]
    asked = [event for event in events if isinstance(event, ModelCall)]
    began = next((event for event in events if isinstance(event, RunStarted)), None)
    ended = next((event for event in events if isinstance(event, RunEnded)), None)
    stop = next((note.data for note in notes if note.label == "debate_ended"), {})
    return Record(
        name,
        mode,
        question=began.question.full_text if began else "",
        drawn=tuple(_draw(note.data) for note in notes if note.label == "graph"),
        changes=tuple(_change(note.data) for note in notes if note.label == "difference"),
        tentative=tuple(
            (note.data["round"], note.data["answer"]) for note in notes if note.label == "tentative_answer"
        ),
        end_round=stop.get("round"),
        why_ended=stop.get("why"),
        answer=ended.outcome.answer if ended else None,
        end_reason=ended.outcome.end_reason if ended else None,
        tokens=sum(event.reply.usage.total for event in asked),
        output_tokens=sum(event.reply.usage.output_tokens for event in asked),
        seconds=ended.seconds if ended else sum(event.seconds for event in asked),
        calls=len(asked),
        target=target,
    )


def is_right(answer: str | None, target: str) -> bool:
    """Whether an answer is the target, case, spaces and a final full stop set aside."""
    return answer is not None and _plain(answer) == _plain(target)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


def _settings(folder: Path) -> dict[str, Any]:
    """What the run was given; nothing, where the file is missing or no JSON object."""
    try:
        found = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _draw(data: Mapping[str, Any]) -> Drawn:
    graph, _ = read_graph(json.dumps(data["graph"]))
    return Drawn(data["role"], data["round"], data["debater"], data["source"], tuple(data["repairs"]), graph)


def _change(data: Mapping[str, Any]) -> Change:
    return Change(data["comparison"], data["round"], **data["condensation"], distance=data["distance"])
