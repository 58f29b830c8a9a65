"""The roles beside the planner: the question is taken apart, an object chosen, an observation judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyvision.agent.episode import Episode
from pyvision.strategies.avis.memory import Memory, Node
from pyvision.strategies.avis.perception import DetectedObject
from pyvision.strategies.avis.reply_parsing import Parts, Verdict, find_object, find_parts, find_verdict
from pyvision.strategies.avis.role_client import Request, parse_or_retry, sanitize_quote
from pyvision.text.prompts import render
from pyvision.types import Question

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
