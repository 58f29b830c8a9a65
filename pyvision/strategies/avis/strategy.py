"""The strategy and its options; `mode` chooses the walk or one of the baselines that it is measured against."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from pyvision.agent.episode import Episode
from pyvision.errors import ConfigError, EndReason
from pyvision.strategies.avis.actions import (
    ACTIONS,
    TOOLS,
    Action,
    Group,
    Toolbox,
    complete_graph,
    hits_of,
    load_examples,
    load_graph,
)
from pyvision.strategies.avis.memory import Finding, Memory, Node
from pyvision.strategies.avis.perception import Scene, look
from pyvision.strategies.avis.reply_parsing import Parts, source_numbers
from pyvision.strategies.avis.roles import (
    Request,
    SearchTrace,
    conclude,
    decompose,
    give_best,
    read_short,
    sanitize_quote,
    send,
)
from pyvision.strategies.avis.search import Rules, Search, ToolExecutor
from pyvision.types import Answer, Observation, Question, ToolRequest

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


# ---- The paper's sequential baselines (tables 1 and 2): tools in a fixed order, then one chain of thought, no planning.
# ----
# ---- The paper names them and prints neither their order in detail nor their prompt; this is our reading. `vqa`: caption and
# ---- visual question answering. `object`: and what the collection knows of the whole picture and of each object. `search`:
# ---- and a text search for the question about the first titles found.


@dataclass(slots=True)
class Row:
    """One question on its way through the row of tools. calls: how many are left."""

    question: Question
    episode: Episode
    executor: ToolExecutor
    calls: int
    memory: Memory = field(init=False)
    seen: list[str] = field(init=False, default_factory=list)
    titles: list[str] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.memory = Memory(Node("visual", self.question.text))

    def look(self) -> None:
        """The caption is part of the first look."""
        self.seen += self.executor.scene.lines
        self._use("vqa", ToolRequest(self.question.text, self.executor.scene.picture))

    def look_up(self) -> None:
        """The whole picture, then every object."""
        picture = self.executor.scene.picture
        self._use("identical_image_search", ToolRequest(picture=picture))
        self._use("image_search", ToolRequest(picture=picture))
        for detected in self.executor.scene.objects:
            self.seen.append(detected.block())
            self._use("image_search", ToolRequest(picture=detected.picture))

    def search(self, parts: Parts) -> None:
        """The knowledge question about each title found, the first ones first; the question itself without any."""
        for query in self._queries(parts):
            self._use("web_search", ToolRequest(query))

    def answer(self) -> Answer:
        """One reply from all that was seen."""
        last = self.episode.last_call()
        if last:
            return self._best(f"the budget is nearly spent ({last})", last)
        listed = self.memory.listed(range(1, len(self.memory.sources) + 1))
        variables: dict[str, object] = {
            "question": self.question.full_text,
            "observation": sanitize_quote("\n".join(self.seen), 12_000) or "(nothing)",
            "sources": sanitize_quote(listed) or "(none)",
        }
        reply, _ = send(self.episode, Request("reasoner", "sequential", variables, "", {}))
        found = read_short(reply)
        if found is None:
            return self._best("the row of tools did not bring an answer", "answered")
        known = tuple(n for n in source_numbers(reply.text) if n <= len(self.memory.sources) and n > 0)
        return conclude(found, [Finding(len(self.seen), "row", found.text, known)], self.memory, self.episode)

    def _queries(self, parts: Parts) -> Iterator[str]:
        if parts.knowledge is None:
            return
        titles = list(dict.fromkeys(self.titles))
        yield from [parts.asked_about(title) for title in titles] or [self.question.text]

    def _use(self, action: Action, request: ToolRequest) -> None:
        tool = self.executor.toolbox.tool_of(action)
        no_picture = ACTIONS[action].needs_picture and request.picture is None
        if tool is None or no_picture or self.calls <= 0 or self.episode.last_call():
            return
        self.calls -= 1
        found = self.executor.toolbox.use(tool, request)
        self._keep(action, found)

    def _keep(self, action: Action, found: Observation) -> None:
        self.memory.number(found.sources)
        if found.text.strip() and found.error is None:
            self.seen.append(f"{action}: {found.text}")
        if ACTIONS[action].group == "object":
            self.titles += [str(hit["title"]) for hit in hits_of(found) if hit.get("title")]

    def _best(self, why: str, end_reason: EndReason) -> Answer:
        trace = SearchTrace(
            self.question, self.memory, tuple(self.seen), tuple(self.executor.toolbox.unusable.values())
        )
        return give_best(why, end_reason, trace, self.episode)
