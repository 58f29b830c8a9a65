"""End a walk: an answer with the sources that it rests on, or the best that can be said where the search has to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyvision.agent.episode import Episode
from pyvision.errors import EndReason, FormatError
from pyvision.strategies.avis.memory import Finding, Memory
from pyvision.strategies.avis.reasoner import known
from pyvision.strategies.avis.reply_parsing import find_answer as find_labelled
from pyvision.strategies.avis.reply_parsing import says_nothing
from pyvision.strategies.avis.role_client import Request, sanitize_quote, send
from pyvision.text.replies import find_answer, without_thinking
from pyvision.types import Answer, Question, Reply

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
