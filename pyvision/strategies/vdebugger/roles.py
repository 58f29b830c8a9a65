"""Ask the roles:
every request is a conversation of its own, one turn of text, and a case laid out as in the published data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pyvision.agent.episode import Episode
from pyvision.errors import FormatError
from pyvision.strategies.vdebugger.execution import COMPILE_ERROR, Execution
from pyvision.strategies.vdebugger.programs import FormName, Query, canonical, program_in
from pyvision.strategies.vdebugger.trace_format import Keep, format_blocks, shorten
from pyvision.strategies.vdebugger.verdicts import (
    Marks,
    Verdict,
    mark_program,
    marks_in,
    marks_of_blocks,
    read_word,
    verdict_of,
    within,
)
from pyvision.text.prompts import load, render
from pyvision.types import Message, Reply, Text

Style: TypeAlias = Literal["instruct", "trained"]


@dataclass(frozen=True, slots=True)
class RoleClient:
    """The question as the roles are asked it.

    style: `instruct` explains the task; `trained` sends the bare case, for models that were trained on it.
    with_feedback: whether a case holds result and trace. keep, feedback_chars: which end of a long trace, and how
    much of it.
    """

    episode: Episode
    query: Query
    style: Style = "instruct"
    with_feedback: bool = True
    keep: Keep = "end"
    feedback_chars: int = 8000

    def ask(self, role: str, prompt: str, *, logprobs: bool = False, **variables: object) -> Reply:
        """Put a prompt of prompts/vdebugger to a role. Raises LimitReached and ModelError, as Episode.ask does."""
        text = render(f"vdebugger/{prompt}.md", **variables)
        return self.episode.ask(role, (Message("user", (Text(text),)),), logprobs=logprobs)

    def ask_about(
        self, role: str, prompt: str, execution: Execution, program: str, *, logprobs: bool = False
    ) -> Reply:
        """Put a case to a role: the question, a program (the one that ran, or it with marks) and what it did."""
        case = self.case(execution, program)
        if self.style == "trained":
            return self.ask(role, f"{prompt}_trained", logprobs=logprobs, case=case)
        return self.ask(role, prompt, logprobs=logprobs, case=case, api=api_text())

    def case(self, execution: Execution, program: str) -> str:
        """The question as a comment, the program, and behind it what it returned and its trace."""
        line = self.query.line
        if not self.with_feedback:
            return render("vdebugger/case_without_feedback.md", line=line, program=program)
        trace = shorten(self._trace(execution), self.feedback_chars, self.keep)
        return render(
            "vdebugger/case.md", line=line, program=program, result=execution.result, trace=trace or "(none)"
        )

    def _trace(self, execution: Execution) -> str:
        if execution.status == "no_program":
            return COMPILE_ERROR if self.style == "trained" else f"{COMPILE_ERROR}\n{execution.error}"
        ended = execution.status in ("timeout", "died")
        return f"{execution.trace}\n[{execution.error}]".lstrip("\n") if ended else execution.trace


def api_text() -> str:
    """The functions that a program may call, as a model is shown them."""
    text = load("vdebugger/api.py")
    return text[text.index("class ImagePatch") :].rstrip("\n")


# ---- The coder and the refiner: whole programs, read out of their replies.


class Refused(Exception):  # noqa: N818 - it says what happened
    """The coder declined; the message is its own."""


def draft(client: RoleClient) -> str | None:
    """A first program; asked for once more where the reply holds none, then None. Raises Refused."""
    query = client.query
    program = ""
    for prompt in ("coder", "coder_again"):
        reply = client.ask(
            "coder",
            prompt,
            api=api_text(),
            examples=examples_of(query.form.name),
            line=query.line,
            signature=query.signature,
        )
        if reply.finish == "refusal":
            raise Refused(reply.text)
        program = _read(client, reply, "coder") or ""
        if program:
            break
    return program or None


def refine(
    client: RoleClient, execution: Execution, verdict: Verdict, *, constrain: bool = False
) -> str | None:
    """A new program in place of one that was found wrong, or None where the reply holds none.

    constrain: lines without a mark stay as they are.
    """
    spans = verdict.marks.spans
    reply = client.ask_about("refiner", "refiner", execution, mark_program(execution.program, spans))
    if reply.finish == "refusal":
        client.episode.note("refused", role="refiner", why=reply.text[:500])
        return None
    program = _read(client, reply, "refiner")
    if program is None or not (constrain and spans):
        return program
    return _confine(client, execution.program, program, verdict)


def examples_of(form: FormName) -> str:
    """The worked programs of a form."""
    text = load(f"vdebugger/examples/{form}.py")
    return text[text.index("# Given") :].rstrip("\n")


def _confine(client: RoleClient, old: str, new: str, verdict: Verdict) -> str | None:
    checked = canonical(new, client.query.signature)
    confined = within(old, checked.text, verdict.marks.spans)
    if confined == checked.text:
        return confined
    client.episode.note("outside_span", why="lines without a mark were changed, and are kept", program=new)
    return None if canonical(confined, client.query.signature).error else confined


def _read(client: RoleClient, reply: Reply, role: str) -> str | None:
    try:
        return program_in(reply.text, client.query.signature)
    except FormatError as error:
        why = (
            "the reply was cut at its length limit; raise max_tokens"
            if reply.finish == "length"
            else str(error)
        )
        client.episode.note("malformed", role=role, why=why)
        return None


# ---- The critics: how each mode finds out whether a program is right, and where it is not.


def critique(client: RoleClient, execution: Execution, threshold: float | None) -> Verdict:
    """The critic of the paper: right, or wrong with the faulty span marked."""
    program = execution.program
    reply = client.ask_about("critic", "critic", execution, program, logprobs=threshold is not None)
    _check(client, reply, "critic")
    return verdict_of(reply, marks_in(reply.text, program), threshold)


def judge_blocks(client: RoleClient, execution: Execution, threshold: float | None) -> Verdict:
    """A verdict on every block; the first wrong one is the span. Judged like any program where nothing ran."""
    if execution.steps is None:
        return critique(client, execution, threshold)
    case = client.case(execution, format_blocks(execution.program, execution.steps))
    reply = client.ask("critic", "critic_blocks", case=case)
    _check(client, reply, "critic")
    marks, accepted = marks_of_blocks(reply.text, execution.program)
    return Verdict("right" if accepted else "wrong" if marks.spans else "unclear", accepted, None, marks)


def self_debug(client: RoleClient, execution: Execution) -> tuple[Verdict, str | None]:
    """The coder looks at its own program and what it did: it is right, or here is a better one."""
    reply = client.ask_about("coder", "self_debug", execution, execution.program)
    _check(client, reply, "coder")
    try:
        program = program_in(reply.text, client.query.signature)
    except FormatError as error:
        word = read_word(reply.text)
        return Verdict(word, word == "right", None, Marks(fault=str(error))), None
    return Verdict("wrong", is_accepted=False, marks=Marks(fault="this mode marks nothing")), program


def _check(client: RoleClient, reply: Reply, role: str) -> None:
    if reply.finish == "refusal":
        client.episode.note("refused", role=role, why=reply.text[:500])
    if reply.finish == "length":
        client.episode.note("cut", role=role, why="the reply was cut at its length limit; raise max_tokens")
