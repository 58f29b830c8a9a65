"""Ask the roles of AVIS: the planner, the selector and the reasoner, and for the answer at the end.

Every request is a separate conversation. A reply that cannot be read is asked for once more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from pyvision.agent.episode import Episode
from pyvision.errors import EndReason
from pyvision.strategies.avis.actions import ACTIONS, Action, PlannerExample, examples_to_show, purposes
from pyvision.strategies.avis.memory import Memory, SearchNode, StepFinding
from pyvision.strategies.avis.perception import DetectedObject, block
from pyvision.strategies.avis.reply_parsing import (
    Decomposition,
    Judgement,
    PlannedAction,
    find_decomposition,
    find_judgement,
    find_object,
    find_plan,
    is_refusal,
    says_enough,
    says_nothing,
)
from pyvision.strategies.avis.reply_parsing import find_answer as find_labelled
from pyvision.text.answers import read_answer
from pyvision.text.prompts import load, render
from pyvision.text.replies import reply_message, without_thinking
from pyvision.text.sanitize import sanitize
from pyvision.types import Answer, Message, Picture, Question, Reply, Text

Found = TypeVar("Found")
NOTHING = Judgement("not informative")
_DECLINED = "it declined"
_OUR_TAGS = re.compile(
    r"<[\s/]*(?:query|context|actions|objects|known|observation|sources|seen)\b[^<>]{0,100}>", re.IGNORECASE
)
_UNLABELLED_CHARS = 200  # of a reply that may be an answer although it does not label one
_MAX_SEEN, _SEEN_CHARS = 6, 700


@dataclass(frozen=True, slots=True)
class RolePrompt:
    """A prompt of prompts/avis for a role. repair: the prompt that follows a reply that cannot be read."""

    role: str
    prompt: str
    variables: Mapping[str, object]
    repair: str
    repair_variables: Mapping[str, object]
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class Enough:
    """A planner's decision that what is known answers the question."""


@dataclass(frozen=True, slots=True)
class Planner:
    """Chooses which of the feasible actions to take, and with which query (Algorithm 1).

    A reply that names no feasible action, or one already taken with this query, is asked for once more; then the first
    action by the graph's preference is taken.
    pools: the examples of each action. shots: how many of each are shown. is_taken: whether a plan was carried out
    before, with the same query.
    """

    episode: Episode
    pools: Mapping[str, Sequence[PlannerExample]]
    shots: int
    is_taken: Callable[[PlannedAction, SearchNode], bool]

    def plan(
        self, node: SearchNode, feasible: Sequence[Action], context: Sequence[str], *, may_end: bool = False
    ) -> PlannedAction | None:
        """One of the feasible actions, of which there must be one; None if enough is known, which `may_end` allows.

        A single action that takes no text and was not taken yet is no choice: the planner is not asked.
        """
        only = PlannedAction(feasible[0])
        repaired = False
        found: PlannedAction | Enough | None = None
        is_choice = len(feasible) > 1 or may_end or ACTIONS[only.action].takes_query
        if is_choice or self.is_taken(only, node):
            request = self._request(node, feasible, context, may_end=may_end)
            found, repaired = parse_or_retry(
                self.episode, request, lambda reply: self._read(reply, node, feasible, may_end=may_end)
            )
        if isinstance(found, Enough):
            self.episode.note("enough", state=node.state, known=len(node.findings))
            return None
        plan = found or self._preference(node, feasible)
        by = (
            "repair"
            if found and repaired
            else "planner"
            if found
            else "preference"
            if is_choice
            else "no choice"
        )
        return self.note(node, feasible, _with_query(plan, node), by)

    def note(
        self, node: SearchNode, feasible: Sequence[Action], plan: PlannedAction, by: str
    ) -> PlannedAction:
        """The plan, after it was noted with who made it."""
        self.episode.note(
            "plan",
            state=node.state,
            feasible=list(feasible),
            excluded=sorted(node.excluded),
            rejected=sorted(node.rejected),
            action=plan.action,
            query=plan.query,
            by=by,
        )
        return plan

    def _preference(self, node: SearchNode, feasible: Sequence[Action]) -> PlannedAction:
        plans = [_with_query(PlannedAction(action), node) for action in feasible]
        return next((plan for plan in plans if not self.is_taken(plan, node)), plans[0])

    def _request(
        self, node: SearchNode, feasible: Sequence[Action], context: Sequence[str], *, may_end: bool
    ) -> RolePrompt:
        descriptions = purposes()
        pools = {action: tuple(pool) for action, pool in self.pools.items()}
        examples = examples_to_show(pools, feasible, self.shots)
        variables = {
            "query": node.query,
            "part": node.phase,
            "actions": "\n".join(f"- {name}: {descriptions[name]}" for name in feasible),
            "examples": f"\nWhat others did:\n\n{examples}\n" if examples else "",
            "context": sanitize_quote(block("Context:", context)),
            "enough": load("avis/enough_known.md") if may_end else "",
        }
        return RolePrompt("planner", "plan", variables, "plan_repair", {"names": ", ".join(feasible)})

    def _read(
        self, reply: str, node: SearchNode, feasible: Sequence[Action], *, may_end: bool
    ) -> PlannedAction | Enough | str:
        if may_end and says_enough(reply):
            return Enough()
        plan = find_plan(reply)
        if plan is None:
            return "it does not name exactly one step"
        if plan.action in feasible:
            query = _with_query(plan, node)
            is_again = self.is_taken(query, node)
            return f"{plan.action} was already asked this: {query.query}" if is_again else plan
        if plan.action in node.excluded:
            return f"{plan.action} was tried from here and found nothing"
        return f"{plan.action} cannot be taken now"


@dataclass(frozen=True, slots=True)
class ToolEvidence:
    """What a reasoner judges: what a tool found, and for which query. sources: the numbers of its sources.

    pictures: what was looked up, then what was found; empty for a reasoner without vision.
    """

    query: str
    tool: str
    text: str
    sources: tuple[int, ...] = ()
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchTrace:
    """What a search leaves. seen: what every tool found, in order. unusable: which tools the user has to fix."""

    question: Question
    memory: Memory
    seen: tuple[str, ...]
    unusable: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """The answer in a reply. is_last_resort: it is the whole reply, which gives no answer in any form."""

    text: str
    is_last_resort: bool = False


def decompose(question: Question, episode: Episode) -> Decomposition:
    """The visual and the knowledge question; without an image, all of it is the knowledge question.

    If neither reply can be read, the whole question is the visual one.
    """
    if not question.images:
        episode.note("no_image", why="the question has no image to look at")
        return Decomposition(None, question.text)
    request = RolePrompt("decomposer", "decompose", {"question": question.text}, "decompose_repair", {})
    found, repaired = parse_or_retry(
        episode, request, lambda reply: find_decomposition(reply) or "one of the two lines is missing"
    )
    parts = found or Decomposition(question.text, None)
    by = "repair" if found and repaired else "decomposer" if found else "fallback"
    episode.note("decomposed", visual=parts.visual, knowledge=parts.knowledge or "#", by=by)
    return parts


def choose(
    node: SearchNode, objects: Sequence[DetectedObject], episode: Episode
) -> tuple[DetectedObject | None, str]:
    """One of the objects and why it was chosen; None if none of them is meant, or if no reply names one."""
    numbers = {detected.number: detected for detected in objects}
    names = ", ".join(str(number) for number in numbers)
    blocks = sanitize_quote("\n".join(detected.block() for detected in objects))
    request = RolePrompt(
        "selector", "select", {"query": node.query, "objects": blocks}, "select_repair", {"names": names}
    )

    def read(reply: str) -> tuple[int, str] | str:
        number = find_object(reply)
        if number is None:
            return "it names no object"
        return (number, reply) if number in (0, *numbers) else f"there is no object {number} to choose"

    found, _ = parse_or_retry(episode, request, read)
    if found is None or found[0] == 0:
        return None, "no object was chosen"
    return numbers[found[0]], " ".join(found[1].split())


def judge(evidence: ToolEvidence, node: SearchNode, memory: Memory, episode: Episode) -> Judgement:
    """What an observation is worth for the query; not informative if neither reply can be read.

    If a reply says that the question can be answered, but neither one gives an answer, the observation is informative.
    """
    variables = {
        "query": evidence.query,
        "known": sanitize_quote(node.known),
        "tool": evidence.tool,
        "observation": sanitize_quote(evidence.text),
        "sources": sanitize_quote(memory.format_sources(evidence.sources)) or "(none)",
        "form": render("avis/verdict.md"),
        "examples": load(f"avis/reasoner_{node.phase}.md").rstrip("\n"),
    }
    if node.phase == "visual":
        variables["seen"] = f" {load('avis/seen.md').strip()}" if evidence.pictures else ""
    request = RolePrompt(
        "reasoner", f"reason_{node.phase}", variables, "reason_repair", {}, evidence.pictures
    )
    has_type = node.phase == "visual"
    unfinished: list[Judgement] = []

    def read(reply: str) -> Judgement | str:
        judgement = find_judgement(reply, has_type=has_type)
        if judgement is None:
            return "it holds neither a verdict nor an answer"
        if judgement.ruling == "answerable" and judgement.answer is None:
            unfinished.append(replace(judgement, ruling="informative"))
            return "it says that the question can be answered, but gives no answer"
        return judgement

    found, _ = parse_or_retry(episode, request, read)
    return found or (unfinished[-1] if unfinished else NOTHING)


def conclude(
    answer: ShortAnswer, findings: Sequence[StepFinding], memory: Memory, episode: Episode
) -> Answer:
    """An answer that the reasoner found; the note `answer` lists the sources and steps that it rests on."""
    _note_answer(answer.text, findings, memory, episode, remark=None)
    return Answer(answer.text, is_last_resort=answer.is_last_resort)


def answer_from_known(
    question: Question, node: SearchNode, memory: Memory, episode: Episode
) -> Answer | None:
    """The answer from what is known, as the planner wished; None if it does not answer the question after all."""
    variables: dict[str, object] = {
        "question": question.full_text,
        "query": node.query,
        "known": sanitize_quote(node.known),
    }
    reply, _ = send(episode, RolePrompt("reasoner", "enough", variables, "", {}, question.images))
    answer = read_short(reply)
    if answer is None or answer.is_last_resort:
        episode.note("not_enough", why="the reasoner found no answer in what is known")
        return None
    return conclude(answer, node.findings, memory, episode)


def give_best(why: str, end_reason: EndReason, trace: SearchTrace, episode: Episode) -> Answer:
    """Ask for the best answer that can be given now; its remark says so."""
    question, memory = trace.question, trace.memory
    node = memory.furthest
    variables: dict[str, object] = {
        "why": why,
        "question": question.full_text,
        "query": node.query,
        "known": sanitize_quote(node.known),
        "seen": sanitize_quote("\n".join(text[:_SEEN_CHARS] for text in trace.seen[-_MAX_SEEN:]))
        or "(nothing)",
    }
    episode.note("forced", why=why, end_reason=end_reason)
    reply, _ = send(episode, RolePrompt("reasoner", "forced", variables, "", {}, question.images))
    remark = "; ".join([f"best effort: {why}", *trace.unusable])
    answer = read_short(reply)
    if answer is None:
        return Answer(
            None, "refused" if _is_refusal(reply) else "no_answer", f"no answer, not even a guess; {remark}"
        )
    _note_answer(answer.text, node.findings, memory, episode, remark=remark)
    return Answer(answer.text, end_reason, remark, answer.is_last_resort)


def read_short(reply: Reply) -> ShortAnswer | None:
    """The answer of a reply that was asked for one; as a last resort the whole of a short reply.

    None for a refusal, also for one in words.
    """
    if _is_refusal(reply):
        return None
    text = without_thinking(reply.text).strip()
    read = read_answer(reply)
    found = read.text if isinstance(read, Answer) else find_labelled(text)
    if found is not None:
        return None if says_nothing(found) else ShortAnswer(found)
    is_short = "\n" not in text and len(text) <= _UNLABELLED_CHARS and ":" not in text
    return ShortAnswer(text, is_last_resort=True) if text and is_short else None


def send(episode: Episode, request: RolePrompt) -> tuple[Reply, tuple[Message, ...]]:
    """One reply, and the conversation that it belongs to."""
    prompt = render(f"avis/{request.prompt}.md", **request.variables)
    messages = (Message("user", (*request.pictures, Text(prompt))),)
    return episode.ask(request.role, messages), messages


def parse_or_retry(
    episode: Episode, request: RolePrompt, read: Callable[[str], Found | str]
) -> tuple[Found | None, bool]:
    """What `read` finds in the reply, and whether the role was asked again; None if that failed too.

    read: returns the reason as a text if a reply cannot be used. After a refusal, which decides nothing whatever it
    names, or when the budget allows only one more reply, the role is not asked again.
    """
    reply, messages = send(episode, request)
    found = _DECLINED if _is_refusal(reply) else read(reply.text)
    if not isinstance(found, str):
        return found, False
    episode.note("malformed", role=request.role, why=found)
    if found == _DECLINED or episode.last_call():
        return None, False
    repair = render(f"avis/{request.repair}.md", why=found, **request.repair_variables)
    earlier = reply_message(reply)
    second = episode.ask(request.role, (*messages, earlier, Message("user", (Text(repair),))))
    again = _DECLINED if _is_refusal(second) else read(second.text)
    if isinstance(again, str):
        episode.note("malformed", role=request.role, why=again)
        return None, True
    return again, True


def sanitize_quote(text: str, limit: int = 6000) -> str:
    """What a tool returned, safe to put between our tags: it cannot forge any of them."""
    return _OUR_TAGS.sub(lambda tag: tag[0].replace("<", "‹").replace(">", "›"), sanitize(text, limit))


def _is_refusal(reply: Reply) -> bool:
    return reply.finish == "refusal" or is_refusal(reply.text)


def _with_query(plan: PlannedAction, node: SearchNode) -> PlannedAction:
    """The plan with the query that its tool will get."""
    return PlannedAction(
        plan.action, (plan.query or node.query) if ACTIONS[plan.action].takes_query else None
    )


def _note_answer(
    answer: str, findings: Sequence[StepFinding], memory: Memory, episode: Episode, remark: str | None
) -> None:
    numbers = sorted({number for finding in findings for number in finding.sources})
    sources = [
        {"number": n, "title": memory.sources[n - 1].title, "address": memory.sources[n - 1].address}
        for n in numbers
    ]
    steps = [finding.step for finding in findings]
    episode.keep_finding("sources", sources)
    episode.note("answer", answer=answer, sources=sources, steps=steps, forced=remark is not None)
