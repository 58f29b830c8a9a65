"""Ask the roles of AVIS: every request is a conversation of its own, once more where a reply cannot be read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pyvision.agent.episode import Episode
from pyvision.errors import EndReason, FormatError
from pyvision.strategies.avis.actions import ACTIONS, Action, Example, examples_to_show, purposes
from pyvision.strategies.avis.memory import Finding, Memory, Node
from pyvision.strategies.avis.perception import DetectedObject, block
from pyvision.strategies.avis.reply_parsing import (
    Parts,
    Plan,
    Verdict,
    find_object,
    find_parts,
    find_plan,
    find_verdict,
    says_nothing,
)
from pyvision.strategies.avis.reply_parsing import find_answer as find_labelled
from pyvision.text.prompts import render
from pyvision.text.replies import find_answer, without_thinking
from pyvision.text.sanitize import sanitize
from pyvision.types import Answer, Message, Picture, Question, Reply, Text

Found = TypeVar("Found")
_OURS = re.compile(
    r"<[\s/]*(?:query|context|actions|objects|known|observation|sources|seen)\b[^<>]{0,100}>", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt of prompts/avis for a role. repair: the prompt that follows a reply that cannot be read."""

    role: str
    prompt: str
    variables: Mapping[str, object]
    repair: str
    repair_variables: Mapping[str, object]
    pictures: tuple[Picture, ...] = ()


def sanitize_quote(text: str, limit: int = 6000) -> str:
    """What a tool gave, fit to stand between our tags: none of them can be forged in it."""
    return _OURS.sub(lambda tag: tag[0].replace("<", "‹").replace(">", "›"), sanitize(text, limit))


def send(episode: Episode, request: Request) -> tuple[Reply, tuple[Message, ...]]:
    """One reply, and the conversation that it belongs to."""
    prompt = render(f"avis/{request.prompt}.md", **request.variables)
    messages = (Message("user", (*request.pictures, Text(prompt))),)
    return episode.ask(request.role, messages), messages


def parse_or_retry(
    episode: Episode, request: Request, read: Callable[[str], Found | str]
) -> tuple[Found | None, bool]:
    """What `read` makes of the reply, and whether the role had to be asked again; None where that failed too.

    read: gives a text, why a reply cannot be used, in place of what was looked for. A refusal, and a budget that holds
    one reply only, leave no second try.
    """
    reply, messages = send(episode, request)
    found = read(reply.text)
    if not isinstance(found, str):
        return found, False
    episode.note("malformed", role=request.role, why=found)
    if reply.finish == "refusal" or episode.last_call():
        return None, False
    told = render(f"avis/{request.repair}.md", why=found, **request.repair_variables)
    said = Message("assistant", (Text(reply.text.strip() or "(empty)"),))
    again = read(episode.ask(request.role, (*messages, said, Message("user", (Text(told),)))).text)
    if isinstance(again, str):
        episode.note("malformed", role=request.role, why=again)
        return None, True
    return again, True


# ---- The planner: which of the actions that can be taken now is taken, and with which query (Algorithm 1).
# ----
# ---- A reply that names no such action, or one that would ask the same again, is asked for once more; then the first one by
# ---- the graph's preference is taken.


@dataclass(frozen=True, slots=True)
class Planner:
    """pools: the examples of each action. shots: how many of each are shown. is_taken: whether a plan was carried out
    before, with the same query.
    """

    episode: Episode
    pools: Mapping[str, Sequence[Example]]
    shots: int
    is_taken: Callable[[Plan, Node], bool]

    def plan(self, node: Node, feasible: Sequence[Action], context: Sequence[str]) -> Plan:
        """One of the feasible actions; there has to be one."""
        request = self._request(node, feasible, context)
        found, repaired = parse_or_retry(
            self.episode, request, lambda reply: self._read(reply, node, feasible)
        )
        plan = found or self._preferred(node, feasible)
        by = "repair" if found and repaired else "planner" if found else "preference"
        query = _ask(plan, node).query
        self.episode.note(
            "plan",
            state=node.state,
            feasible=list(feasible),
            excluded=sorted(node.excluded),
            rejected=sorted(node.rejected),
            action=plan.action,
            query=query,
            by=by,
        )
        return Plan(plan.action, query)

    def _preferred(self, node: Node, feasible: Sequence[Action]) -> Plan:
        plans = [_ask(Plan(action), node) for action in feasible]
        return next((plan for plan in plans if not self.is_taken(plan, node)), plans[0])

    def _request(self, node: Node, feasible: Sequence[Action], context: Sequence[str]) -> Request:
        told = purposes()
        variables = {
            "query": node.query,
            "part": node.phase,
            "actions": "\n".join(f"- {name}: {told[name]}" for name in feasible),
            "examples": _examples({a: tuple(p) for a, p in self.pools.items()}, feasible, self.shots),
            "context": sanitize_quote(block("Context:", context)),
        }
        return Request("planner", "plan", variables, "plan_repair", {"names": ", ".join(feasible)})

    def _read(self, reply: str, node: Node, feasible: Sequence[Action]) -> Plan | str:
        plan = find_plan(reply)
        if plan is None:
            return "no single step is named in it"
        if plan.action in feasible:
            asked = _ask(plan, node)
            is_again = self.is_taken(asked, node)
            return f"{plan.action} was asked that before: {asked.query}" if is_again else plan
        if plan.action in node.excluded:
            return f"{plan.action} was tried from here and brought nothing"
        return f"{plan.action} cannot be taken now"


def _ask(plan: Plan, node: Node) -> Plan:
    """The plan with the query that its tool will get."""
    return Plan(plan.action, (plan.query or node.query) if ACTIONS[plan.action].takes_query else None)


def _examples(pools: Mapping[str, tuple[Example, ...]], feasible: Sequence[Action], most: int) -> str:
    text = examples_to_show(pools, feasible, most)
    return f"\nWhat others did:\n\n{text}\n" if text else ""


# ---- The roles beside the planner: the question is taken apart, an object chosen, an observation judged.


NOTHING = Verdict("not informative")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a reasoner judges: what a tool gave, for which query. sources: the numbers of those that it came from."""

    query: str
    tool: str
    text: str
    sources: tuple[int, ...] = ()


def decompose(question: Question, episode: Episode) -> Parts:
    """The visual and the knowledge question; without a picture all is knowledge.

    A reply that cannot be read twice leaves the question whole, to be answered from the picture.
    """
    if not question.images:
        episode.note("no_image", why="the question has no picture; there is nothing to look at")
        return Parts(None, question.text)
    request = Request("decomposer", "decompose", {"question": question.text}, "decompose_repair", {})
    found, repaired = parse_or_retry(
        episode, request, lambda reply: find_parts(reply) or "a line of the two is missing"
    )
    parts = found or Parts(question.text, None)
    by = "repair" if found and repaired else "decomposer" if found else "fallback"
    episode.note("decomposed", visual=parts.visual, knowledge=parts.knowledge or "#", by=by)
    return parts


def choose(
    node: Node, objects: Sequence[DetectedObject], episode: Episode
) -> tuple[DetectedObject | None, str]:
    """One of the things, or none, and why. Where twice none of them is named, it is none."""
    numbers = {detected.number: detected for detected in objects}
    names = ", ".join(str(number) for number in numbers)
    blocks = sanitize_quote("\n".join(detected.block() for detected in objects))
    request = Request(
        "selector", "select", {"query": node.query, "objects": blocks}, "select_repair", {"names": names}
    )

    def read(reply: str) -> tuple[int, str] | str:
        number = find_object(reply)
        if number is None:
            return "no object is named in it"
        return (number, reply) if number in (0, *numbers) else f"there is no object {number} to choose"

    found, _ = parse_or_retry(episode, request, read)
    if found is None or found[0] == 0:
        return None, "no object was chosen"
    return numbers[found[0]], " ".join(found[1].split())


def judge(evidence: Evidence, node: Node, memory: Memory, episode: Episode) -> Verdict:
    """What an observation is worth for the query; not informative where the reasoner twice says nothing readable."""
    variables = {
        "query": evidence.query,
        "known": sanitize_quote(known(node)),
        "tool": evidence.tool,
        "observation": sanitize_quote(evidence.text),
        "sources": sanitize_quote(memory.listed(evidence.sources)) or "(none)",
        "form": render("avis/verdict.md"),
    }
    request = Request("reasoner", f"reason_{node.phase}", variables, "reason_repair", {})
    has_type = node.phase == "visual"
    found, _ = parse_or_retry(
        episode,
        request,
        lambda reply: find_verdict(reply, has_type=has_type) or "neither a verdict nor an answer is in it",
    )
    return found or NOTHING


def known(node: Node) -> str:
    """What was found on the way to this visit, one item a line."""
    lines = [f"- {finding.text}" for finding in node.findings]
    if node.think:
        lines.append(f"- chosen object #{node.focus}: {node.think}")
    return "\n".join(lines) or "(nothing yet)"


# ---- End a walk: an answer with the sources that it rests on, or the best that can be said where the search has to end.


_BARE_ANSWER = 200  # characters of a reply that may be an answer without saying so
_MOST_SEEN, _SEEN_CHARS = 6, 700


@dataclass(frozen=True, slots=True)
class SearchTrace:
    """What a search leaves. seen: what every tool gave, in order. unusable: what the user has to mend of the tools."""

    question: Question
    memory: Memory
    seen: tuple[str, ...]
    unusable: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """What a reply gives. is_last_resort: it is the whole of a reply that gives no answer in any form."""

    text: str
    is_last_resort: bool = False


def conclude(answer: ShortAnswer, findings: Sequence[Finding], memory: Memory, episode: Episode) -> Answer:
    """An answer that the reasoner found; the note `answer` says which sources and steps it rests on."""
    _note(answer.text, findings, memory, episode, remark=None)
    return Answer(answer.text, is_last_resort=answer.is_last_resort)


def give_best(why: str, end_reason: EndReason, trace: SearchTrace, episode: Episode) -> Answer:
    """Ask for the best answer that can be given now; its remark says that it is one."""
    question, memory = trace.question, trace.memory
    node = memory.furthest
    variables: dict[str, object] = {
        "why": why,
        "question": question.full_text,
        "query": node.query,
        "known": sanitize_quote(known(node)),
        "seen": sanitize_quote("\n".join(text[:_SEEN_CHARS] for text in trace.seen[-_MOST_SEEN:]))
        or "(nothing)",
    }
    episode.note("forced", why=why, end_reason=end_reason)
    reply, _ = send(episode, Request("reasoner", "forced", variables, "", {}, question.images))
    remark = "; ".join([f"best effort: {why}", *trace.unusable])
    answer = read_short(reply)
    if answer is None:
        refused = reply.finish == "refusal"
        return Answer(None, "refused" if refused else "no_answer", f"no answer even as a guess; {remark}")
    _note(answer.text, node.findings, memory, episode, remark=remark)
    return Answer(answer.text, end_reason, remark, answer.is_last_resort)


def read_short(reply: Reply) -> ShortAnswer | None:
    """The answer of a reply that was asked for one; as a last resort the whole of a short one."""
    if reply.finish == "refusal":
        return None
    text = without_thinking(reply.text).strip()
    try:
        found = find_answer(reply.text)
    except FormatError:
        found = None
    found = found or find_labelled(text)
    if found is not None:
        return None if says_nothing(found) else ShortAnswer(found)
    is_short = "\n" not in text and len(text) <= _BARE_ANSWER and ":" not in text
    return ShortAnswer(text, is_last_resort=True) if text and is_short else None


def _note(
    answer: str, findings: Sequence[Finding], memory: Memory, episode: Episode, remark: str | None
) -> None:
    numbers = sorted({number for finding in findings for number in finding.sources})
    sources = [
        {"number": n, "title": memory.sources[n - 1].title, "address": memory.sources[n - 1].address}
        for n in numbers
    ]
    steps = [finding.step for finding in findings]
    episode.note("answer", answer=answer, sources=sources, steps=steps, forced=remark is not None)
