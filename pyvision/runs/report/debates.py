"""The graphs of a debate in its report: each coloured by what changed against the one before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyvision.events import Event, Note
from pyvision.runs.report.markup import Markup, element
from pyvision.runs.report.debate_graphs.page import figures
from pyvision.runs.report.debate_graphs.record import record


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
