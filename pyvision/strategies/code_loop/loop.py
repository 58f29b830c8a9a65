"""The loop of CodeLoop: ask, run the code in the reply, show its output, until there is an answer."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from pyvision.agent.episode import Episode
from pyvision.agent.evidence import derive_evidence, trace_evidence
from pyvision.errors import EndReason, FormatError
from pyvision.strategies.code_loop.turns import check_prompt, observe, open_conversation
from pyvision.text.evidence import find_evidence, without_evidence
from pyvision.text.prompts import render
from pyvision.text.replies import (
    code_is_cut,
    count_dropped_blocks,
    describe_unusable,
    find_answer,
    find_code,
    has_hallucinated_output,
    holds_code,
    last_resort_answer,
    reply_message,
)
from pyvision.tools.cell_functions import NO_TOOLS, ROLES, ToolNames
from pyvision.types import Answer, Message, Part, Question, Reply, Text

STOP = "</code>"
_SAME_FAILURE = 3  # failures of one cell in one way before the model is warned; one more ends the run
_FEW_TURNS = 3  # turns left from which on the model sees how many


@dataclass(frozen=True, slots=True)
class CodeLoop:
    """Think, write a cell, look, repeat; more than `repairs` malformed replies in a row end the run.

    prompt_file, prompt: an upstream PyVision prompt JSON and the template in it, in place of our own prompts.
    output_chars: how much text of one cell is shown to the model; long text loses its middle. tools: those that a cell
    may call as `host.NAME(…)`; our own prompts describe them, an upstream prompt has to do so itself. evidence: ask for
    what the answer rests on; where the model cites nothing, it is derived from what it looked at last.
    """

    continues: ClassVar[bool] = True
    runs_code: ClassVar[bool] = True
    repairs: int = 3
    output_chars: int = 8000
    prompt_file: Path | None = None
    prompt: str | None = None
    tools: ToolNames = NO_TOOLS
    evidence: bool = False

    def __post_init__(self) -> None:
        check_prompt(self.prompt_file, self.prompt)

    @property
    def needs(self) -> tuple[str, ...]:
        return self.tools

    @property
    def roles(self) -> tuple[str, ...]:
        return ("solver", *(name for name in self.tools if name in ROLES))

    def solve(self, question: Question, episode: Episode) -> Answer:
        tools = {name: episode.tools[name].purpose for name in self.tools}
        libraries = episode.expect_code()
        views = episode.views("solver", question.named_images)
        messages, turn = open_conversation(question, self.prompt_file, self.prompt, tools, libraries, views)
        if self.evidence:
            turn = (*turn, Text("\n\n" + render("code_loop/evidence.md")))
        loop = _Loop(self, episode)
        if question.earlier.pending:
            follows = loop.after(Reply(messages[-1].text), last=None)
            if isinstance(follows, Answer):
                return follows
            turn = follows
        while True:
            last = episode.last_call()
            messages = (*messages, Message("user", (*turn, *_notice(episode))))
            reply = episode.ask("solver", messages, stop=() if last else (STOP,))
            messages = (*messages, reply_message(reply))
            follows = loop.after(self._without_evidence(reply), last)
            if isinstance(follows, Answer):
                return self._with_evidence(follows, reply, episode)
            turn = follows

    def _without_evidence(self, reply: Reply) -> Reply:
        return replace(reply, text=without_evidence(reply.text)) if self.evidence else reply

    def _with_evidence(self, answer: Answer, reply: Reply, episode: Episode) -> Answer:
        """The answer with what the reply cites, traced back to the originals, or with what was looked at last."""
        if not self.evidence or answer.text is None:
            return answer
        originals = {name: (image.width, image.height) for name, image in episode.question.named_images}
        cited = trace_evidence(find_evidence(reply.text), originals, episode.figures, episode.cells)
        return replace(answer, evidence=cited or derive_evidence(originals, episode.figures))


class _Loop:
    """The state of one question: turns each reply into the answer or the next user turn."""

    def __init__(self, options: CodeLoop, episode: Episode) -> None:
        self._options = options
        self._episode = episode
        self._failures: Counter[tuple[str, str]] = Counter()
        self._malformed = 0
        self._is_cut = False

    def after(self, reply: Reply, last: EndReason | None) -> Answer | tuple[Part, ...]:
        """last: the budget that allows no further reply, or None."""
        if reply.finish == "refusal":
            return Answer(None, "refused", remark=reply.text)
        if has_hallucinated_output(reply.text):
            self._episode.note(
                "made_up_output", why="the reply contained an interpreter turn, which was ignored"
            )
        code, answer, fault = _read(reply, self._episode)
        if answer is not None and (code is None or last):
            return Answer(answer)
        if reply.finish == "length" and code is None:
            return self._after_cut(reply, last)
        self._is_cut = False
        if last:
            return _last_answer(reply, last)
        return self._repair(fault) if code is None else self._run(code, count_dropped_blocks(reply.text))

    def _run(self, code: str, dropped: int) -> Answer | tuple[Part, ...]:
        """dropped: the code blocks behind the one that runs; the model is told that they did not."""
        self._malformed = 0
        result = self._episode.run(code, tools=self._options.tools)
        turn = observe(result, self._episode, self._options.output_chars)
        if dropped:
            self._episode.note("dropped", blocks=dropped)
            turn = (*turn, Text("\n" + render("code_loop/dropped.md", count=dropped)))
        if result.status == "ok":
            return turn
        failure = (code.strip(), result.error.message if result.error else result.status)
        self._failures[failure] += 1
        times = self._failures[failure]
        if times > _SAME_FAILURE:
            return Answer(None, "loop", remark=f"the same cell failed {times} times with: {failure[1][:200]}")
        warning = (
            (Text("\n" + render("code_loop/repeated.md", times=times)),) if times == _SAME_FAILURE else ()
        )
        return (*turn, *warning)

    def _repair(self, fault: str) -> Answer | tuple[Part, ...]:
        self._malformed += 1
        self._episode.note("malformed", why=fault)
        if self._malformed > self._options.repairs:
            remark = f"{self._malformed} malformed replies in a row; last: {fault}"
            return Answer(None, "no_answer", remark=remark)
        return (Text(render("code_loop/repair.md", fault=fault)),)

    def _after_cut(self, reply: Reply, last: EndReason | None) -> Answer | tuple[Part, ...]:
        """A reply that was cut at its length limit is asked for once more; an incomplete cell is never run."""
        if self._is_cut or last:
            return Answer(None, "truncated", remark="the reply was cut at its length limit; raise max_tokens")
        self._is_cut = True
        where = "code" if code_is_cut(reply.text) else "prose"
        self._episode.note("cut", where=where)
        return (Text(render(f"code_loop/cut_{where}.md")),)


def _read(reply: Reply, episode: Episode) -> tuple[str | None, str | None, str]:
    """The code and the answer of a reply, and what is wrong if it has neither."""
    if reply.finish == "length" and code_is_cut(reply.text):
        return None, None, "the reply was cut in the middle of its code"
    try:
        shown = {
            name: (sent.width, sent.height, sent.scale_x, sent.scale_y)
            for name, sent in episode.shown.items()
        }
        code, answer = find_code(reply.text, shown), find_answer(reply.text)
    except FormatError as error:
        return None, None, str(error)
    return code, answer, describe_unusable(reply.text)


def _last_answer(reply: Reply, last: EndReason) -> Answer:
    """The answer in a last reply that cannot be read as usual: as a last resort its prose, but never code."""
    with suppress(FormatError):
        answer = find_answer(reply.text)  # next to a block that cannot be used
        if answer is not None:
            return Answer(answer)
    text = None if holds_code(reply.text) else last_resort_answer(reply.text)
    if text is None:
        return Answer(None, last, remark="the last reply held no answer")
    return Answer(text, last, is_last_resort=True)


def _notice(episode: Episode) -> tuple[Part, ...]:
    """What the model must know about its budget in this turn."""
    if episode.last_call():
        return (Text("\n\n" + render("code_loop/last_turn.md")),)
    if episode.turns > 0 and episode.turns_left <= _FEW_TURNS:
        return (Text("\n\n" + render("code_loop/few_turns.md", left=episode.turns_left)),)
    return ()
