"""Ask the coder, the critics and the refiner. Every request is a separate conversation of one user turn.

A case (program, result and trace) is laid out as in the published data, so that models trained on it fit.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pyvision.agent.episode import Episode
from pyvision.errors import FormatError
from pyvision.strategies.vdebugger.execution import COMPILE_ERROR, TOOLS, Execution
from pyvision.strategies.vdebugger.programs import FormName, Query, canonical, program_in
from pyvision.strategies.vdebugger.trace_format import Keep, format_blocks, shorten
from pyvision.strategies.vdebugger.verdicts import (
    Marks,
    Verdict,
    mark_program,
    marks_in,
    marks_of_blocks,
    read_word,
    restore_unmarked,
    verdict_of,
)
from pyvision.text.parsing import parse_source
from pyvision.text.prompts import load, render
from pyvision.text.replies import declines
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
    """

    episode: Episode
    query: Query
    style: Style = "instruct"
    with_feedback: bool = True
    keep: Keep = "end"
    feedback_chars: int = 8000
    sees: Sight = "text"

    def ask(self, role: str, prompt: str, *, logprobs: bool = False, **variables: object) -> Reply:
        """Send a prompt of prompts/vdebugger to a role. Raises LimitReached and ModelError, as Episode.ask does."""
        text = render(f"vdebugger/{prompt}.md", **variables)
        return self.episode.ask(role, (Message("user", (Text(text),)),), logprobs=logprobs)

    def ask_about(
        self,
        role: str,
        prompt: str,
        execution: Execution,
        program: str,
        *,
        logprobs: bool = False,
        **variables: object,
    ) -> Reply:
        """Send a case to a role: the question, a program (as it ran, or with marks in it) and what it did."""
        case = self.case(execution, program)
        if self.style == "trained":
            return self.ask(role, f"{prompt}_trained", logprobs=logprobs, case=case)
        pictures = self._pictures(execution)
        text = render(
            f"vdebugger/{prompt}.md",
            case=case,
            api=api_text(self.episode.tools),
            functions=_state_of_functions(execution, seen=self.sees == "image"),
            **variables,
        )
        messages = (Message("user", (*pictures, Text(text))),)
        return self.episode.ask(role, messages, logprobs=logprobs)

    def _pictures(self, execution: Execution) -> tuple[Part, ...]:
        """The images of the question, then the parts of them that the program asked about, each with the answer."""
        if self.sees == "text":
            return ()
        whole = self.episode.question.images
        parts: list[Part] = [Text(load("vdebugger/images.md")), *whole]
        looks = [look for look in execution.looks if look.picture not in whole] if self.with_feedback else []
        for number, look in enumerate(looks[:_MOST_LOOKS], 1):
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
        reply = client.ask(
            "coder",
            prompt,
            api=api_text(client.episode.tools),
            examples=examples_of(query.form.name, client.episode.tools),
            line=query.line,
            signature=query.signature,
        )
        if reply.finish == "refusal" or declines(reply.text):
            raise RefusalError(reply.text)
        if program := _read_program(client, reply, "coder"):
            return program
    return None


def refine(
    client: RoleClient, execution: Execution, verdict: Verdict, *, constrain: bool = False
) -> str | None:
    """A new program in place of one judged wrong, or None if the reply holds none.

    constrain: changes to unmarked lines are undone.
    """
    spans = verdict.marks.spans
    marked = mark_program(execution.program, spans)
    fault = render("vdebugger/fault.md", prose=verdict.prose).strip() if verdict.prose else ""
    reply = client.ask_about("refiner", "refiner", execution, marked, fault=fault)
    if reply.finish == "refusal":
        client.episode.note("refused", role="refiner", why=reply.text[:500])
        return None
    program = _read_program(client, reply, "refiner")
    if program is None or not (constrain and spans):
        return program
    return _constrain(client, execution.program, program, verdict)


def critique(client: RoleClient, execution: Execution, threshold: float | None) -> Verdict:
    """The critic of the paper: right, or wrong with the faulty span marked."""
    program = execution.program
    reply = client.ask_about("critic", "critic", execution, program, logprobs=threshold is not None)
    _note_faults(client, reply, "critic")
    return verdict_of(reply, marks_in(reply.text, program), threshold)


def judge_blocks(client: RoleClient, execution: Execution, threshold: float | None) -> Verdict:
    """A verdict on every block; the first wrong one is the span. Without a trace, the program is judged as a whole."""
    if execution.steps is None:
        return critique(client, execution, threshold)
    case = client.case(execution, format_blocks(execution.program, execution.steps))
    reply = client.ask("critic", "critic_blocks", case=case)
    _note_faults(client, reply, "critic")
    marks, accepted = marks_of_blocks(reply.text, execution.program)
    return Verdict("right" if accepted else "wrong" if marks.spans else "unclear", accepted, None, marks)


def self_debug(client: RoleClient, execution: Execution) -> tuple[Verdict, str | None]:
    """The coder looks at its own program and at what it did, and either accepts it or writes a better one."""
    reply = client.ask_about("coder", "self_debug", execution, execution.program)
    _note_faults(client, reply, "coder")
    try:
        program = program_in(reply.text, client.query.signature)
    except FormatError as error:
        word = read_word(reply.text)
        return Verdict(word, word == "right", None, Marks(fault=str(error))), None
    return Verdict("wrong", is_accepted=False, marks=Marks(fault="this mode marks nothing")), program


def api_text(tools: Collection[str] = TOOLS) -> str:
    """The functions that a program may call with these tools, as shown to a model."""
    text = load("vdebugger/api.py")
    lines = text.splitlines()
    missing = set(_missing(tools))
    left_out = {
        number
        for node in ast.walk(parse_source(text))
        if isinstance(node, ast.FunctionDef) and node.name in missing
        for number in range(
            node.lineno - 1, (node.end_lineno or node.lineno) + 1
        )  # and the empty line after it
    }
    kept = "\n".join(line for number, line in enumerate(lines) if number not in left_out)
    shown = re.sub(r"\n{4,}", "\n\n\n", kept[kept.index("class ImagePatch") :])
    return shown.rstrip("\n")


def examples_of(form: FormName, tools: Collection[str] = TOOLS) -> str:
    """The example programs of a form that run with these tools."""
    text = load(f"vdebugger/examples/{form}.py")
    examples = re.split(r"\n+(?=# Given)", text[text.index("# Given") :].rstrip("\n"))
    missing = _missing(tools)
    kept = [each for each in examples if not any(f"{name}(" in each for name in missing)]
    return "\n\n\n".join(kept) or "# (none for these functions)"


def _missing(tools: Collection[str]) -> list[str]:
    """The functions of the API that lack a tool; each needs one of each group."""
    return [name for name, groups in _NEEDS.items() if not all(set(group) & set(tools) for group in groups)]


def _state_of_functions(execution: Execution, *, seen: bool) -> str:
    """Whether the functions can be relied on: not said where one of them has failed in this run."""
    if execution.failures:
        why = "; ".join(dict.fromkeys(execution.failures))[:500]
        return render("vdebugger/functions_failed.md", why=why).strip()
    return load(f"vdebugger/functions_{'seen' if seen else 'right'}.md").strip()


def _read_program(client: RoleClient, reply: Reply, role: str) -> str | None:
    try:
        return program_in(reply.text, client.query.signature)
    except FormatError as error:
        client.episode.note("malformed", role=role, why=_CUT if reply.finish == "length" else str(error))
        return None


def _constrain(client: RoleClient, old: str, new: str, verdict: Verdict) -> str | None:
    checked = canonical(new, client.query.signature)
    constrained = restore_unmarked(old, checked.text, verdict.marks.spans)
    if constrained == checked.text:
        return constrained
    client.episode.note("outside_span", why="changes to unmarked lines were undone", program=new)
    return None if canonical(constrained, client.query.signature).error else constrained


def _note_faults(client: RoleClient, reply: Reply, role: str) -> None:
    if reply.finish == "refusal":
        client.episode.note("refused", role=role, why=reply.text[:500])
    if reply.finish == "length":
        client.episode.note("cut", role=role, why=_CUT)
