"""The walk through the graph: plan, act, judge, remember, go back where nothing is left (Algorithms 1 and 2).

Where the paper's listing is silent or broken this is what holds: an action that brought nothing is excluded for this
visit only; a state with nothing left is taken back, and what led there excluded at the state before; of object_select
the objects are excluded, not the action; the visual question is answered before the knowledge question is asked; the
same action with the same request is not taken twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyvision.agent.episode import Episode
from pyvision.errors import EndReason
from pyvision.strategies.avis.actions import ACTIONS, START, Action, Example, Graph, Toolbox, hits_of
from pyvision.strategies.avis.memory import Finding, Memory, Node
from pyvision.strategies.avis.perception import DetectedObject, Scene
from pyvision.strategies.avis.reply_parsing import Parts, Plan, Verdict
from pyvision.strategies.avis.roles import (
    NOTHING,
    Evidence,
    Planner,
    SearchTrace,
    ShortAnswer,
    choose,
    conclude,
    give_best,
    judge,
    known,
)
from pyvision.types import Answer, Observation, Question, Source, ToolRequest


@dataclass(frozen=True, slots=True)
class Rules:
    """How far a walk goes. calls: actions in all. shots: examples of each action that the planner sees."""

    graph: Graph
    calls: int
    shots: int
    goes_back: bool = True


@dataclass(slots=True)
class Search:
    """One question under way."""

    rules: Rules
    question: Question
    parts: Parts
    episode: Episode
    executor: ToolExecutor
    pools: Mapping[str, Sequence[Example]]
    planner: Planner = field(init=False)
    memory: Memory = field(init=False)
    calls: int = field(init=False, default=0)
    seen: list[str] = field(init=False, default_factory=list)
    taken: set[tuple[object, ...]] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        visual = self.parts.visual
        start = Node("visual", visual) if visual else Node("knowledge", self.parts.knowledge or "")
        self.memory = Memory(start)
        self.planner = Planner(self.episode, self.pools, self.rules.shots, self._is_taken)

    def answer(self) -> Answer:
        """Go on until the reasoner answers, nowhere is left to go, or a budget is spent."""
        while True:
            if (spent := self._spent()) is not None:
                return self._best(*spent)
            feasible = self._feasible()
            if not feasible:
                if not self._go_back():
                    return self._best("nowhere is left to go", "answered")
                continue
            plan = self.planner.plan(self.memory.here, feasible, self._context())
            if self._spent() is None and (found := self._step(plan)) is not None:
                return found

    def _spent(self) -> tuple[str, EndReason] | None:
        last = self.episode.last_call()
        if last:
            return f"the budget is nearly spent ({last})", last
        if self.calls >= self.rules.calls:
            return f"all {self.rules.calls} tool calls are spent; allow more with --set calls=N", "turn_limit"
        return None

    def _feasible(self) -> list[Action]:
        here = self.memory.here
        follows = self.rules.graph.after(here.state)
        if here.state == START and here.phase == "knowledge":  # no picture: what START offers looks at one
            follows = tuple(name for name, row in ACTIONS.items() if not row.needs_picture)
        return [name for name in follows if name not in here.excluded and self.executor.can(name, here)]

    def _go_back(self) -> bool:
        if not self.rules.goes_back or self.memory.depth == 0:
            return False
        left, state = self.memory.go_back()
        self.episode.note("backtrack", **{"from": left, "to": state, "why": "nothing is left to try there"})
        return True

    def _context(self) -> list[str]:
        here, scene = self.memory.here, self.executor.scene
        lines = list(scene.overview()) if here.phase == "visual" and here.focus is None else []
        if here.focus is not None and here.phase == "visual":
            lines.append(scene.detected(here.focus).block().replace("\n", "\n  "))
        return [*lines, *(finding.text for finding in here.findings)]

    def _step(self, plan: Plan) -> Answer | None:
        """Take an action and follow its verdict; the answer, where there is one."""
        here, key = self.memory.here, self.executor.key(plan, self.memory.here)
        if self._is_taken(plan, here):
            self.episode.note("repeated", action=plan.action, query=plan.query, why="it was asked before")
            self.memory.exclude(plan.action, None)
            return None
        self.taken |= {key} if key is not None else set()
        self.calls += 1
        outcome = self.executor.act(plan, here)
        numbers = self.memory.number(outcome.sources)
        self.seen += [f"{plan.action}: {outcome.text}"] if outcome.text else []
        if outcome.text and self.episode.last_call():
            return None  # the one reply that is left is the last answer's
        verdict = self._judge(plan, outcome, numbers)
        return self._follow(plan, outcome, verdict, verdict.sources or numbers)

    def _is_taken(self, plan: Plan, node: Node) -> bool:
        return self.executor.key(plan, node) in self.taken

    def _judge(self, plan: Plan, outcome: Outcome, numbers: tuple[int, ...]) -> Verdict:
        here, action = self.memory.here, plan.action
        if not outcome.text:
            verdict, why = NOTHING, outcome.why
        else:
            looking = (
                replace(here, think=outcome.think, focus=outcome.detected.number)
                if outcome.detected
                else here
            )
            evidence = Evidence(self._query(here), action, outcome.text, numbers)
            found = judge(evidence, looking, self.memory, self.episode)
            known = tuple(number for number in found.sources if number in numbers)
            verdict, why = replace(found, sources=known), found.finding
        self.episode.note(
            "verdict", step=self.calls, action=action, verdict=verdict.ruling, why=why, answer=verdict.answer
        )
        return verdict

    def _query(self, here: Node) -> str:
        """What is to be answered; the choices below it, where it is the last question."""
        is_last = here.phase == "knowledge" or self.parts.knowledge is None
        return replace(self.question, text=here.query, context="").full_text if is_last else here.query

    def _follow(
        self, plan: Plan, outcome: Outcome, verdict: Verdict, sources: tuple[int, ...]
    ) -> Answer | None:
        here, action = self.memory.here, plan.action
        if verdict.ruling == "not informative":
            self.memory.exclude(action, outcome.detected.number if outcome.detected else None)
            self._tell(here, action, here.state)
            return None
        text = verdict.finding or _said(outcome.text)
        if verdict.answer is not None:
            text = f"{here.query} {verdict.answer}" if not verdict.finding else verdict.finding
        finding = Finding(self.calls, action, text, sources)
        node = self._next(here, action, outcome, finding)
        self.memory.go(node if verdict.answer is None else self._answer(node, verdict.answer))
        self._tell(here, action, action)
        if verdict.answer is None or (here.phase == "visual" and self.parts.knowledge is not None):
            return None
        return conclude(ShortAnswer(verdict.answer), node.findings, self.memory, self.episode)

    def _next(self, here: Node, action: Action, outcome: Outcome, finding: Finding) -> Node:
        node = Node(here.phase, here.query, action, (*here.findings, finding), here.focus, here.think)
        return replace(node, focus=outcome.detected.number, think=outcome.think) if outcome.detected else node

    def _answer(self, node: Node, answer: str) -> Node:
        """The visit after an answer: the knowledge question where the visual one was answered."""
        if node.phase == "knowledge" or self.parts.knowledge is None:
            return node
        query = self.parts.asked_about(answer)
        self.episode.note("visual_answer", step=self.calls, answer=answer, query=query)
        return replace(node, phase="knowledge", query=query)

    def _tell(self, before: Node, action: Action, to: str) -> None:
        """The transition, and the working memory after it."""
        here = self.memory.here
        self.episode.note(
            "transition", **{"step": self.calls, "from": before.state, "action": action, "to": to}
        )
        findings = [finding.text for finding in here.findings]
        sources = [f"[{n}] {s.title} ({s.address})" for n, s in enumerate(self.memory.sources, 1)]
        self.episode.note("memory", part=here.phase, query=here.query, findings=findings, sources=sources)

    def _best(self, why: str, end_reason: EndReason) -> Answer:
        trace = SearchTrace(
            self.question, self.memory, tuple(self.seen), tuple(self.executor.toolbox.unusable.values())
        )
        return give_best(why, end_reason, trace, self.episode)


def _said(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 400 else flat[:399] + "…"


# ---- Take an action: the request that its tool gets, and what came of it in one form.


@dataclass(frozen=True, slots=True)
class Outcome:
    """text: what the reasoner is to judge; empty where there is nothing, and `why` says so. thing: what was chosen."""

    text: str = ""
    why: str = ""
    sources: tuple[Source, ...] = ()
    detected: DetectedObject | None = None
    think: str = ""


@dataclass(frozen=True, slots=True)
class ToolExecutor:
    """All that actions are taken with."""

    episode: Episode
    toolbox: Toolbox
    scene: Scene

    def can(self, action: Action, node: Node) -> bool:
        """Whether a tool is there, and what it is to look at."""
        if self.toolbox.tool_of(action) is None:
            return False
        match action:
            case "object_select":
                return any(detected.number not in node.rejected for detected in self.scene.objects)
            case "vqa" | "identical_image_search" | "image_search":
                return self.scene.picture is not None
            case _:
                return True

    def key(self, plan: Plan, node: Node) -> tuple[object, ...] | None:
        """Equal for actions that would bring the same again; None for one that chooses anew."""
        if plan.action == "object_select":
            return None
        focus = node.focus if plan.action == "image_search" else None
        return plan.action, " ".join((plan.query or "").casefold().split()), focus, node.query

    def act(self, plan: Plan, node: Node) -> Outcome:
        """Take a feasible action."""
        tool = self.toolbox.tool_of(plan.action) or ""
        match plan.action:
            case "object_select":
                return self._select(node)
            case "identical_image_search":
                request = ToolRequest(picture=self.scene.picture)
            case "image_search":
                seen = self.scene.picture if node.focus is None else self.scene.detected(node.focus).picture
                request = ToolRequest(picture=seen)
            case "vqa":
                request = ToolRequest(plan.query or node.query, self.scene.picture)
            case "web_search":
                request = ToolRequest(plan.query or node.query)
            case "llm_qa":
                context = "" if not node.findings else known(node)
                request = ToolRequest(plan.query or node.query, options={"context": context, "long": False})
        return _outcome(self.toolbox.use(tool, request))

    def _select(self, node: Node) -> Outcome:
        left = [detected for detected in self.scene.objects if detected.number not in node.rejected]
        detected, think = choose(node, left, self.episode)
        return Outcome(detected.block(), detected=detected, think=think) if detected else Outcome(why=think)


def _outcome(seen: Observation) -> Outcome:
    if seen.error is not None:
        return Outcome(why=seen.error)
    searched = isinstance(seen.data, dict) and "hits" in seen.data
    if not seen.text.strip() or (searched and not hits_of(seen)):
        return Outcome(why="the tool found nothing")
    return Outcome(seen.text, sources=seen.sources)
