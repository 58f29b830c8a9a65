"""The actions that a planner may take: which tool does each, what it needs, and which ablation takes it away."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from pyvision.agent.episode import Episode
from pyvision.errors import ConfigError, reason
from pyvision.text.prompts import load
from pyvision.types import Observation, ToolRequest

Action: TypeAlias = Literal[
    "vqa", "object_select", "identical_image_search", "image_search", "web_search", "llm_qa"
]
Group: TypeAlias = Literal["none", "vqa", "object", "search"]


@dataclass(frozen=True, slots=True)
class Row:
    """One action. tools: the first of them that is set up does it. group: the ablation of the paper's tables 1 and 2
    that it belongs to, as we read it: they name groups, not members. takes_query: it is asked a text.
    """

    tools: tuple[str, ...]
    group: Group
    needs_picture: bool
    takes_query: bool


ACTIONS: Mapping[Action, Row] = {
    "vqa": Row(("vqa",), "vqa", needs_picture=True, takes_query=True),
    "object_select": Row(("detect",), "object", needs_picture=True, takes_query=False),
    "identical_image_search": Row(("identical_image",), "object", needs_picture=True, takes_query=False),
    "image_search": Row(("similar_image",), "object", needs_picture=True, takes_query=False),
    "web_search": Row(("web_search", "document"), "search", needs_picture=False, takes_query=True),
    "llm_qa": Row(("llm_qa",), "none", needs_picture=False, takes_query=True),
}
LOOKING: Mapping[str, Group] = {
    "caption": "vqa",
    "detect": "object",
    "ocr": "none",
}  # tools of the first look
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
    """The tool that does an action, of those that are set up."""
    return next((name for name in ACTIONS[action].tools if name in tools), None)


def purposes() -> dict[str, str]:
    """What a planner is told of each action: prompts/avis/actions.json."""
    told = json.loads(load("avis/actions.json"))
    return {name: str(told[name]) for name in ACTIONS}


# ---- The transition graph: which actions may follow which, as data that a study can replace.
# ----
# ---- A file is a JSON object, state -> list of actions; the states are START and the last action that was of use. The default
# ---- is prompts/avis/graph.json. It is ours: the paper draws its graph but does not list it (section 3.2, appendix C).


START = "START"


@dataclass(frozen=True, slots=True)
class Graph:
    """successors: state -> the actions that may follow, the preferred one first."""

    successors: Mapping[str, tuple[Action, ...]]

    def after(self, state: str) -> tuple[Action, ...]:
        """A state that is not in the graph leads nowhere."""
        return self.successors.get(state, ())


def complete_graph() -> Graph:
    """Every action after every state: the paper's ablation without a graph (table 3)."""
    return Graph({state: tuple(ACTIONS) for state in (START, *ACTIONS)})


def load_graph(file: Path | None, named: str = "option graph") -> Graph:
    """The graph of a file, or the default. Raises ConfigError that names the file and what is wrong with it.

    named: how its user named it, for the message.
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


def read_graph(text: str, name: str) -> Graph:
    """Raises ConfigError for what is no graph, an unknown action, and a START that leads nowhere."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{name}: the graph is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ConfigError(f'{name}: a graph is a JSON object such as {{"START": ["vqa"]}}')
    graph = Graph({state: _actions(state, names, name) for state, names in found.items()})
    if not graph.after(START):
        raise ConfigError(f"{name}: nothing follows {START}; name at least one action there")
    return graph


def _actions(state: str, names: Any, file: str) -> tuple[Action, ...]:
    known = ", ".join(ACTIONS)
    if state != START and state not in ACTIONS:
        raise ConfigError(f"{file}: unknown state {state!r}; the states are {START}, {known}")
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise ConfigError(f"{file}: what follows {state!r} is a list of actions")
    for each in names:
        if each not in ACTIONS:
            raise ConfigError(f"{file}: unknown action {each!r} after {state!r}; the actions are {known}")
    return tuple(cast("Action", each) for each in dict.fromkeys(names))


# ---- Pools of examples for the planner, one file of JSON lines for each action; a study can replace the folder.
# ----
# ---- A line is {"query": …, "context": …, "action": …}. An action without a file has no examples.


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


# ---- The tools of one question: which are there, which the user still has to mend, and what they answer.
# ----
# ---- A tool that the user has to mend (an index that is missing, a package that is not installed) is noted and counts as
# ---- missing from then on: the walk goes on without it, and its ending says so.


class Toolbox:
    """without: the group that an ablation takes away."""

    def __init__(self, episode: Episode, without: Group = "none") -> None:
        self._episode = episode
        self._without = without
        self.unusable: dict[str, str] = {}  # tool -> what the user has to mend

    def tool_of(self, action: Action) -> str | None:
        """The tool that does an action, or None while there is none."""
        is_out = self._without != "none" and ACTIONS[action].group == self._without
        return None if is_out else tool_of(action, self._usable())

    def perceived(self, tool: str) -> bool:
        """Whether a tool of the first look is there."""
        return tool in self._usable() and (self._without == "none" or LOOKING[tool] != self._without)

    def missing(self) -> dict[str, list[str]]:
        """action -> the tools of which it needs one, for actions without any."""
        return {name: list(row.tools) for name, row in ACTIONS.items() if self.tool_of(name) is None}

    def use(self, tool: str, request: ToolRequest) -> Observation:
        """As Episode.use, but what the user has to mend is an observation's error too."""
        try:
            return self._episode.use(tool, request)
        except ConfigError as error:
            self.unusable[tool] = str(error)
            self._episode.note("tool_unusable", tool=tool, why=str(error))
            return Observation(error=str(error))

    def _usable(self) -> list[str]:
        return [name for name in self._episode.tools if name not in self.unusable]


def hits_of(observation: Observation) -> list[Mapping[str, Any]]:
    """The hits of a search; none where its data have another form."""
    data = observation.data
    found = data.get("hits") if isinstance(data, Mapping) else None
    return [hit for hit in found if isinstance(hit, Mapping)] if isinstance(found, list | tuple) else []
