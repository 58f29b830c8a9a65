"""A recorded debate of BDoG: read back from its events, and drawn as graphs, each coloured by what it changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyvision.events import Event, ModelCall, Note, RunEnded, RunStarted
from pyvision.pages.markup import Markup, document, element, join
from pyvision.runs.report.graph_drawing import SIGN, draw
from pyvision.strategies.bdog.graphs import Graph, difference, read_graph
from pyvision.trajectory import CONFIG, read_trajectory

_COMPARISONS = {"inter": "compared with the previous round", "intra": "between the two sides"}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A graph as a role left it. round: 0 for the blueprint. source: the steps that produced it."""

    role: str
    round: int
    debater: int
    source: str
    repairs: tuple[str, ...]
    graph: Graph


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """The counts of one comparison of graphs: attributes updated, entities and relations pruned and added."""

    comparison: str  # inter: blueprint and next blueprint; intra: affirmative and negative side
    round: int
    updated: int
    pruned: int
    added: int
    distance: float


@dataclass(frozen=True, slots=True)
class DebateRecord:
    """A run of the strategy. mode: the ablation. tentative: (round, answer). target: the right answer, if known."""

    name: str
    mode: str
    question: str
    drawn: tuple[Drawn, ...]
    changes: tuple[ChangeCounts, ...]
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


def read_record(folder: Path) -> DebateRecord:
    """The record of a run folder; for another strategy, with its name as the mode. Raises RunFolderError."""
    trajectory = read_trajectory(folder)
    config = _read_config(folder)
    options, strategy = config.get("options"), config.get("strategy", "bdog")
    mode = options.get("mode", strategy) if isinstance(options, dict) else strategy
    target = config.get("target")
    return record(folder.name, trajectory.events, mode=str(mode), target=str(target) if target else None)


def record(
    name: str, events: Iterable[Event], *, mode: str = "bdog", target: str | None = None
) -> DebateRecord:
    """The record of a run's events, as far as they go."""
    events = tuple(events)
    notes = [event for event in events if isinstance(event, Note)]
    calls = [event for event in events if isinstance(event, ModelCall)]
    began = next((event for event in events if isinstance(event, RunStarted)), None)
    ended = next((event for event in events if isinstance(event, RunEnded)), None)
    stop = next((note.data for note in notes if note.label == "debate_ended"), {})
    return DebateRecord(
        name,
        mode,
        question=began.question.full_text if began else "",
        drawn=tuple(_parse_graph(note.data) for note in notes if note.label == "graph"),
        changes=tuple(_parse_change(note.data) for note in notes if note.label == "difference"),
        tentative=tuple(
            (note.data["round"], note.data["answer"]) for note in notes if note.label == "tentative_answer"
        ),
        end_round=stop.get("round"),
        why_ended=stop.get("why"),
        answer=ended.outcome.answer if ended else None,
        end_reason=ended.outcome.end_reason if ended else None,
        tokens=sum(call.reply.usage.total for call in calls),
        output_tokens=sum(call.reply.usage.output_tokens for call in calls),
        seconds=ended.seconds if ended else sum(call.seconds for call in calls),
        calls=len(calls),
        target=target,
    )


def is_right(answer: str | None, target: str) -> bool:
    """Whether an answer equals the target, ignoring case, extra spaces and a final full stop."""
    return answer is not None and _normalize(answer) == _normalize(target)


def page(record: DebateRecord) -> str:
    """The graphs of a debate as an HTML page."""
    return document(
        record.name,
        element("h1", "Debate on a graph"),
        element("p", record.question, class_="question"),
        element("p", *_format_ending(record)),
        element("p", *_legend(), class_="facts"),
        *(_figure(caption, svg) for caption, svg in figures(record)),
    )


def figures(record: DebateRecord) -> Iterator[tuple[Markup, Markup]]:
    """A caption and an SVG for every graph, and a pair per round for the change since the previous round."""
    before = blueprint = Graph()
    rounds = [drawn.round for drawn in record.drawn]
    for place, drawn in enumerate(record.drawn):
        if drawn.round == 0:
            yield _caption(drawn, ""), Markup(draw(difference(drawn.graph, drawn.graph)))
            before = blueprint = drawn.graph
            continue
        yield _caption(drawn, "compared with its input"), Markup(draw(difference(before, drawn.graph)))
        before = drawn.graph
        if place + 1 == len(rounds) or rounds[place + 1] != drawn.round:
            detail = element("small", _COMPARISONS["inter"])
            title = join(f"Round {drawn.round} as a whole ", detail)
            yield title, Markup(draw(difference(blueprint, drawn.graph)))
            blueprint = drawn.graph


def graph_note(event: Note, events: Sequence[Event]) -> Markup:
    """A graph as a note of a run. events: those of the run, with this one among them."""
    drawn = [*figures(record("", [*_notes_before(event, events), event]))]
    # The last figure of a later round shows the whole round; round_note draws that one.
    return _figure(*(drawn[0] if event.data["round"] == 0 else drawn[-2]))


def round_note(event: Note, events: Sequence[Event]) -> Markup:
    """What a whole round changed, as counts and, for `inter`, as a graph."""
    comparison = event.data["comparison"]
    counts = "; ".join(_format_counts(what, by_change) for what, by_change in event.data["counts"].items())
    text = f"Round {event.data['round']}, {_COMPARISONS[comparison]}: {counts}; distance {event.data['distance']:g}"
    facts = element("p", text, class_="facts")
    if comparison != "inter" or not event.data["distance"]:
        return facts
    return element("div", facts, _figure(*[*figures(record("", _notes_before(event, events)))][-1]))


def _read_config(folder: Path) -> dict[str, Any]:
    """The configuration of the run; empty if the file is missing or is not a JSON object."""
    try:
        found = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _parse_graph(data: Mapping[str, Any]) -> Drawn:
    graph, _ = read_graph(json.dumps(data["graph"]))
    return Drawn(data["role"], data["round"], data["debater"], data["source"], tuple(data["repairs"]), graph)


def _parse_change(data: Mapping[str, Any]) -> ChangeCounts:
    return ChangeCounts(data["comparison"], data["round"], **data["condensation"], distance=data["distance"])


def _normalize(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


def _figure(caption: Markup, svg: Markup) -> Markup:
    return element("figure", svg, element("figcaption", caption), class_="graph")


def _caption(drawn: Drawn, comparison: str) -> Markup:
    where = f"Round {drawn.round}, " if drawn.round else ""
    debater = f" {drawn.debater}" if drawn.debater > 1 else ""
    source = f"source: {drawn.source.replace('_', ' ')}" if drawn.source != "read" else ""
    repairs = "repaired: " + ", ".join(drawn.repairs).replace("_", " ") if drawn.repairs else ""
    details = " · ".join(filter(None, [comparison, source, repairs]))
    return join(f"{where}{drawn.role}{debater} ", element("small", details))


def _legend() -> Iterator[Markup]:
    for change, sign in SIGN.items():
        yield join(element("b", f"{sign}{change}", class_=f"change {change}"), " ")


def _format_ending(record: DebateRecord) -> Iterator[object]:
    yield from ("Answer: ", element("b", record.answer)) if record.answer is not None else ("No answer",)
    if record.end_reason and record.end_reason != "answered":
        yield f" ({record.end_reason})"
    if record.end_round:
        yield f" · ended in round {record.end_round}: {record.why_ended}"
    yield f" · {record.calls} calls, {record.tokens:,} tokens, {record.seconds:.1f} s"


def _format_counts(what: str, by_change: Mapping[str, int]) -> str:
    changed = [f"{count} {change}" for change, count in by_change.items() if count and change != "kept"]
    return f"{what} {', '.join(changed) or 'unchanged'}"


def _notes_before(event: Note, events: Sequence[Event]) -> list[Event]:
    place = next((at for at, other in enumerate(events) if other is event), len(events))
    return [other for other in events[:place] if isinstance(other, Note)]
