"""A transition graph out of what people did: an edge for each action that followed another (AVIS, user study)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from pyvision.strategies.avis.actions import ACTIONS, START

Edges: TypeAlias = Mapping[tuple[str, str], int]  # (state, action) -> how often
STATES: tuple[str, ...] = (START, *ACTIONS)
Graph: TypeAlias = Mapping[str, tuple[str, ...]]  # state -> what may follow, the preferred first


def graph_of(edges: Edges, threshold: int = 1) -> Graph:
    """The edges seen at least so often, the most frequent first; a state that nothing follows has none."""
    kept = {edge: count for edge, count in edges.items() if count >= threshold}
    states = [state for state in STATES if any(state in edge for edge in kept)]
    return {state: _followers(state, kept) for state in states}


def plain_counts(edges: Edges) -> dict[str, dict[str, int]]:
    """state -> action -> how often, every edge, as it is written to a file."""
    rows = {state: {a: edges[state, a] for a in STATES if (state, a) in edges} for state in STATES}
    return {state: row for state, row in rows.items() if row}


def changes(default: Graph, induced: Graph, edges: Edges) -> Iterator[str]:
    """What the induced graph has and the default has not, and the other way round: a line for each state."""
    for state in dict.fromkeys((*default, *induced)):
        old, new = default.get(state, ()), induced.get(state, ())
        gone = [f"- {action}{_seen(edges, state, action)}" for action in old if action not in new]
        come = [f"+ {action}{_seen(edges, state, action)}" for action in new if action not in old]
        moved = [] if gone or come or old == new else [f"order: {', '.join(new)}"]
        if told := come + gone + moved:
            yield f"{state}: {'  '.join(told)}"


def _seen(edges: Edges, state: str, action: str) -> str:
    count = edges.get((state, action), 0)
    return f" ({count})" if count else " (never seen)"


def _followers(state: str, kept: Edges) -> tuple[str, ...]:
    found = Counter({action: kept[state, action] for action in ACTIONS if (state, action) in kept})
    return tuple(action for action, _ in found.most_common())  # stable: equals stay in the order of ACTIONS
