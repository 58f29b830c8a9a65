"""The graphs of a debate in its report: each coloured by what changed against the one before it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from pyvision.events import Event, ModelCall, Note, RunEnded, RunStarted
from pyvision.runs.report.graph_drawing import FILL, INK, SIGN, draw
from pyvision.runs.report.markup import Markup, element
from pyvision.strategies.bdog.graphs import Graph, difference, read_graph
from pyvision.trajectory import CONFIG, read_trajectory


def graph_note(event: Note, events: Sequence[Event]) -> Markup:
    """A graph of BDoG. events: those of the run, this one among them."""
    till_here = [*_before(event, events), event]
    drawn = [*figures(record("", till_here))]
    # After every later round's graph stands one of the round as a whole: it would be told with each debater.
    caption, svg = drawn[0] if event.data["round"] == 0 else drawn[-2]
    return element("figure", Markup(svg), element("figcaption", Markup(caption)), class_="graph")


def round_note(event: Note, events: Sequence[Event]) -> Markup:
    """What a round as a whole has changed, in numbers and, for `inter`, as a picture."""
    counts = "; ".join(_counts(what, by_change) for what, by_change in event.data["counts"].items())
    words = {"inter": "since the round before", "intra": "between the two sides"}[event.data["comparison"]]
    told = element(
        "p",
        f"Round {event.data['round']}, {words}: {counts}; distance {event.data['distance']:g}",
        class_="facts",
    )
    if event.data["comparison"] != "inter":
        return told
    caption, svg = [*figures(record("", _before(event, events)))][-1]
    picture = element("figure", Markup(svg), element("figcaption", Markup(caption)), class_="graph")
    return element("div", told, picture)


def _counts(what: str, by_change: Mapping[str, int]) -> str:
    told = [f"{count} {change}" for change, count in by_change.items() if count and change != "kept"]
    return f"{what} {', '.join(told) or 'as they were'}"


def _before(event: Note, events: Sequence[Event]) -> list[Event]:
    place = next((at for at, other in enumerate(events) if other is event), len(events))
    return [other for other in events[:place] if isinstance(other, Note)]


# ---- One debate read back from its events: the graphs in order, the answers by round, what it cost and how it ended.


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


# ---- The graphs of a debate as one HTML page, coloured by what changed: for a report, a demonstration or a browser.


_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:1080px;margin:2em auto;padding:0 1em;color:#222;background:#fff}"
    "figure{margin:1.5em 0;border:1px solid #ddd;border-radius:6px;padding:.6em;overflow-x:auto}"
    "figcaption{font-weight:600;margin-bottom:.4em}pre{white-space:pre-wrap}svg{max-width:100%;height:auto}"
    "small{font-weight:400;color:#555}b.mark{padding:0 .5em;border-radius:4px;font-weight:600}"
)


def page(record: Record) -> str:
    """A whole HTML document that needs no other file and runs nothing; what models wrote stands in it escaped."""
    parts = [
        '<!doctype html><html lang="en"><meta charset="utf-8">',
        f"<title>{escape(record.name)}</title><style>{_STYLE}</style>",
        f"<h1>Debate on a graph</h1><pre>{escape(record.question)}</pre><p>{_ending(record)}</p><p>{_legend()}</p>",
        *(f"<figure><figcaption>{caption}</figcaption>{svg}</figure>" for caption, svg in figures(record)),
        "</html>\n",
    ]
    return "\n".join(parts)


def figures(record: Record) -> Iterator[tuple[str, str]]:
    """A caption (HTML) and a picture (SVG) for every graph, and one a round for what changed since the last."""
    before = blueprint = Graph()
    rounds = [drawn.round for drawn in record.drawn]
    for place, drawn in enumerate(record.drawn):
        if drawn.round == 0:
            yield _caption(drawn, ""), draw(difference(drawn.graph, drawn.graph))
            before = blueprint = drawn.graph
            continue
        yield _caption(drawn, "against the graph it was given"), draw(difference(before, drawn.graph))
        before = drawn.graph
        if place + 1 == len(rounds) or rounds[place + 1] != drawn.round:
            title = f"Round {drawn.round} as a whole <small>against the round before</small>"
            yield title, draw(difference(blueprint, drawn.graph))
            blueprint = drawn.graph


def _caption(drawn: Drawn, against: str) -> str:
    where = f"Round {drawn.round}, " if drawn.round else ""
    which = f" {drawn.debater}" if drawn.debater > 1 else ""
    told = [against, f"how: {drawn.source.replace('_', ' ')}" if drawn.source != "read" else ""]
    told.append("mended: " + ", ".join(drawn.repairs).replace("_", " ") if drawn.repairs else "")
    return f"{where}{escape(drawn.role)}{which} <small>{escape(' · '.join(filter(None, told)))}</small>"


def _legend() -> str:
    return " ".join(
        f'<b class="mark" style="color:{ink};background:{FILL[mark]}">{SIGN[mark]}{mark}</b>'
        for mark, ink in INK.items()
    )


def _ending(record: Record) -> str:
    answer = f"Answer: <b>{escape(record.answer)}</b>" if record.answer is not None else "No answer"
    why = f" ({escape(record.end_reason)})" if record.end_reason and record.end_reason != "answered" else ""
    debate = (
        f" · ended in round {record.end_round}: {escape(str(record.why_ended))}" if record.end_round else ""
    )
    return f"{answer}{why}{debate} · {record.calls} calls, {record.tokens:,} tokens, {record.seconds:.1f} s"
