"""What the rounds of a debate changed, as a short list: each entity and relation with the sign of its change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from pyvision.events import Event
from pyvision.pages.markup import Markup, element, join
from pyvision.runs.report.debates import DebateRecord, record
from pyvision.runs.report.graph_drawing import SIGN
from pyvision.runs.report.notes import DEBATE_ENDINGS
from pyvision.strategies.bdog.graphs import Changed, GraphDifference, difference
from pyvision.strategies.bdog.graphs.graph import ChangeKind

_MOST_CHANGES = 8  # of a round


def round_list(events: Sequence[Event]) -> Markup | None:
    """What each round changed, item by item, and why the debate ended; None if there was none."""
    try:
        found = record("", events)
        items = [element("li", *_short_changes(changed)) for changed in _round_changes(found)]
    except (KeyError, TypeError, ValueError, AttributeError):
        return None  # a recording may come from anybody, and `graph` may be another strategy's note
    if not items:
        return None
    why = (
        f"; the debate ended in round {found.end_round}: {_ending(found.why_ended)}"
        if found.end_round
        else ""
    )
    heading = element("p", element("b", "What the rounds changed"), why)
    return element("div", heading, element("ol", *items), class_="rounds")


def _ending(why: str | None) -> str:
    return DEBATE_ENDINGS.get(why or "", (why or "no reason recorded").replace("_", " "))


def _round_changes(found: DebateRecord) -> Iterator[GraphDifference]:
    """From the graph that ended a round to the one that ended the next; the first is the blueprint's."""
    last = {drawn.round: drawn.graph for drawn in found.drawn}
    for before, after in pairwise(sorted(last)):
        yield difference(last[before], last[after])


def _short_changes(changed: GraphDifference) -> Iterator[Markup]:
    texts = list(_changes(changed))
    for change, text in texts[:_MOST_CHANGES]:
        yield join(element("span", SIGN[change] + text, class_=f"change {change}"), " ")
    if len(texts) > _MOST_CHANGES:
        yield Markup(f"and {len(texts) - _MOST_CHANGES} more")
    if not texts:
        yield Markup("nothing")


def _changes(changed: GraphDifference) -> Iterator[tuple[ChangeKind, str]]:
    """Each change in words: entities with their attributes, then relations between named entities."""
    names = {node.id: node.name for graph in (changed.before, changed.after) for node in graph.nodes}
    values = [(each.after or each.item, each) for each in changed.attributes if each.change != "kept"]
    for entity in changed.entities:
        if entity.change != "kept":
            own = [
                _format_value(each) for (node, *_), each in values if entity.after and node == entity.after.id
            ]
            details = f" ({', '.join(own)})" if own else ""
            yield entity.change, entity.item.name + details
    for relation in changed.relations:
        if relation.change != "kept":
            edge = relation.item
            ends = names.get(edge.source, edge.source), names.get(edge.target, edge.target)
            yield relation.change, f"{ends[0]} {edge.relation} {ends[1]}"


def _format_value(each: Changed[tuple[str, str, str]]) -> str:
    _, name, value = each.item
    was = each.before[2] if each.before and each.after else ""
    return f"{SIGN[each.change].strip('~ ')}{name}: {was + ' → ' if was else ''}{value}"
