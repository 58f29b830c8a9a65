"""The loop of CodeLoop: ask, run the code in the reply, show its output, until there is an answer."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from pyvision.agent.episode import Episode
from pyvision.agent.strategy import check_least
from pyvision.errors import ConfigError, EndReason, FormatError, ModelError
from pyvision.strategies.code_loop.protocol import (
    CellRequest,
    CodeProtocol,
    ProtocolChoice,
    TextProtocol,
    choose_protocol,
)
from pyvision.strategies.code_loop.turns import check_prompt, observe, open_conversation
from pyvision.text.prompts import render
from pyvision.text.refusals import is_refusal
from pyvision.text.replies import (
    code_is_cut,
    count_dropped_blocks,
    describe_unusable,
    find_answer,
    has_hallucinated_output,
    holds_code,
    last_resort_answer,
    reply_message,
)
from pyvision.tools.registry import NO_TOOLS, ROLES, ToolNames
from pyvision.types import Answer, Message, Question, Reply, Text

_SAME_FAILURE = 3  # failures of one cell in one way before the model is warned; one more ends the run
_FEW_TURNS = 3  # turns left from which on the model sees how many


@dataclass(frozen=True, slots=True)
class CodeLoop:
    """Think, write a cell, look, repeat; more than `repairs` malformed replies in a row end the run.

    prompt_file, prompt: an upstream PyVision prompt JSON and the template in it, in place of our own prompts.
    output_chars: how much text of one cell is shown to the model; long text loses its middle. tools: those that a cell
    may call as `host.NAME(…)`; our own prompts describe them, an upstream prompt has to do so itself. evidence: ask for
    what the answer rests on; where the model cites nothing, it is derived from what it looked at last. protocol: code
    in the text of replies, native tool calls, or whichever the model is known to handle best; then an endpoint that
    refuses tools before the first reply is asked in text.
    """

    continues: ClassVar[bool] = True
    runs_code: ClassVar[bool] = True
    repairs: int = 3
    output_chars: int = 8000
    prompt_file: Path | None = None
    prompt: str | None = None
    tools: ToolNames = NO_TOOLS
    evidence: bool = False
    protocol: ProtocolChoice = "auto"

    def __post_init__(self) -> None:
        check_least(self, repairs=0, output_chars=0)
        check_prompt(self.prompt_file, self.prompt)
        if self.prompt_file is not None and self.protocol == "tools":
            raise ConfigError(
                f"--prompt-file {self.prompt_file} describes the text protocol; it cannot be used with protocol=tools"
            )

    @property
    def needs(self) -> tuple[str, ...]:
        return self.tools

    @property
    def roles(self) -> tuple[str, ...]:
        return ("solver", *(name for name in self.tools if name in ROLES))

    def solve(self, question: Question, episode: Episode) -> Answer:
        protocol = choose_protocol(self.protocol, episode, has_own_prompt=self.prompt_file is not None)
        try:
            return self._solve(question, episode, protocol)
        except ModelError as error:
            chose_tools = self.protocol == "auto" and protocol.offers
            if error.kind != "tools" or not chose_tools or episode.turns > 0:
                raise
            episode.note("tools_refused", why=str(error))
        return self._solve(question, episode, TextProtocol())

    def _solve(self, question: Question, episode: Episode, protocol: CodeProtocol) -> Answer:
        tools = {name: episode.tools[name].purpose for name in self.tools}
        libraries = episode.expect_code()
        views = episode.views("solver", question.named_images)
        messages, turn = open_conversation(
            question, self.prompt_file, self.prompt, tools, libraries, views, protocol
        )
        if self.evidence:
            turn = (*turn, Text("\n\n" + render("code_loop/evidence.md")))
        loop = _Loop(self, protocol, episode)
        follows: Answer | tuple[Message, ...] = (Message("user", turn),)
        if question.earlier.pending:
            follows = loop.after(Reply(messages[-1].text), last=None)
        while not isinstance(follows, Answer):
            last = episode.last_call()
            messages = (*messages, *_with_notice(follows, episode))
            reply = self._ask(protocol, messages, last, episode)
            messages = (*messages, reply_message(reply))
            follows = loop.after(self._without_evidence(reply), last)
            if isinstance(follows, Answer):
                return self._with_evidence(follows, reply, episode)
        return follows

    def _ask(
        self, protocol: CodeProtocol, messages: tuple[Message, ...], last: EndReason | None, episode: Episode
    ) -> Reply:
        stop = () if last else protocol.stop
        reply = episode.ask("solver", messages, stop=stop, tools=protocol.offers, may_call=not last)
        return protocol.accept(reply)

    def _without_evidence(self, reply: Reply) -> Reply:
        if not self.evidence:
            return reply
        from pyvision.agent.evidence import without_evidence

        return replace(reply, text=without_evidence(reply.text))

    def _with_evidence(self, answer: Answer, reply: Reply, episode: Episode) -> Answer:
        """The answer with what the reply cites, traced back to the originals, or with what was looked at last."""
        if not self.evidence or answer.text is None:
            return answer
        from pyvision.agent.evidence import derive_evidence, find_evidence, trace_evidence

        originals = {name: (image.width, image.height) for name, image in episode.question.named_images}
        cited = trace_evidence(find_evidence(reply.text), originals, episode.figures, episode.cells)
        return replace(answer, evidence=cited or derive_evidence(originals, episode.figures))


class _Loop:
    """The state of one question: turns each reply into the answer or the messages that follow it."""

    def __init__(self, options: CodeLoop, protocol: CodeProtocol, episode: Episode) -> None:
        self._options = options
        self._protocol = protocol
        self._episode = episode
        self._failures: Counter[tuple[str, str]] = Counter()
        self._malformed = 0
        self._is_cut = False

    def after(self, reply: Reply, last: EndReason | None) -> Answer | tuple[Message, ...]:
        """last: the budget that allows no further reply, or None."""
        if reply.finish == "refusal":
            return Answer(None, "refused", remark=reply.text)
        if has_hallucinated_output(reply.text):
            self._episode.note(
                "made_up_output", why="the reply contained an interpreter turn, which was ignored"
            )
        cells, answer, fault = self._read(reply)
        runnable = any(cell.code is not None for cell in cells)
        if answer is not None and (not cells or last):
            return Answer(answer)
        if reply.finish == "length" and not runnable:
            return self._after_cut(reply, cells, last)
        self._is_cut = False
        if last:
            return _last_answer(reply, last)
        if not runnable:
            return self._repair(fault, cells)
        self._malformed = 0
        return self._run_all(cells, 0 if reply.calls else count_dropped_blocks(reply.text))

    def _read(self, reply: Reply) -> tuple[tuple[CellRequest, ...], str | None, str]:
        """The cells and the answer of a reply, and what is wrong if it has neither."""
        if reply.finish == "length" and not reply.calls and code_is_cut(reply.text):
            return (), None, "the reply was cut in the middle of its code"
        try:
            sizes = {
                name: (sent.width, sent.height, sent.scale_x, sent.scale_y)
                for name, sent in self._episode.sent_images.items()
            }
            cells, answer = self._protocol.cells(reply, sizes), find_answer(reply.text)
        except FormatError as error:
            return (), None, str(error)
        fault = next((cell.fault for cell in cells if cell.fault), None)
        return cells, answer, fault or describe_unusable(reply.text)

    def _run_all(self, cells: tuple[CellRequest, ...], dropped: int) -> Answer | tuple[Message, ...]:
        """Every cell in order, each with its own turn. dropped: the code blocks in the text that do not run."""
        turns: list[Message] = []
        for cell in cells:
            turn = self._run(cell, dropped)
            if isinstance(turn, Answer):
                return turn
            turns.append(turn)
        return tuple(turns)

    def _run(self, cell: CellRequest, dropped: int) -> Answer | Message:
        if cell.code is None:
            self._episode.note("malformed", why=cell.fault)
            return self._refuse(cell)
        result = self._episode.run(cell.code, tools=self._options.tools)
        output = observe(result, self._episode, self._options.output_chars)
        turn = self._protocol.respond(cell, output, is_error=result.status != "ok")
        if dropped:
            self._episode.note("dropped", blocks=dropped)
            turn = _add(turn, "\n" + render("code_loop/dropped.md", count=dropped))
        if result.status == "ok":
            return turn
        failure = (cell.code.strip(), result.error.message if result.error else result.status)
        self._failures[failure] += 1
        times = self._failures[failure]
        if times > _SAME_FAILURE:
            return Answer(None, "loop", remark=f"the same cell failed {times} times with: {failure[1][:200]}")
        is_warned = times == _SAME_FAILURE
        return _add(turn, "\n" + render("code_loop/repeated.md", times=times)) if is_warned else turn

    def _refuse(self, cell: CellRequest) -> Message:
        """The result of a call that asks for no cell."""
        text = Text(render("code_loop/call_fault.md", fault=cell.fault))
        return self._protocol.respond(cell, (text,), is_error=True)

    def _repair(self, fault: str, cells: tuple[CellRequest, ...]) -> Answer | tuple[Message, ...]:
        self._malformed += 1
        self._episode.note("malformed", why=fault)
        if self._malformed > self._options.repairs:
            remark = f"{self._malformed} malformed replies in a row; last: {fault}"
            return Answer(None, "no_answer", remark=remark)
        repair = Text(render(f"code_loop/repair_{self._protocol.name}.md", fault=fault))
        return tuple(map(self._refuse, cells)) or (Message("user", (repair,)),)

    def _after_cut(
        self, reply: Reply, cells: tuple[CellRequest, ...], last: EndReason | None
    ) -> Answer | tuple[Message, ...]:
        """A reply that was cut at its length limit is asked for once more; an incomplete cell is never run."""
        if self._is_cut or last:
            return Answer(None, "truncated", remark="the reply was cut at its length limit; raise max_tokens")
        self._is_cut = True
        where = "code" if cells or code_is_cut(reply.text) else "prose"
        self._episode.note("cut", where=where)
        text = Text(render(f"code_loop/cut_{where}.md"))
        results = tuple(self._protocol.respond(cell, (text,), is_error=True) for cell in cells)
        return results or (Message("user", (text,)),)


def _last_answer(reply: Reply, last: EndReason) -> Answer:
    """The answer in a last reply that cannot be read as usual: as a last resort its prose, but never code."""
    with suppress(FormatError):
        answer = find_answer(reply.text)  # next to a block that cannot be used
        if answer is not None:
            return Answer(answer)
    text = None if reply.calls or holds_code(reply.text) else last_resort_answer(reply.text)
    if text is None:
        return Answer(None, last, remark="the last reply held no answer")
    if is_refusal(text):
        return Answer(None, "refused", remark=text)
    return Answer(text, last, is_last_resort=True)


def _with_notice(turns: tuple[Message, ...], episode: Episode) -> tuple[Message, ...]:
    """The turns, with what the model must know about its budget at the end of the last one."""
    if episode.last_call():
        text = render("code_loop/last_turn.md")
    elif episode.turns > 0 and episode.turns_left <= _FEW_TURNS:
        text = render("code_loop/few_turns.md", left=episode.turns_left)
    else:
        return turns
    return (*turns[:-1], _add(turns[-1], "\n\n" + text))


def _add(turn: Message, text: str) -> Message:
    return replace(turn, parts=(*turn.parts, Text(text)))
