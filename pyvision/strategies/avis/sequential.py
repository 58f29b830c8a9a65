"""The paper's sequential baselines (tables 1 and 2): tools in a fixed order, then one chain of thought, no planning.

The paper names them and prints neither their order in detail nor their prompt; this is our reading. `vqa`: caption and
visual question answering. `object`: and what the collection knows of the whole picture and of each object. `search`:
and a text search for the question about the first titles found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pyvision.agent.episode import Episode
from pyvision.errors import EndReason
from pyvision.strategies.avis.actions import ACTIONS, Action
from pyvision.strategies.avis.answering import SearchTrace, conclude, give_best, read_short
from pyvision.strategies.avis.executor import ToolExecutor
from pyvision.strategies.avis.memory import Finding, Memory, Node
from pyvision.strategies.avis.reply_parsing import Parts, source_numbers
from pyvision.strategies.avis.role_client import Request, sanitize_quote, send
from pyvision.strategies.avis.toolbox import hits_of
from pyvision.types import Answer, Observation, Question, ToolRequest


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
