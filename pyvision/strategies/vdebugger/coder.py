"""The coder and the refiner: whole programs, read out of their replies."""

from __future__ import annotations

from pyvision.errors import FormatError
from pyvision.strategies.vdebugger.execution import Execution
from pyvision.strategies.vdebugger.fault_spans import marked, within
from pyvision.strategies.vdebugger.programs import canonical, program_in
from pyvision.strategies.vdebugger.role_client import Asking, api_text
from pyvision.strategies.vdebugger.task_types import FormName
from pyvision.strategies.vdebugger.verdicts import Verdict
from pyvision.text.prompts import load
from pyvision.types import Reply


class Refused(Exception):  # noqa: N818 - it says what happened
    """The coder declined; the message is its own."""


def draft(asking: Asking) -> str | None:
    """A first program; asked for once more where the reply holds none, then None. Raises Refused."""
    query = asking.query
    program = ""
    for prompt in ("coder", "coder_again"):
        reply = asking.ask(
            "coder",
            prompt,
            api=api_text(),
            examples=examples_of(query.form.name),
            line=query.line,
            signature=query.signature,
        )
        if reply.finish == "refusal":
            raise Refused(reply.text)
        program = _read(asking, reply, "coder") or ""
        if program:
            break
    return program or None


def refine(asking: Asking, execution: Execution, verdict: Verdict, *, constrain: bool = False) -> str | None:
    """A new program in place of one that was found wrong, or None where the reply holds none.

    constrain: lines without a mark stay as they are.
    """
    spans = verdict.marks.spans
    reply = asking.ask_about("refiner", "refiner", execution, marked(execution.program, spans))
    if reply.finish == "refusal":
        asking.episode.note("refused", role="refiner", why=reply.text[:500])
        return None
    program = _read(asking, reply, "refiner")
    if program is None or not (constrain and spans):
        return program
    return _confined(asking, execution.program, program, verdict)


def examples_of(form: FormName) -> str:
    """The worked programs of a form."""
    text = load(f"vdebugger/examples/{form}.py")
    return text[text.index("# Given") :].rstrip("\n")


def _confined(asking: Asking, old: str, new: str, verdict: Verdict) -> str | None:
    checked = canonical(new, asking.query.signature)
    confined = within(old, checked.text, verdict.marks.spans)
    if confined == checked.text:
        return confined
    asking.episode.note("outside_span", why="lines without a mark were changed, and are kept", program=new)
    return None if canonical(confined, asking.query.signature).error else confined


def _read(asking: Asking, reply: Reply, role: str) -> str | None:
    try:
        return program_in(reply.text, asking.query.signature)
    except FormatError as error:
        why = (
            "the reply was cut at its length limit; raise max_tokens"
            if reply.finish == "length"
            else str(error)
        )
        asking.episode.note("malformed", role=role, why=why)
        return None
