"""The transition graph: which actions may follow each state (AVIS, section 3.2).

A graph file is a JSON object, state -> list of actions; the states are START and the last action that was useful. The
default, prompts/avis/graph.json, is ours: the paper draws its graph but does not list it (section 3.2, appendix C).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pyvision.errors import ConfigError, reason
from pyvision.strategies.avis.actions import ACTIONS, START, Action
from pyvision.text.prompts import load


@dataclass(frozen=True, slots=True)
class TransitionGraph:
    """successors: state -> the actions that may follow, the preferred one first."""

    successors: Mapping[str, tuple[Action, ...]]

    def after(self, state: str) -> tuple[Action, ...]:
        """Empty for a state that is not in the graph."""
        return self.successors.get(state, ())


def complete_graph() -> TransitionGraph:
    """Every action after every state: the paper's ablation without a graph (table 3)."""
    return TransitionGraph({state: tuple(ACTIONS) for state in (START, *ACTIONS)})


def load_graph(file: Path | None, named: str = "option graph") -> TransitionGraph:
    """The graph of a file, or the default. Raises ConfigError that names the file and what is wrong with it.

    named: what the message calls the setting that the file comes from.
    """
    if file is None:
        return read_graph(load("avis/graph.json"), "the default graph")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{named}: {str(file)!r} cannot be read ({reason(error)}); give a JSON file"
        ) from error
    return read_graph(text, str(file))


def read_graph(text: str, name: str) -> TransitionGraph:
    """Raises ConfigError for an invalid graph, an unknown action, or a START without successors."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{name}: the graph is not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise ConfigError(f'{name}: a graph is a JSON object such as {{"START": ["vqa"]}}')
    graph = TransitionGraph({state: _successors(state, names, name) for state, names in found.items()})
    if not graph.after(START):
        raise ConfigError(f"{name}: no action follows {START}; name at least one there")
    return graph


def _successors(state: str, names: Any, file: str) -> tuple[Action, ...]:
    known = ", ".join(ACTIONS)
    if state != START and state not in ACTIONS:
        raise ConfigError(f"{file}: unknown state {state!r}; the states are {START}, {known}")
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise ConfigError(f"{file}: the value of {state!r} must be a list of actions")
    for each in names:
        if each not in ACTIONS:
            raise ConfigError(f"{file}: unknown action {each!r} after {state!r}; the actions are {known}")
    return tuple(cast("Action", each) for each in dict.fromkeys(names))
