"""The roles beside the planner: the question is taken apart, an object chosen, an observation judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyvision.agent.episode import Episode
from pyvision.strategies.avis.memory import Memory, Visit
from pyvision.strategies.avis.perception import Thing
from pyvision.strategies.avis.reply_parsing import Parts, Verdict, find_object, find_parts, find_verdict
from pyvision.strategies.avis.role_client import Request, quoted, understood
from pyvision.text.prompts import render
from pyvision.types import Question

NOTHING = Verdict("not informative")


@dataclass(frozen=True, slots=True)
class Exhibit:
    """What a reasoner judges: what a tool gave, for which query. sources: the numbers of those that it came from."""

    query: str
    tool: str
    text: str
    sources: tuple[int, ...] = ()


def take_apart(question: Question, episode: Episode) -> Parts:
    """The visual and the knowledge question; without a picture all is knowledge.

    A reply that cannot be read twice leaves the question whole, to be answered from the picture.
    """
    if not question.images:
        episode.note("no_image", why="the question has no picture; there is nothing to look at")
        return Parts(None, question.text)
    request = Request("decomposer", "decompose", {"question": question.text}, "decompose_repair", {})
    found, repaired = understood(
        episode, request, lambda reply: find_parts(reply) or "a line of the two is missing"
    )
    parts = found or Parts(question.text, None)
    by = "repair" if found and repaired else "decomposer" if found else "fallback"
    episode.note("decomposed", visual=parts.visual, knowledge=parts.knowledge or "#", by=by)
    return parts


def choose(visit: Visit, things: Sequence[Thing], episode: Episode) -> tuple[Thing | None, str]:
    """One of the things, or none, and why. Where twice none of them is named, it is none."""
    numbers = {thing.number: thing for thing in things}
    names = ", ".join(str(number) for number in numbers)
    blocks = quoted("\n".join(thing.block() for thing in things))
    request = Request(
        "selector", "select", {"query": visit.query, "objects": blocks}, "select_repair", {"names": names}
    )

    def read(reply: str) -> tuple[int, str] | str:
        number = find_object(reply)
        if number is None:
            return "no object is named in it"
        return (number, reply) if number in (0, *numbers) else f"there is no object {number} to choose"

    found, _ = understood(episode, request, read)
    if found is None or found[0] == 0:
        return None, "no object was chosen"
    return numbers[found[0]], " ".join(found[1].split())


def judge(exhibit: Exhibit, visit: Visit, memory: Memory, episode: Episode) -> Verdict:
    """What an observation is worth for the query; not informative where the reasoner twice says nothing readable."""
    variables = {
        "query": exhibit.query,
        "known": quoted(known(visit)),
        "tool": exhibit.tool,
        "observation": quoted(exhibit.text),
        "sources": quoted(memory.listed(exhibit.sources)) or "(none)",
        "form": render("avis/verdict.md"),
    }
    request = Request("reasoner", f"reason_{visit.phase}", variables, "reason_repair", {})
    has_type = visit.phase == "visual"
    found, _ = understood(
        episode,
        request,
        lambda reply: find_verdict(reply, has_type=has_type) or "neither a verdict nor an answer is in it",
    )
    return found or NOTHING


def known(visit: Visit) -> str:
    """What was found on the way to this visit, one item a line."""
    lines = [f"- {finding.text}" for finding in visit.findings]
    if visit.think:
        lines.append(f"- chosen object #{visit.focus}: {visit.think}")
    return "\n".join(lines) or "(nothing yet)"
