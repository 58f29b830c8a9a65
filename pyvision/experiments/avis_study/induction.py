"""Write what was learnt from a study: the graph, how often each edge was seen, and examples for the planner."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pyvision.errors import ConfigError, RunFolderError
from pyvision.experiments.avis_study.trajectories import Move, Trajectory, edges_of
from pyvision.strategies.avis.actions import ACTIONS
from pyvision.strategies.avis.examples import Example
from pyvision.strategies.avis.graph import START

GRAPH, COUNTS, EXAMPLES = "graph.json", "counts.json", "examples"
_CONTEXT_CHARS = 1_500  # of an example: several of them stand in one prompt


@dataclass(frozen=True, slots=True)
class Induced:
    """used: the courses that it rests on. left_out: those that failed or were not finished."""

    graph: Graph
    edges: Edges
    examples: tuple[Example, ...]
    used: int
    left_out: int


def induce(
    trajectories: Sequence[Trajectory], *, threshold: int = 1, failures: bool = False, most: int = 10
) -> Induced:
    """failures: learn also from those who gave up, never from those who went away. most: examples of an action.

    Raises ConfigError when no edge from the start is left.
    """
    endings = {"found", "not found"} if failures else {"found"}
    kept = [trajectory for trajectory in trajectories if trajectory.ending in endings]
    edges = edges_of(kept)
    graph = graph_of(edges, threshold)
    if not graph.get(START):
        raise ConfigError(_nothing(kept, trajectories, threshold))
    known = {(state, action) for state, actions in graph.items() for action in actions}
    examples = tuple(_examples(kept, known, most))
    return Induced(graph, edges, examples, len(kept), len(trajectories) - len(kept))


def format_induced(found: Induced, default: Graph) -> str:
    """What was learnt, and what it changes, for a terminal."""
    graph = [f"  {state} -> {', '.join(_count(found, state, found.graph[state]))}" for state in found.graph]
    changed = [f"  {line}" for line in changes(default, found.graph, found.edges)] or ["  nothing"]
    pools = [f"{action} {sum(each.action == action for each in found.examples)}" for action in ACTIONS]
    return "\n".join(
        [
            f"{found.used} courses used, {found.left_out} left out",
            "graph:",
            *graph,
            "changed against the default:",
            *changed,
            f"examples: {', '.join(pools)}",
        ]
    )


def write_induced(found: Induced, folder: Path) -> tuple[Path, ...]:
    """Write graph.json, counts.json and examples/ACTION.jsonl into a new folder; their paths. Raises RunFolderError."""
    pools = {f"{EXAMPLES}/{action}.jsonl": _pool(found.examples, action) for action in ACTIONS}
    files = {
        GRAPH: _lines(found.graph),
        COUNTS: _lines(plain_counts(found.edges)),
        **{name: text for name, text in pools.items() if text},
    }
    try:
        if folder.exists() and any(folder.iterdir()):
            raise RunFolderError(f"{str(folder)!r}: is not empty; choose another --out")
        (folder / EXAMPLES).mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise RunFolderError(f"{str(folder)!r}: {error.strerror}; choose another --out") from error
    return tuple(folder / name for name in files)


def _count(found: Induced, state: str, actions: Iterable[str]) -> list[str]:
    return [f"{action} {found.edges[state, action]}" for action in actions]


def _nothing(kept: Sequence[Trajectory], trajectories: Sequence[Trajectory], threshold: int) -> str:
    if not any(trajectory.moves for trajectory in kept):
        return f"none of {len(trajectories)} courses can be learnt from; record more, or take --failures too"
    return f"no first action was taken {threshold} times; lower --threshold"


def _examples(
    trajectories: Iterable[Trajectory], known: set[tuple[str, str]], most: int
) -> Iterable[Example]:
    """For each action, first one of every course, then more of them, up to `most`; none twice, none off the graph."""
    for action in ACTIONS:
        queues = [
            [
                Example(trajectory.query, _cut(move.context), action)
                for move in trajectory.moves
                if _is(move, action, known)
            ]
            for trajectory in trajectories
        ]
        rounds = max(map(len, queues), default=0)
        taken = [queue[turn] for turn in range(rounds) for queue in queues if turn < len(queue)]
        yield from list(dict.fromkeys(taken))[:most]


def _is(move: Move, action: str, known: set[tuple[str, str]]) -> bool:
    return move.action == action and (move.origin, move.action) in known


def _cut(text: str) -> str:
    """Whole lines of it, as far as they fit."""
    if len(text) <= _CONTEXT_CHARS:
        return text
    return f"{text[:_CONTEXT_CHARS].rpartition(chr(10))[0] or text[:_CONTEXT_CHARS]}\n…"


def _pool(examples: Iterable[Example], action: str) -> str:
    kept = [asdict(example) for example in examples if example.action == action]
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in kept)


def _lines(rows: Mapping[str, Any]) -> str:
    """A JSON object with each key on a line of its own."""
    told = (f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in rows.items())
    return "{\n" + ",\n".join(told) + "\n}\n"


# ---- A transition graph out of what people did: an edge for each action that followed another (AVIS, user study).


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
