"""The search through the transition graph: plan, act, judge, remember, and go back at a dead end (Algorithms 1 and 2).

Where the paper's listing is silent or broken, these rules apply: an action that found nothing is excluded for this node
only; from a state without feasible actions the search goes back and excludes the action that led there; of
object_select, the object is excluded and not the action; the visual question is answered before the knowledge question
is asked; no action is taken twice with the same request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyvision.agent.episode import Episode
from pyvision.errors import EndReason, ImageError
from pyvision.images.read import read
from pyvision.strategies.avis.actions import ACTIONS, START, Action, PlannerExample, Toolbox, hits_of
from pyvision.strategies.avis.memory import Memory, SearchNode, StepFinding
from pyvision.strategies.avis.perception import DetectedObject, ImageContext, indent_block
from pyvision.strategies.avis.reply_parsing import Decomposition, Judgement, PlannedAction
from pyvision.strategies.avis.roles import (
    NOTHING,
    Planner,
    SearchTrace,
    ShortAnswer,
    ToolEvidence,
    answer_from_known,
    choose,
    conclude,
    give_best,
    judge,
)
from pyvision.strategies.avis.transition_graph import TransitionGraph
from pyvision.types import Answer, Observation, Picture, Question, Source, ToolRequest

_FINDING_CHARS = 400
_MOST_SHOWN = 3  # retrieved images


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """How far a search goes. calls: actions in all. shots: examples of each action that the planner sees.

    shows_images: the reasoner is sent what was looked up and the images that were found. saves_calls: see `Search`.
    """

    graph: TransitionGraph
    calls: int
    shots: int
    goes_back: bool = True
    shows_images: bool = False
    saves_calls: bool = True


@dataclass(slots=True)
class Search:
    """The search for the answer to one question.

    With `saves_calls`, a planner is not asked for the first step of a phase: if the collection knows an object, it is
    to select one; the knowledge question is searched for as it is. Once the visual question is answered, steps that
    identify something are not offered, and an answer to it from which the search went back is not accepted again.
    """

    config: SearchConfig
    question: Question
    parts: Decomposition
    episode: Episode
    executor: ToolExecutor
    pools: Mapping[str, Sequence[PlannerExample]]
    planner: Planner = field(init=False)
    memory: Memory = field(init=False)
    calls: int = field(init=False, default=0)
    seen: list[str] = field(init=False, default_factory=list)
    too_little: tuple[StepFinding, ...] = field(init=False, default=())
    taken: set[tuple[object, ...]] = field(init=False, default_factory=set)
    identified: set[str] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        visual = self.parts.visual
        start = (
            SearchNode("visual", visual) if visual else SearchNode("knowledge", self.parts.knowledge or "")
        )
        self.memory = Memory(start)
        self.planner = Planner(self.episode, self.pools, self.config.shots, self._is_taken)

    def answer(self) -> Answer:
        """Search until the reasoner answers, no action is left, or a budget is spent."""
        while True:
            if (limit := self._limit()) is not None:
                return self._best(*limit)
            feasible = self._feasible()
            if not feasible:
                if not self._go_back():
                    return self._best("no action is left to try", "answered")
                continue
            plan = self._plan_first_step(feasible) or self.planner.plan(
                self.memory.here, feasible, self._context(), may_end=self._may_end()
            )
            if self._limit() is not None:
                continue
            found = self._step(plan) if plan else self._answer_from_known()
            if found is not None:
                return found

    def _plan_first_step(self, feasible: Sequence[Action]) -> PlannedAction | None:
        """The first step of a phase, if there is one that needs no planner."""
        here = self.memory.here
        is_knowledge = here.phase == "knowledge"
        plan = PlannedAction("web_search", here.query) if is_knowledge else PlannedAction("object_select")
        if not self.config.saves_calls or plan.action not in feasible or self._is_taken(plan, here):
            return None
        if not is_knowledge and (self.calls > 0 or not self.executor.image.has_known_object):
            return None
        return self.planner.note(here, feasible, plan, "first step")

    def _may_end(self) -> bool:
        """Whether the planner may end the search here: something was found, and is not known to be too little."""
        here = self.memory.here
        return here.phase == "knowledge" and bool(here.findings) and here.findings != self.too_little

    def _answer_from_known(self) -> Answer | None:
        here = self.memory.here
        self.too_little = here.findings
        return answer_from_known(self.question, here, self.memory, self.episode)

    def _limit(self) -> tuple[str, EndReason] | None:
        last = self.episode.last_call()
        if last:
            return f"the budget is nearly spent ({last})", last
        if self.calls >= self.config.calls:
            return (
                f"all {self.config.calls} tool calls are spent; allow more with --set calls=N",
                "tool_limit",
            )
        return None

    def _feasible(self) -> list[Action]:
        here = self.memory.here
        successors = self.config.graph.after(here.state)
        if here.state == START and here.phase == "knowledge":  # no image: what START offers looks at one
            successors = tuple(name for name, spec in ACTIONS.items() if not spec.needs_picture)
        if self.config.saves_calls and here.phase == "knowledge" and self.parts.visual is not None:
            successors = tuple(name for name in successors if ACTIONS[name].group != "object")
        return [name for name in successors if name not in here.excluded and self.executor.can(name, here)]

    def _go_back(self) -> bool:
        if not self.config.goes_back or self.memory.depth == 0:
            return False
        left, state = self.memory.go_back()
        self.episode.note("backtrack", **{"from": left, "to": state, "why": "no action is left to try there"})
        return True

    def _context(self) -> list[str]:
        here, image = self.memory.here, self.executor.image
        is_start = here.phase == "visual" and here.focus is None
        lines = list(image.overview() if is_start else image.lines)  # the caption stays to the end
        if here.focus is not None and here.phase == "visual":
            lines.append(indent_block(image.object_at(here.focus).block()))
        return [*lines, *(finding.text for finding in here.findings)]

    def _step(self, plan: PlannedAction) -> Answer | None:
        """Take an action and act on its judgement; the answer, if there is one."""
        here, key = self.memory.here, self.executor.key(plan, self.memory.here)
        if self._is_taken(plan, here):
            self.episode.note("repeated", action=plan.action, query=plan.query, why="it was asked before")
            self.memory.exclude(plan.action, None)
            return None
        self.taken |= {key} if key is not None else set()
        self.calls += 1
        result = self.executor.act(plan, here)
        numbers = self.memory.number(result.sources)
        self.seen += [f"{plan.action}: {result.text}"] if result.text else []
        if result.text and self.episode.last_call():
            return None  # the one reply that is left is for the final answer
        judgement = self._judge(plan, result, numbers)
        return self._follow(plan, result, judgement, judgement.sources or numbers)

    def _images_for_reasoner(self, result: ActionResult) -> tuple[Picture, ...]:
        """For a reasoner with vision: what was looked up, then the images that were found."""
        if not self.config.shows_images or result.looked_up is None:
            return ()
        return (result.looked_up, *open_images(result.hits))

    def _is_taken(self, plan: PlannedAction, node: SearchNode) -> bool:
        return self.executor.key(plan, node) in self.taken

    def _judge(self, plan: PlannedAction, result: ActionResult, numbers: tuple[int, ...]) -> Judgement:
        here, action = self.memory.here, plan.action
        if not result.text:
            judgement, why = NOTHING, result.why
        else:
            chosen = result.detected
            node = replace(here, think=result.think, focus=chosen.number) if chosen else here
            pictures = self._images_for_reasoner(result)
            evidence = ToolEvidence(self._query(here), action, result.text, numbers, pictures)
            found = judge(evidence, node, self.memory, self.episode)
            known = tuple(number for number in found.sources if number in numbers)
            judgement, why = replace(found, sources=known), found.finding
        self.episode.note(
            "verdict",
            step=self.calls,
            action=action,
            verdict=judgement.ruling,
            why=why,
            answer=judgement.answer,
        )
        return judgement

    def _query(self, here: SearchNode) -> str:
        """The question to answer; if it is the last one, with the choices below it."""
        is_last = here.phase == "knowledge" or self.parts.knowledge is None
        return replace(self.question, text=here.query, context="").full_text if is_last else here.query

    def _follow(
        self, plan: PlannedAction, result: ActionResult, judgement: Judgement, sources: tuple[int, ...]
    ) -> Answer | None:
        here, action = self.memory.here, plan.action
        if judgement.ruling == "not informative" or self._is_identified(judgement):
            self.memory.exclude(action, result.detected.number if result.detected else None)
            self._note_transition(here, action, here.state)
            return None
        text = judgement.finding or _shorten(result.text)
        if judgement.answer is not None:
            text = f"{here.query} {judgement.answer}" if not judgement.finding else judgement.finding
        finding = StepFinding(self.calls, action, text, sources)
        node = self._next(here, action, result, finding)
        self.memory.go(node if judgement.answer is None else self._after_answer(node, judgement.answer))
        self._note_transition(here, action, action)
        if judgement.answer is None or (here.phase == "visual" and self.parts.knowledge is not None):
            return None
        return conclude(ShortAnswer(judgement.answer), node.findings, self.memory, self.episode)

    def _is_identified(self, judgement: Judgement) -> bool:
        """Whether the visual question got this answer before, and the search went back from it."""
        is_visual = self.memory.here.phase == "visual" and self.parts.knowledge is not None
        if not self.config.saves_calls or not is_visual or judgement.answer is None:
            return False
        answer = " ".join(judgement.answer.casefold().split())
        is_again = answer in self.identified
        self.identified.add(answer)
        if is_again:
            self.episode.note(
                "followed_before", answer=judgement.answer, why="the search went back from this answer"
            )
        return is_again

    def _next(
        self, here: SearchNode, action: Action, result: ActionResult, finding: StepFinding
    ) -> SearchNode:
        node = SearchNode(here.phase, here.query, action, (*here.findings, finding), here.focus, here.think)
        return replace(node, focus=result.detected.number, think=result.think) if result.detected else node

    def _after_answer(self, node: SearchNode, answer: str) -> SearchNode:
        """The node after an answer: once the visual question is answered, the knowledge question is next."""
        if node.phase == "knowledge" or self.parts.knowledge is None:
            return node
        query = self.parts.knowledge_query(answer)
        self.episode.note("visual_answer", step=self.calls, answer=answer, query=query)
        return replace(node, phase="knowledge", query=query)

    def _note_transition(self, before: SearchNode, action: Action, to: str) -> None:
        """Note the transition, and the working memory after it."""
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


@dataclass(frozen=True, slots=True)
class ActionResult:
    """text: what the reasoner is to judge; if it is empty, `why` says why. detected: the object that was chosen.

    looked_up, hits: of a search by image.
    """

    text: str = ""
    why: str = ""
    sources: tuple[Source, ...] = ()
    detected: DetectedObject | None = None
    think: str = ""
    looked_up: Picture | None = None
    hits: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class ToolExecutor:
    """Takes actions: builds the request for a tool, and brings its observation into one form.

    saves_calls: a single object is selected without a selector; the reasoner judges whether it is meant.
    """

    episode: Episode
    toolbox: Toolbox
    image: ImageContext
    saves_calls: bool = True

    def can(self, action: Action, node: SearchNode) -> bool:
        """Whether there is a tool for the action, and something for it to look at."""
        if self.toolbox.tool_of(action) is None:
            return False
        match action:
            case "object_select":
                return any(detected.number not in node.rejected for detected in self.image.objects)
            case "vqa" | "identical_image_search" | "image_search":
                return self.image.picture is not None
            case _:
                return True

    def key(self, plan: PlannedAction, node: SearchNode) -> tuple[object, ...] | None:
        """Equal for actions with the same outcome; None for an action that chooses again each time."""
        if plan.action == "object_select":
            return None
        focus = node.focus if plan.action == "image_search" else None
        return plan.action, " ".join((plan.query or "").casefold().split()), focus, node.query

    def act(self, plan: PlannedAction, node: SearchNode) -> ActionResult:
        """Take a feasible action."""
        tool = self.toolbox.tool_of(plan.action) or ""
        match plan.action:
            case "object_select":
                return self._select(node)
            case "identical_image_search":
                request = ToolRequest(picture=self.image.picture)
            case "image_search":
                part = self.image.picture if node.focus is None else self.image.object_at(node.focus).picture
                request = ToolRequest(picture=part)
            case "vqa":
                request = ToolRequest(plan.query or node.query, self.image.picture)
            case "web_search":
                request = ToolRequest(plan.query or node.query)
            case "llm_qa":
                context = "" if not node.findings else node.known
                request = ToolRequest(plan.query or node.query, options={"context": context, "long": False})
        seen = self.toolbox.call_tool(tool, request)
        result = _result(seen)
        if result.text and plan.action in ("identical_image_search", "image_search"):
            return replace(result, looked_up=request.picture, hits=tuple(hits_of(seen)))
        return result

    def _select(self, node: SearchNode) -> ActionResult:
        candidates = [detected for detected in self.image.objects if detected.number not in node.rejected]
        if self.saves_calls and len(candidates) == 1:
            return ActionResult(candidates[0].block(), detected=candidates[0], think="it is the only object")
        detected, think = choose(node, candidates, self.episode)
        if detected is None:
            return ActionResult(why=think)
        return ActionResult(detected.block(), detected=detected, think=think)


def _result(seen: Observation) -> ActionResult:
    if seen.error is not None:
        return ActionResult(why=seen.error)
    is_search = isinstance(seen.data, dict) and "hits" in seen.data
    if not seen.text.strip() or (is_search and not hits_of(seen)):
        return ActionResult(why="the tool found nothing")
    return ActionResult(seen.text, sources=seen.sources)


def open_images(hits: Sequence[Mapping[str, Any]]) -> Iterator[Picture]:
    """The first images that a search of the user's collection found; what is no readable file is left out."""
    found = 0
    for hit in hits:
        path = hit.get("path")
        if not isinstance(path, str) or found == _MOST_SHOWN:
            continue
        try:
            yield read(path)
        except ImageError:
            continue
        found += 1


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _FINDING_CHARS else flat[: _FINDING_CHARS - 1] + "…"
