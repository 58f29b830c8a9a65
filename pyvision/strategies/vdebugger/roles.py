"""Ask the coder, the critics and the refiner. Every request is a separate conversation of one user turn.

A case (program, result and trace) is laid out as in the published data, so that models trained on it fit.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from pyvision.agent.asking import Found, RoleTurn, read_or_ask_again
from pyvision.agent.episode import Episode
from pyvision.errors import FormatError
from pyvision.strategies.vdebugger.execution import COMPILE_ERROR, TOOLS, Execution
from pyvision.strategies.vdebugger.programs import FormName, Query, canonical, defines_function, program_in
from pyvision.strategies.vdebugger.trace_format import Keep, format_blocks, shorten
from pyvision.strategies.vdebugger.verdicts import (
    NOTHING_MARKED,
    Marks,
    Verdict,
    line_span,
    mark_program,
    marks_in,
    marks_of_blocks,
    read_word,
    restore_unmarked,
    split_correction,
    verdict_of,
)
from pyvision.text.answers import Missing
from pyvision.text.prompts import load, render
from pyvision.text.python_source import parse_source
from pyvision.text.refusals import declines
from pyvision.text.replies import without_thinking
from pyvision.types import Message, Part, Reply, Text

Style: TypeAlias = Literal["instruct", "trained"]
Sight: TypeAlias = Literal["text", "image"]
_NEEDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "find": (("detect",),),
    "exists": (("detect",), ("vqa",)),
    "verify_property": (("verify", "match"),),
    "best_text_match": (("match",),),
    "best_image_match": (("match",),),
    "simple_query": (("vqa",),),
    "compute_depth": (("depth",),),
    "llm_query": (("llm_qa",),),
}
_MOST_LOOKS = 6  # parts of the image that a critic is shown
_CUT = "the reply was cut at its length limit; raise max_tokens"


class RefusalError(Exception):
    """The coder declined; the message is its reply."""


@dataclass(frozen=True, slots=True)
class RoleClient:
    """Asks the roles about one question.

    style: `instruct` explains the task; `trained` sends the bare case, for models that were trained on it.
    with_feedback: whether a case holds result and trace. keep, feedback_chars: which end of a long trace is shown,
    and how much of it. sees: whether critic and refiner are sent the images, and the parts that the program looked at.
    corrects: whether the critic is asked for the corrected program as well, in the same reply.
    """

    episode: Episode
    query: Query
    style: Style = "instruct"
    with_feedback: bool = True
    keep: Keep = "end"
    feedback_chars: int = 8000
    sees: Sight = "text"
    corrects: bool = False

    def ask(self, role: str, prompt: str, *, logprobs: bool = False, **variables: object) -> RoleTurn:
        """Send a prompt of prompts/vdebugger to a role. Raises LimitReached and ModelError, as Episode.ask does."""
        messages = (Message("user", (Text(render(f"vdebugger/{prompt}.md", **variables)),)),)
        return RoleTurn(role, messages, self.episode.ask(role, messages, logprobs=logprobs))

    def read(self, turn: RoleTurn, prompt: str, read: Callable[[Reply], Found | Missing]) -> Found | Missing:
        """What `read` finds in a reply, or in a second one that is asked for with what was missing.

        prompt: how to ask again, of prompts/vdebugger. A model that was trained on bare cases is not asked again.
        """
        if turn.reply.finish == "length":
            self.episode.note("cut", role=turn.role, why=_CUT)
        if _is_refusal(turn.reply):
            self.episode.note("refused", role=turn.role, why=turn.reply.text[:500])
            return read(turn.reply)
        if self.style == "trained":
            return read(turn.reply)
        found, _ = read_or_ask_again(
            self.episode, turn, read, lambda why: render(f"vdebugger/{prompt}.md", why=why)
        )
        return found

    def ask_about(
        self,
        role: str,
        prompt: str,
        execution: Execution,
        program: str,
        *,
        logprobs: bool = False,
        **variables: object,
    ) -> RoleTurn:
        """Send a case to a role: the question, a program (as it ran, or with marks in it) and what it did."""
        case = self.case(execution, program)
        if self.style == "trained":
            return self.ask(role, f"{prompt}_trained", logprobs=logprobs, case=case)  # cannot converse
        pictures = self._pictures(execution)
        text = render(
            f"vdebugger/{prompt}.md",
            case=case,
            api=api_text(self.episode.tools),
            functions=_state_of_functions(execution, seen=self.sees == "image"),
            **variables,
        )
        messages = (Message("user", (*pictures, Text(text))),)
        return RoleTurn(role, messages, self.episode.ask(role, messages, logprobs=logprobs))

    def _pictures(self, execution: Execution) -> tuple[Part, ...]:
        """The images of the question, then the parts of them that the program asked about, each with the answer."""
        if self.sees == "text":
            return ()
        whole = self.episode.question.images
        parts: list[Part] = [Text(load("vdebugger/images.md")), *whole]
        sizes = {(image.width, image.height) for image in whole}
        looks = [each for each in execution.looks if (each.picture.width, each.picture.height) not in sizes]
        for number, look in enumerate(looks[:_MOST_LOOKS] if self.with_feedback else (), 1):
            parts += [Text(f"Part {number}: {look.text}"), look.picture]
        return tuple(parts)

    def case(self, execution: Execution, program: str) -> str:
        """The question as a comment, the program, and after it the value it returned and its trace."""
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


def draft(client: RoleClient) -> str | None:
    """A first program, or None if neither the first reply nor a second one holds a program. Raises RefusalError."""
    query = client.query
    for prompt in ("coder", "coder_again"):
        turn = client.ask(
            "coder",
            prompt,
            api=api_text(client.episode.tools),
            examples=examples_of(query.form.name, client.episode.tools),
            line=query.line,
            signature=query.signature,
        )
        if _is_refusal(turn.reply):
            raise RefusalError(turn.reply.text)
        program = _read_program(client, turn.reply)
        if isinstance(program, str):
            return program
        client.episode.note("malformed", role="coder", why=program.why)
    return None


def refine(
    client: RoleClient, execution: Execution, verdict: Verdict, *, constrain: bool = False
) -> str | None:
    """A new program in place of one judged wrong, or None if the refiner's reply holds none.

    A refiner is asked where the critic did not write that program. constrain: changes to unmarked lines are undone.
    """
    program = verdict.correction or _ask_refiner(client, execution, verdict)
    if program is None or not (constrain and verdict.marks.spans):
        return program
    return _constrain(client, execution.program, program, verdict)


def critique(client: RoleClient, execution: Execution, threshold: float | None) -> Verdict:
    """The critic of the paper: right, or wrong with the faulty span marked."""
    then = load(f"vdebugger/critic_{'corrects' if client.corrects else 'marks'}.md").strip()
    turn = client.ask_about(
        "critic", "critic", execution, execution.program, logprobs=threshold is not None, then=then
    )

    def read(reply: Reply) -> Verdict | Missing:
        verdict = _read_verdict(client, reply, execution.program, threshold)
        if verdict.is_accepted or verdict.marks.spans or verdict.correction:
            return verdict
        if verdict.word == "unclear":
            return Missing("it says neither right nor wrong")
        return verdict if verdict.marks.fault == NOTHING_MARKED else Missing(str(verdict.marks.fault))

    found = client.read(turn, "critic_again", read)
    return (
        _read_verdict(client, turn.reply, execution.program, threshold)
        if isinstance(found, Missing)
        else found
    )


def failure_of(execution: Execution) -> Verdict | None:
    """The verdict on a program that cannot run or raised an exception: wrong, at the line that raised it.

    None for any other, and where a function of the API failed: that is no fault of the program.
    """
    if execution.status not in ("error", "no_program") or execution.failures:
        return None
    line = execution.line
    if line is None or line > len(execution.program.splitlines()):
        return reject(f"It fails: {execution.error}")
    marks = Marks((line_span(execution.program, line, line),))
    return Verdict("wrong", is_accepted=False, marks=marks, by_critic=False)


def reject(why: str) -> Verdict:
    """The verdict on a program that is wrong at no known place, without a critic."""
    marks = Marks(fault=NOTHING_MARKED)
    return Verdict("wrong", is_accepted=False, marks=marks, prose=why, by_critic=False)


def judge_blocks(client: RoleClient, execution: Execution, threshold: float | None) -> Verdict:
    """A verdict on every block; the first wrong one is the span. Without a trace, the program is judged as a whole."""
    if execution.steps is None:
        return critique(client, execution, threshold)
    case = client.case(execution, format_blocks(execution.program, execution.steps))
    turn = client.ask("critic", "critic_blocks", case=case)

    def read(reply: Reply) -> Verdict | Missing:
        marks, accepted = marks_of_blocks(reply.text, execution.program)
        if not (accepted or marks.spans):
            return Missing("it judges no block of the program as right or wrong")
        return Verdict("right" if accepted else "wrong", accepted, None, marks)

    found = client.read(turn, "critic_blocks_again", read)
    return (
        Verdict("unclear", is_accepted=False, marks=Marks(fault=found.why))
        if isinstance(found, Missing)
        else found
    )


def self_debug(client: RoleClient, execution: Execution) -> tuple[Verdict, str | None]:
    """The coder looks at its own program and at what it did, and either accepts it or writes a better one."""
    turn = client.ask_about("coder", "self_debug", execution, execution.program)

    def read(reply: Reply) -> tuple[Verdict, str | None] | Missing:
        program = _read_program(client, reply)
        if isinstance(program, str):
            return Verdict("wrong", is_accepted=False, marks=Marks(fault="this mode marks nothing")), program
        word = read_word(reply.text)
        accepted = Verdict(word, is_accepted=True, marks=Marks(fault=program.why))
        return (accepted, None) if word == "right" else program

    found = client.read(turn, "self_debug_again", read)
    if isinstance(found, Missing):
        return Verdict("unclear", is_accepted=False, marks=Marks(fault=found.why)), None
    return found


def api_text(tools: Collection[str] = TOOLS) -> str:
    """The functions that a program may call with these tools, as shown to a model."""
    text = load("vdebugger/api.py")
    lines = text.splitlines()
    missing = set(_missing(tools))
    omitted = {
        number
        for node in ast.walk(parse_source(text))
        if isinstance(node, ast.FunctionDef) and node.name in missing
        for number in range(
            node.lineno - 1, (node.end_lineno or node.lineno) + 1
        )  # and the empty line after it
    }
    remaining = "\n".join(line for number, line in enumerate(lines) if number not in omitted)
    description = re.sub(r"\n{4,}", "\n\n\n", remaining[remaining.index("class ImagePatch") :])
    return description.rstrip("\n")


def examples_of(form: FormName, tools: Collection[str] = TOOLS) -> str:
    """The example programs of a form that run with these tools."""
    text = load(f"vdebugger/examples/{form}.py")
    examples = re.split(r"\n+(?=# Given)", text[text.index("# Given") :].rstrip("\n"))
    missing = _missing(tools)
    usable = [each for each in examples if not any(f"{name}(" in each for name in missing)]
    return "\n\n\n".join(usable) or "# (none for these functions)"


def _missing(tools: Collection[str]) -> list[str]:
    """The functions of the API that lack a tool; each needs one of each group."""
    return [name for name, groups in _NEEDS.items() if not all(set(group) & set(tools) for group in groups)]


def _state_of_functions(execution: Execution, *, seen: bool) -> str:
    """Whether the functions can be relied on: not said where one of them has failed in this run."""
    if execution.failures:
        why = "; ".join(dict.fromkeys(execution.failures))[:500]
        return render("vdebugger/functions_failed.md", why=why).strip()
    return load(f"vdebugger/functions_{'seen' if seen else 'right'}.md").strip()


def _ask_refiner(client: RoleClient, execution: Execution, verdict: Verdict) -> str | None:
    marked = mark_program(execution.program, verdict.marks.spans)
    fault = render("vdebugger/fault.md", prose=verdict.prose).strip() if verdict.prose else ""
    turn = client.ask_about("refiner", "refiner", execution, marked, fault=fault)
    program = client.read(turn, "program_again", lambda reply: _read_program(client, reply))
    return None if isinstance(program, Missing) else program


def _read_verdict(client: RoleClient, reply: Reply, program: str, threshold: float | None) -> Verdict:
    """The verdict of a reply; with it the correction, if one is asked for, parses and was not cut."""
    text, rest = split_correction(reply.text) if client.corrects else (reply.text, "")
    verdict = verdict_of(replace(reply, text=text), marks_in(text, program), threshold)
    if verdict.is_accepted or verdict.word == "unclear" or not rest.strip():
        return verdict
    written = _read_program(client, replace(reply, text=rest))
    if isinstance(written, Missing) or reply.finish == "length":
        return verdict
    is_broken = canonical(written, client.query.signature).error is not None
    return verdict if is_broken else replace(verdict, correction=written)


def _is_refusal(reply: Reply) -> bool:
    """Whether the model declined; a program or a verdict after an apology is a reply like any other."""
    if reply.finish == "refusal":
        return True
    text = without_thinking(reply.text)
    return declines(text) and not defines_function(text) and read_word(text) == "unclear"


def _read_program(client: RoleClient, reply: Reply) -> str | Missing:
    try:
        return program_in(reply.text, client.query.signature)
    except FormatError as error:
        return Missing(_CUT if reply.finish == "length" else str(error))


def _constrain(client: RoleClient, old: str, new: str, verdict: Verdict) -> str | None:
    checked = canonical(new, client.query.signature)
    constrained = restore_unmarked(old, checked.text, verdict.marks.spans)
    if constrained == checked.text:
        return constrained
    client.episode.note("outside_span", why="changes to unmarked lines were undone", program=new)
    return None if canonical(constrained, client.query.signature).error else constrained
