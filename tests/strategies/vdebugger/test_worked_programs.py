"""The programs that the coder is shown run in the sandbox, and answer their questions."""

from __future__ import annotations

import pytest

from pyvision.agent.budget import Limits
from pyvision.agent.episode import Episode
from pyvision.events import Event
from pyvision.strategies.vdebugger.execution import Executor, answer_of
from pyvision.strategies.vdebugger.programs import canonical, query_of
from pyvision.types import Question
from tests.doubles import picture
from tests.strategies.vdebugger.running import OneSession
from tests.strategies.vdebugger.scenes import SIDE, World
from tests.strategies.vdebugger.worked import EXPECTED, KNOWLEDGE, Worked, worked_programs

WORKED = worked_programs()


def test_there_are_at_least_24_worked_programs() -> None:
    assert len(WORKED) >= 24


def test_each_worked_program_has_an_expected_answer() -> None:
    assert sorted(each.question for each in WORKED) == sorted(EXPECTED)


@pytest.mark.parametrize("worked", WORKED, ids=lambda each: each.question)
def test_a_worked_program_answers_its_question(worked: Worked, kernel: OneSession) -> None:
    scenes, expected = EXPECTED[worked.question]
    world = World(*scenes, knowledge=KNOWLEDGE)
    question = Question(worked.question, tuple(world.picture(number) for number in range(len(scenes))))
    query = query_of(question, worked.form)
    events: list[Event] = []
    episode = Episode(question, {}, Limits(), kernel, events.append, tools=world.tools)
    try:
        execution = Executor(episode, query).trace(worked.program)
    finally:
        episode.close()
    assert execution.error is None
    assert execution.returned is not None
    assert answer_of(execution.returned, worked.form, SIDE) == expected
    assert execution.trace.startswith(f"call         1 {query.signature}\nline         2 ")


@pytest.mark.parametrize("worked", WORKED, ids=lambda each: each.question)
def test_a_worked_program_keeps_its_signature_when_it_is_written_again(worked: Worked) -> None:
    query = query_of(
        Question(worked.question, (picture(),) * (2 if worked.form == "pair" else 1)), worked.form
    )
    checked = canonical(worked.program, query.signature)
    assert checked.error is None
    assert checked.text.splitlines()[0] == query.signature == worked.program.splitlines()[0]
