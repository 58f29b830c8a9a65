"""The actions that a planner may take: the tools that perform them, and examples of choosing them.

The examples are data, which a study can replace: one file of JSON lines for each action, each line {"query": …,
"context": …, "action": …}; an action without a file has no examples.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pyvision.agent.episode import Episode
from pyvision.errors import ConfigError, reason
from pyvision.text.prompts import load
from pyvision.types import Observation, ToolRequest

Action: TypeAlias = Literal[
    "vqa", "object_select", "identical_image_search", "image_search", "web_search", "llm_qa"
]
Group: TypeAlias = Literal["none", "vqa", "object", "search"]
START = "START"


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One action. tools: the first of these that is set up is used. takes_query: it needs a text.

    group: the ablation of the paper's tables 1 and 2 that removes it, as we read them: they name no members.
    """

    tools: tuple[str, ...]
    group: Group
    needs_picture: bool
    takes_query: bool


ACTIONS: Mapping[Action, ActionSpec] = {
    "vqa": ActionSpec(("vqa",), "vqa", needs_picture=True, takes_query=True),
    "object_select": ActionSpec(("detect",), "object", needs_picture=True, takes_query=False),
    "identical_image_search": ActionSpec(
        ("identical_image",), "object", needs_picture=True, takes_query=False
    ),
    "image_search": ActionSpec(("similar_image",), "object", needs_picture=True, takes_query=False),
    "web_search": ActionSpec(("web_search", "document"), "search", needs_picture=False, takes_query=True),
    "llm_qa": ActionSpec(("llm_qa",), "none", needs_picture=False, takes_query=True),
}
_PERCEPTION: Mapping[str, Group] = {"caption": "vqa", "detect": "object", "ocr": "none"}
TOOLS = (
    "caption",
    "vqa",
    "llm_qa",
    "detect",
    "ocr",
    "identical_image",
    "similar_image",
    "document",
    "web_search",
)


def tool_of(action: Action, tools: Collection[str]) -> str | None:
    """The tool that performs an action, of those that are set up."""
    return next((name for name in ACTIONS[action].tools if name in tools), None)


def purposes() -> dict[str, str]:
    """How each action is described to a planner: prompts/avis/actions.json."""
    texts = json.loads(load("avis/actions.json"))
    return {name: str(texts[name]) for name in ACTIONS}


class Toolbox:
    """The tools of one question. without: the group of actions that an ablation removes.

    A tool that the user has to fix (an index that does not exist, a package that is not installed) is noted and counts
    as missing from then on: the search continues without it, and the remark of the answer says so.
    """

    def __init__(self, episode: Episode, without: Group = "none") -> None:
        self._episode = episode
        self._without = without
        self.unusable: dict[str, str] = {}  # tool -> what the user has to fix

    def tool_of(self, action: Action) -> str | None:
        """The tool that performs an action, or None if there is none at the moment."""
        is_removed = self._without != "none" and ACTIONS[action].group == self._without
        return None if is_removed else tool_of(action, self._usable())

    def can_perceive(self, tool: str) -> bool:
        """Whether caption, ocr or detect can describe the image before the search."""
        return tool in self._usable() and (self._without == "none" or _PERCEPTION[tool] != self._without)

    def missing(self) -> dict[str, list[str]]:
        """Actions without a tool -> the tools of which each needs one."""
        return {name: list(spec.tools) for name, spec in ACTIONS.items() if self.tool_of(name) is None}

    def call_tool(self, tool: str, request: ToolRequest) -> Observation:
        """As Episode.call_tool, but a ConfigError becomes an observation's error too."""
        try:
            return self._episode.call_tool(tool, request)
        except ConfigError as error:
            self.unusable[tool] = str(error)
            self._episode.note("tool_unusable", tool=tool, why=str(error))
            return Observation(error=str(error))

    def _usable(self) -> list[str]:
        return [name for name in self._episode.tools if name not in self.unusable]


def hits_of(observation: Observation) -> list[Mapping[str, Any]]:
    """The hits of a search; empty if the data of the observation are not those of a search."""
    data = observation.data
    found = data.get("hits") if isinstance(data, Mapping) else None
    return [hit for hit in found if isinstance(hit, Mapping)] if isinstance(found, list | tuple) else []


@dataclass(frozen=True, slots=True)
class PlannerExample:
    """A choice that a person made: the question, what was known, and the action."""

    query: str
    context: str
    action: str

    def text(self) -> str:
        """As the planner reads it."""
        return f"Query: {self.query}\n{self.context}\nAction: {self.action}"


def load_examples(folder: Path | None) -> Mapping[str, tuple[PlannerExample, ...]]:
    """action -> its examples. Raises ConfigError that names file and line."""
    if folder is None:
        return {name: _read_examples(load(f"avis/examples/{name}.jsonl"), name, name) for name in ACTIONS}
    if not folder.is_dir():
        raise ConfigError(
            f"option examples: {str(folder)!r} is not a folder; give one that holds ACTION.jsonl files"
        )
    return {name: _load_pool(folder / f"{name}.jsonl", name) for name in ACTIONS}


def examples_to_show(
    pools: Mapping[str, tuple[PlannerExample, ...]], actions: Iterable[str], limit: int
) -> str:
    """The first examples of each action that can be taken now, as text."""
    chosen = (example.text() for action in actions for example in pools.get(action, ())[:limit])
    return "\n\n".join(chosen)


def _load_pool(path: Path, action: str) -> tuple[PlannerExample, ...]:
    if not path.exists():
        return ()
    try:
        return _read_examples(path.read_text(encoding="utf-8-sig"), str(path), action)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"option examples: {str(path)!r} cannot be read ({reason(error)}); give lines of JSON"
        ) from error


def _read_examples(text: str, file: str, action: str) -> tuple[PlannerExample, ...]:
    lines = enumerate(text.splitlines(), 1)
    return tuple(_example(line, f"{file}, line {number}", action) for number, line in lines if line.strip())


def _example(line: str, where: str, action: str) -> PlannerExample:
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{where}: not valid JSON: {error}") from error
    keys = ("query", "context", "action")
    if not isinstance(found, dict) or not all(isinstance(found.get(key), str) for key in keys):
        raise ConfigError(f"{where}: an example must be an object with the texts {', '.join(keys)}")
    if found["action"] != action:
        raise ConfigError(f"{where}: the action is {found['action']!r}; this file is for {action!r}")
    return PlannerExample(found["query"], found["context"], found["action"])
