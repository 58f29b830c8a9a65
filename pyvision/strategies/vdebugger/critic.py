"""The critics: how each mode finds out whether a program is right, and where it is not."""

from __future__ import annotations

from pyvision.errors import FormatError
from pyvision.strategies.vdebugger.blocks import format_blocks, marks_of_blocks
from pyvision.strategies.vdebugger.execution import Execution
from pyvision.strategies.vdebugger.fault_spans import Marks, marks_in
from pyvision.strategies.vdebugger.programs import program_in
from pyvision.strategies.vdebugger.role_client import RoleClient
from pyvision.strategies.vdebugger.verdicts import Verdict, read_word, verdict_of
from pyvision.types import Reply


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
    case = client.case(execution, format_blocks(execution))
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
