"""Debugging in the world: attempts at questions, and Algorithm 1 of VDebugger over many of them at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from benchmarks.worlds.vdebugger_world.grammar import Case
from benchmarks.worlds.vdebugger_world.scenes import Interpreter
from pyvision.bench.metrics.boxes import iou
from pyvision.bench.samples import Sample
from pyvision.errors import FormatError
from pyvision.experiments.vdebugger_training.evaluation import Debugged, Round
from pyvision.experiments.vdebugger_training.packing import format_case
from pyvision.experiments.vdebugger_training.records import ScoredProgram
from pyvision.strategies.vdebugger.programs import FORMS, canonical, program_in
from pyvision.strategies.vdebugger.verdicts import mark_program, marks_in

THRESHOLD = 0.5


class Debugger(Protocol):
    """A critic and a refiner, such as `local_model.LocalDebugger`."""

    def critique(self, cases: Sequence[str]) -> list[tuple[float, str]]: ...

    def refine(self, cases: Sequence[str]) -> list[str]: ...


def is_right(case: Case, answer: str | None) -> bool:
    """Words and numbers must be equal; boxes need an IoU above 0.7, as in the authors' code."""
    if answer is None or case.form != "box":
        return answer == case.answer
    sample = Sample(case.id, "", (), [float(side) for side in case.answer.strip("[]").split(",")])
    return (iou(answer, sample).value or 0.0) > 0.7


@dataclass(frozen=True, slots=True)
class Attempts:
    """A `records.ProgramRunner` for questions of the world.

    written: the first program for each question.
    """

    cases: Mapping[str, Case]
    interpreter: Interpreter
    written: Mapping[str, str]

    def __call__(self, sample: Sample, program: str | None = None) -> ScoredProgram:
        case = self.cases[sample.id]
        text = self.written[case.id] if program is None else program
        text = canonical(text, FORMS[case.form].signature).text
        executed, answer = self.interpreter.run(case.scene, text, case.form)
        return ScoredProgram(case.id, case.task, text, executed, float(is_right(case, answer)))

    @staticmethod
    def sample(case: Case) -> Sample:
        return Sample(case.id, case.task, (), case.answer)


def attempt_in(
    cases: Mapping[str, Case], interpreter: Interpreter, written: Mapping[str, str] | None = None
) -> Attempts:
    """Attempts for these questions."""
    return Attempts(cases, interpreter, written or {})


def debug(
    programs: Sequence[ScoredProgram], attempt: Attempts, debugger: Debugger, rounds: int, *, feedback: bool
) -> list[Debugged]:
    """Critique, refine and run again, until each program is accepted, repeated, or out of rounds.

    Every program is judged at least once, even if no round is left to refine it.
    """
    questions = [_Progress([program]) for program in programs]
    for number in range(rounds + 1):
        open_questions = [question for question in questions if not question.is_closed]
        cases = [
            format_case(p.task, p.program, p.executed if feedback else None) for p in _latest(open_questions)
        ]
        verdicts = debugger.critique(cases) if cases else []
        rejected = []
        for question, (score, reply) in zip(open_questions, verdicts, strict=True):
            question.record_verdict(score)
            if not question.is_closed and number < rounds:
                rejected.append((question, reply))
        _refine(rejected, attempt, debugger, feedback=feedback)
    return [question.result() for question in questions]


class _Progress:
    """The programs and verdicts of one question so far."""

    def __init__(self, programs: list[ScoredProgram]) -> None:
        self.programs = programs
        self.verdicts: list[bool] = []
        self.is_closed = False

    def record_verdict(self, score: float) -> None:
        self.verdicts.append(score > THRESHOLD)
        self.is_closed = self.verdicts[-1]

    def add(self, program: ScoredProgram | None) -> None:
        if program is None or program.program in {each.program for each in self.programs}:
            self.is_closed = True
        else:
            self.programs.append(program)

    def result(self) -> Debugged:
        verdicts = [*self.verdicts, *[None] * len(self.programs)]
        rounds = (Round(p.score or 0.0, v) for p, v in zip(self.programs, verdicts, strict=False))
        return Debugged(self.programs[0].id, tuple(rounds))


def _latest(questions: Sequence[_Progress]) -> list[ScoredProgram]:
    return [question.programs[-1] for question in questions]


def _refine(
    rejected: Sequence[tuple[_Progress, str]], attempt: Attempts, debugger: Debugger, *, feedback: bool
) -> None:
    cases = []
    for question, text in rejected:
        latest = question.programs[-1]
        spans = marks_in(text, latest.program).spans
        marked = mark_program(latest.program, spans)
        cases.append(format_case(latest.task, marked, latest.executed if feedback else None))
    replies = debugger.refine(cases) if cases else []
    for (question, _), reply in zip(rejected, replies, strict=True):
        question.add(_run(question.programs[-1], reply, attempt))


def _run(latest: ScoredProgram, reply: str, attempt: Attempts) -> ScoredProgram | None:
    case = attempt.cases[latest.id]
    try:
        program = program_in(reply, FORMS[case.form].signature)
    except FormatError:
        return None
    return attempt(attempt.sample(case), program)
