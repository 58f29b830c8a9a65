"""The AVIS strategy and its options; `mode` chooses the search or one of the sequential baselines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from pyvision.agent.episode import Episode
from pyvision.agent.strategy import check_least
from pyvision.errors import EndReason
from pyvision.strategies.avis.actions import ACTIONS, TOOLS, Action, Group, Toolbox, hits_of, load_examples
from pyvision.strategies.avis.memory import Memory, SearchNode, StepFinding
from pyvision.strategies.avis.perception import ImageContext, describe_image
from pyvision.strategies.avis.reply_parsing import Decomposition, source_numbers
from pyvision.strategies.avis.roles import (
    RolePrompt,
    SearchTrace,
    conclude,
    decompose,
    give_best,
    read_short,
    sanitize_quote,
    send,
)
from pyvision.strategies.avis.search import Search, SearchConfig, ToolExecutor
from pyvision.strategies.avis.transition_graph import complete_graph, load_graph
from pyvision.types import Answer, Observation, Question, ToolRequest

Mode = Literal["avis", "no_backtracking", "sequential_vqa", "sequential_object", "sequential_object_search"]


@dataclass(frozen=True, slots=True)
class Avis:
    """Information seeking along a graph of tools (arXiv 2306.08129), and its ablations as options.

    calls: actions in all, after which the best answer so far is given; five was the most frequent number in the
    paper's runs. graph: a file in place of prompts/avis/graph.json. examples: a folder in place of
    prompts/avis/examples. shots: how many examples of each action a planner sees. use_graph: if false, every action
    may follow every other, and there are no examples. without: the group of tools to remove. max_objects: how many
    detected objects are described before the search. web_search uses the tool of that name if it is set up, else
    `document`, the user's own collection. reasoner_sees: `image` sends the reasoner what was looked up and the
    images of the collection that were found. saves_calls: planner and selector are not asked where there is
    hardly a choice (`search.Search`); if false, they choose every step, as in the paper. Of several images, only the
    first is used.
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
    reasoner_sees: Literal["text", "image"] = "text"
    saves_calls: bool = True

    def __post_init__(self) -> None:
        check_least(self, calls=1, shots=0, max_objects=0)
        if self.graph is not None:
            load_graph(self.graph)
        if self.examples is not None:
            load_examples(self.examples)

    def solve(self, question: Question, episode: Episode) -> Answer:
        """Raises ConfigError if a file of the options has been removed since the strategy was made."""
        toolbox = Toolbox(episode, self.without)
        if missing := toolbox.missing():
            episode.note("actions_missing", actions=missing)
        executor = ToolExecutor(
            episode, toolbox, self._describe(question, episode, toolbox), self.saves_calls
        )
        if self.mode.startswith("sequential"):
            return self._run_sequence(question, executor)
        return self._search(question, executor).answer()

    def _describe(self, question: Question, episode: Episode, toolbox: Toolbox) -> ImageContext:
        if not question.images:
            return ImageContext(None)
        if len(question.images) > 1:
            episode.note("first_image_only", why=f"the question has {len(question.images)} images")
        image = describe_image(question.images[0], episode, toolbox, self.max_objects)
        episode.note("looked", lines=list(image.overview()))
        return image

    def _search(self, question: Question, executor: ToolExecutor) -> Search:
        graph = load_graph(self.graph) if self.use_graph else complete_graph()
        pools = load_examples(self.examples) if self.use_graph else {}
        config = SearchConfig(
            graph,
            self.calls,
            self.shots,
            goes_back=self.mode != "no_backtracking",
            shows_images=self.reasoner_sees == "image",
            saves_calls=self.saves_calls,
        )
        parts = decompose(question, executor.episode)
        return Search(config, question, parts, executor.episode, executor, pools)

    def _run_sequence(self, question: Question, executor: ToolExecutor) -> Answer:
        sequence = Sequential(question, executor.episode, executor, self.calls)
        sequence.look()
        if self.mode != "sequential_vqa":
            sequence.look_up()
        if self.mode == "sequential_object_search":
            sequence.search(decompose(question, executor.episode))
        return sequence.answer()


@dataclass(slots=True)
class Sequential:
    """The paper's sequential baselines (tables 1 and 2): tools in a fixed order, then one chain of thought.

    The paper names them but prints neither their order in detail nor their prompt; this is our reading. `vqa`: caption
    and visual question answering. `object`: also what the collection knows of the whole image and of each object.
    `search`: also a text search for the question about each title found. calls: how many are left.
    """

    question: Question
    episode: Episode
    executor: ToolExecutor
    calls: int
    memory: Memory = field(init=False)
    seen: list[str] = field(init=False, default_factory=list)
    titles: list[str] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.memory = Memory(SearchNode("visual", self.question.text))

    def look(self) -> None:
        """Ask about the image, whose caption is already in its context."""
        self.seen += self.executor.image.lines
        self._use("vqa", ToolRequest(self.question.text, self.executor.image.picture))

    def look_up(self) -> None:
        """Look up the whole image, then every object."""
        picture = self.executor.image.picture
        self._use("identical_image_search", ToolRequest(picture=picture))
        self._use("image_search", ToolRequest(picture=picture))
        for detected in self.executor.image.objects:
            self.seen.append(detected.block())
            self._use("image_search", ToolRequest(picture=detected.picture))

    def search(self, parts: Decomposition) -> None:
        """Search for the knowledge question about each title found, in order; without titles, for the question."""
        for query in self._queries(parts):
            self._use("web_search", ToolRequest(query))

    def answer(self) -> Answer:
        """One reply from everything seen."""
        last = self.episode.last_call()
        if last:
            return self._best(f"the budget is nearly spent ({last})", last)
        sources = self.memory.format_sources(range(1, len(self.memory.sources) + 1))
        variables: dict[str, object] = {
            "question": self.question.full_text,
            "observation": sanitize_quote("\n".join(self.seen), 12_000) or "(nothing)",
            "sources": sanitize_quote(sources) or "(none)",
        }
        reply, _ = send(self.episode, RolePrompt("reasoner", "sequential", variables, "", {}))
        found = read_short(reply)
        if found is None:
            return self._best("the fixed sequence of tools led to no answer", "answered")
        known = tuple(n for n in source_numbers(reply.text) if n <= len(self.memory.sources) and n > 0)
        return conclude(
            found, [StepFinding(len(self.seen), "sequence", found.text, known)], self.memory, self.episode
        )

    def _queries(self, parts: Decomposition) -> Iterator[str]:
        if parts.knowledge is None:
            return
        titles = list(dict.fromkeys(self.titles))
        yield from [parts.knowledge_query(title) for title in titles] or [self.question.text]

    def _use(self, action: Action, request: ToolRequest) -> None:
        tool = self.executor.toolbox.tool_of(action)
        no_picture = ACTIONS[action].needs_picture and request.picture is None
        if tool is None or no_picture or self.calls <= 0 or self.episode.last_call():
            return
        self.calls -= 1
        found = self.executor.toolbox.call_tool(tool, request)
        self._remember(action, found)

    def _remember(self, action: Action, found: Observation) -> None:
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
