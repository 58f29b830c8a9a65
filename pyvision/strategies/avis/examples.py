"""Pools of examples for the planner, one file of JSON lines for each action; a study can replace the folder.

A line is {"query": …, "context": …, "action": …}. An action without a file has no examples.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyvision.errors import ConfigError, reason
from pyvision.strategies.avis.actions import ACTIONS
from pyvision.text.prompts import load


@dataclass(frozen=True, slots=True)
class Example:
    """What somebody chose to do: the question, what was known, and the action."""

    query: str
    context: str
    action: str

    def text(self) -> str:
        """As the planner reads it."""
        return f"Query: {self.query}\n{self.context}\nAction: {self.action}"


def load_examples(folder: Path | None) -> Mapping[str, tuple[Example, ...]]:
    """action -> its pool. Raises ConfigError that names file and line."""
    if folder is None:
        return {name: read_examples(load(f"avis/examples/{name}.jsonl"), name, name) for name in ACTIONS}
    if not folder.is_dir():
        raise ConfigError(
            f"option examples: there is no folder {str(folder)!r}; give one that holds ACTION.jsonl files"
        )
    return {name: _of_file(folder / f"{name}.jsonl", name) for name in ACTIONS}


def read_examples(text: str, file: str, action: str) -> tuple[Example, ...]:
    """The examples of one pool, empty lines left out. Raises ConfigError."""
    lines = enumerate(text.splitlines(), 1)
    return tuple(_example(line, f"{file}, line {number}", action) for number, line in lines if line.strip())


def examples_to_show(pools: Mapping[str, tuple[Example, ...]], actions: Iterable[str], most: int) -> str:
    """The first ones of each pool whose action can be taken now, as text."""
    chosen = (example.text() for action in actions for example in pools.get(action, ())[:most])
    return "\n\n".join(chosen)


def _of_file(path: Path, action: str) -> tuple[Example, ...]:
    if not path.exists():
        return ()
    try:
        return read_examples(path.read_text(encoding="utf-8-sig"), str(path), action)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"option examples: {str(path)!r} cannot be read ({reason(error)}); give lines of JSON"
        ) from error


def _example(line: str, where: str, action: str) -> Example:
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{where}: no JSON: {error}") from error
    keys = ("query", "context", "action")
    if not isinstance(found, dict) or not all(isinstance(found.get(key), str) for key in keys):
        raise ConfigError(f"{where}: an example is an object with the texts {', '.join(keys)}")
    if found["action"] != action:
        raise ConfigError(f"{where}: the action is {found['action']!r}; this pool is of {action!r}")
    return Example(found["query"], found["context"], found["action"])
