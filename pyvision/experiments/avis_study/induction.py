"""Induce a transition graph and planner examples from the trajectories of a study (AVIS, user study)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pyvision.config.files import explain_os_errors
from pyvision.errors import ConfigError, RunFolderError
from pyvision.experiments.avis_study.trajectories import ActionTrajectory, edges_of
from pyvision.strategies.avis.actions import ACTIONS, START, PlannerExample

Edges: TypeAlias = Mapping[tuple[str, str], int]  # (state, action) -> count
Graph: TypeAlias = Mapping[str, tuple[str, ...]]  # state -> the actions that may follow, most frequent first

_STATES: tuple[str, ...] = (START, *ACTIONS)
GRAPH, COUNTS, EXAMPLES = "graph.json", "counts.json", "examples"
_CONTEXT_CHARS = 1_500  # of an example: a prompt holds several


@dataclass(frozen=True, slots=True)
class Induced:
    """used: how many trajectories the graph is based on. skipped: how many failed or were not finished."""

    graph: Graph
    edges: Edges
    examples: tuple[PlannerExample, ...]
    used: int
    skipped: int


def induce(
    trajectories: Sequence[ActionTrajectory],
    *,
    threshold: int = 1,
    failures: bool = False,
    max_examples: int = 10,
) -> Induced:
    """failures: also use attempts that were given up; unfinished ones are never used. max_examples: for each action.

    threshold: edges seen less often are dropped. Raises ConfigError when no edge from the start is left.
    """
    endings = {"found", "not found"} if failures else {"found"}
    used = [trajectory for trajectory in trajectories if trajectory.ending in endings]
    edges = edges_of(used)
    graph = _build_graph(edges, threshold)
    if not graph.get(START):
        raise ConfigError(_explain_empty(used, trajectories, threshold))
    known = {(state, action) for state, actions in graph.items() for action in actions}
    examples = tuple(_examples(used, known, max_examples))
    return Induced(graph, edges, examples, len(used), len(trajectories) - len(used))


def format_induced(found: Induced, default: Graph) -> str:
    """The induced graph and its differences from the default, as text for a terminal."""
    graph = [f"  {state} -> {', '.join(_count(found, state, found.graph[state]))}" for state in found.graph]
    changed = [f"  {line}" for line in _changes(default, found.graph, found.edges)] or ["  nothing"]
    pools = [f"{action} {sum(each.action == action for each in found.examples)}" for action in ACTIONS]
    return "\n".join(
        [
            f"{found.used} trajectories used, {found.skipped} skipped",
            "graph:",
            *graph,
            "changes from the default:",
            *changed,
            f"examples: {', '.join(pools)}",
        ]
    )


def write_induced(found: Induced, folder: Path) -> tuple[Path, ...]:
    """Write graph.json, counts.json and examples/ACTION.jsonl to a new folder. Raises RunFolderError."""
    pools = {f"{EXAMPLES}/{action}.jsonl": _pool(found.examples, action) for action in ACTIONS}
    files = {
        GRAPH: _lines(found.graph),
        COUNTS: _lines(_count_edges(found.edges)),
        **{name: text for name, text in pools.items() if text},
    }
    with explain_os_errors(folder):
        if folder.exists() and any(folder.iterdir()):
            raise RunFolderError(f"{str(folder)!r}: the folder is not empty; choose another --out")
        (folder / EXAMPLES).mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    return tuple(folder / name for name in files)


def _count(found: Induced, state: str, actions: Iterable[str]) -> list[str]:
    return [f"{action} {found.edges[state, action]}" for action in actions]


def _explain_empty(
    used: Sequence[ActionTrajectory], trajectories: Sequence[ActionTrajectory], threshold: int
) -> str:
    if not any(trajectory.moves for trajectory in used):
        return f"none of {len(trajectories)} trajectories can be used; record more, or add --failures"
    return f"no first action was taken {threshold} times or more; lower --threshold"


def _examples(
    trajectories: Iterable[ActionTrajectory], known: set[tuple[str, str]], max_examples: int
) -> Iterable[PlannerExample]:
    """For each action, one example of each trajectory in turn, up to `max_examples`; distinct ones only."""
    for action in ACTIONS:
        queues = [
            [
                PlannerExample(trajectory.query, _truncate(move.context), action)
                for move in trajectory.moves
                if move.action == action and (move.origin, action) in known
            ]
            for trajectory in trajectories
        ]
        rounds = max(map(len, queues), default=0)
        taken = [queue[turn] for turn in range(rounds) for queue in queues if turn < len(queue)]
        yield from list(dict.fromkeys(taken))[:max_examples]


def _truncate(text: str) -> str:
    """As many whole lines as fit."""
    if len(text) <= _CONTEXT_CHARS:
        return text
    return f"{text[:_CONTEXT_CHARS].rpartition(chr(10))[0] or text[:_CONTEXT_CHARS]}\n…"


def _pool(examples: Iterable[PlannerExample], action: str) -> str:
    rows = [asdict(example) for example in examples if example.action == action]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _lines(rows: Mapping[str, Any]) -> str:
    """A JSON object with one key per line."""
    lines = (f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in rows.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _build_graph(edges: Edges, threshold: int) -> Graph:
    """The edges seen at least `threshold` times, most frequent first; a state without successors has an empty row."""
    frequent = {edge: count for edge, count in edges.items() if count >= threshold}
    states = [state for state in _STATES if any(state in edge for edge in frequent)]
    return {state: _successors(state, frequent) for state in states}


def _successors(state: str, edges: Edges) -> tuple[str, ...]:
    found = Counter({action: edges[state, action] for action in ACTIONS if (state, action) in edges})
    return tuple(action for action, _ in found.most_common())  # stable: ties stay in the order of ACTIONS


def _count_edges(edges: Edges) -> dict[str, dict[str, int]]:
    """state -> action -> count, for every edge."""
    rows = {state: {a: edges[state, a] for a in _STATES if (state, a) in edges} for state in _STATES}
    return {state: row for state, row in rows.items() if row}


def _changes(default: Graph, induced: Graph, edges: Edges) -> Iterator[str]:
    """The differences between two graphs, one line per state."""
    for state in dict.fromkeys((*default, *induced)):
        old, new = default.get(state, ()), induced.get(state, ())
        removed = [f"- {action}{_format_count(edges, state, action)}" for action in old if action not in new]
        added = [f"+ {action}{_format_count(edges, state, action)}" for action in new if action not in old]
        reordered = [] if removed or added or old == new else [f"order: {', '.join(new)}"]
        if parts := added + removed + reordered:
            yield f"{state}: {'  '.join(parts)}"


def _format_count(edges: Edges, state: str, action: str) -> str:
    count = edges.get((state, action), 0)
    return f" ({count})" if count else " (never seen)"
