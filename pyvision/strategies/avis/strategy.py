"""The strategy and its options; `mode` chooses the walk or one of the baselines that it is measured against."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from pyvision.agent.episode import Episode
from pyvision.errors import ConfigError
from pyvision.strategies.avis.actions import TOOLS, Group
from pyvision.strategies.avis.examples import load_examples
from pyvision.strategies.avis.executor import ToolExecutor
from pyvision.strategies.avis.graph import complete_graph, load_graph
from pyvision.strategies.avis.perception import Scene, look
from pyvision.strategies.avis.reasoner import decompose
from pyvision.strategies.avis.search import Rules, Search
from pyvision.strategies.avis.sequential import Row
from pyvision.strategies.avis.toolbox import Toolbox
from pyvision.types import Answer, Question

Mode = Literal["avis", "no_backtracking", "sequential_vqa", "sequential_object", "sequential_object_search"]


@dataclass(frozen=True, slots=True)
class Avis:
    """Information seeking along a graph of tools (arXiv 2306.08129), and its ablations as options.

    calls: actions in all, after which the best answer so far is given; the paper's runs took five most often. graph: a
    file in place of prompts/avis/graph.json. examples: a folder in place of prompts/avis/examples. shots: how many
    examples of each action a planner sees. use_graph: without it every action may follow every other, and there are
    no examples. without: the group of tools that is taken away. max_objects: of the first look. web_search uses the
    tool of that name where it is set up, else `document`, the user's own collection. Of several pictures the first
    is looked at.
    """

    continues: ClassVar[bool] = False
    runs_code: ClassVar[bool] = False
    roles: ClassVar[tuple[str, ...]] = (
        "planner",
        "reasoner",
        "decomposer",
        "selector",
        "vqa",
        "caption",
        "llm",
        "detect",
    )
    tools: ClassVar[tuple[str, ...]] = TOOLS
    needs: ClassVar[tuple[str, ...]] = ()

    mode: Mode = "avis"
    calls: int = 12
    graph: Path | None = None
    examples: Path | None = None
    shots: int = 4
    use_graph: bool = True
    without: Group = "none"
    max_objects: int = 8

    def __post_init__(self) -> None:
        for name, least in (("calls", 1), ("shots", 0), ("max_objects", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"option {name} is {getattr(self, name)}; it takes {least} or more")
        if self.graph is not None:
            load_graph(self.graph)
        if self.examples is not None:
            load_examples(self.examples)

    def solve(self, question: Question, episode: Episode) -> Answer:
        """Raises ConfigError for files that were there when the strategy was made and are no more."""
        toolbox = Toolbox(episode, self.without)
        if missing := toolbox.missing():
            episode.note("actions_missing", actions=missing)
        scene = self._scene(question, episode, toolbox)
        executor = ToolExecutor(episode, toolbox, scene)
        if self.mode.startswith("sequential"):
            return self._in_sequence(question, executor)
        return self._walk(question, executor).answer()

    def _scene(self, question: Question, episode: Episode, toolbox: Toolbox) -> Scene:
        if not question.images:
            return Scene(None)
        if len(question.images) > 1:
            episode.note("first_image_only", why=f"{len(question.images)} pictures were given")
        scene = look(question.images[0], episode, toolbox, self.max_objects)
        episode.note("looked", lines=list(scene.overview()))
        return scene

    def _walk(self, question: Question, executor: ToolExecutor) -> Search:
        graph = load_graph(self.graph) if self.use_graph else complete_graph()
        pools = load_examples(self.examples) if self.use_graph else {}
        rules = Rules(graph, self.calls, self.shots, goes_back=self.mode != "no_backtracking")
        parts = decompose(question, executor.episode)
        return Search(rules, question, parts, executor.episode, executor, pools)

    def _in_sequence(self, question: Question, executor: ToolExecutor) -> Answer:
        row = Row(question, executor.episode, executor, self.calls)
        row.look()
        if self.mode != "sequential_vqa":
            row.look_up()
        if self.mode == "sequential_object_search":
            row.search(decompose(question, executor.episode))
        return row.answer()
