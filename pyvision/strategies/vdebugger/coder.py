"""The coder and the refiner: whole programs, read out of their replies."""

from __future__ import annotations

from pyvision.errors import FormatError
from pyvision.strategies.vdebugger.execution import Execution
from pyvision.strategies.vdebugger.fault_spans import mark_program, within
from pyvision.strategies.vdebugger.programs import canonical, program_in
from pyvision.strategies.vdebugger.role_client import RoleClient, api_text
from pyvision.strategies.vdebugger.task_types import FormName
from pyvision.strategies.vdebugger.verdicts import Verdict
from pyvision.text.prompts import load
from pyvision.types import Reply


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
