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
from pyvision.experiments.vdebugger_training.records import Program
from pyvision.strategies.vdebugger.fault_spans import mark_program, marks_in
from pyvision.strategies.vdebugger.programs import canonical, program_in
from pyvision.strategies.vdebugger.task_types import FORMS

THRESHOLD = 0.5


class Debugger(Protocol):
    """A critic and a refiner by their texts, `LocalDebugger` of `pyvision.experiments` for one."""

    def critique(self, cases: Sequence[str]) -> list[tuple[float, str]]: ...

    def refine(self, cases: Sequence[str]) -> list[str]: ...


def is_right(case: Case, answer: str | None) -> bool:
    """A word or a number exactly; a box by more than 0.7 of intersection over union, as the authors' code has it."""
    if answer is None or case.form != "box":
        return answer == case.answer
    sample = Sample(case.id, "", (), [float(side) for side in case.answer.strip("[]").split(",")])
    return (iou(answer, sample).value or 0.0) > 0.7


@dataclass(frozen=True, slots=True)
class Attempts:
    """A `pyvision.experiments.vdebugger_training.records.Attempt` on questions of the world.

    written: the first programs by question.
    """

    cases: Mapping[str, Case]
    interpreter: Interpreter
    written: Mapping[str, str]

    def __call__(self, sample: Sample, program: str | None = None) -> Program:
        case = self.cases[sample.id]
        text = self.written[case.id] if program is None else program
        text = canonical(text, FORMS[case.form].signature).text
        executed, answer = self.interpreter.run(case.scene, text, case.form)
        return Program(case.id, case.task, text, executed, float(is_right(case, answer)))

    @staticmethod
    def sample(case: Case) -> Sample:
        return Sample(case.id, case.task, (), case.answer)


def attempt_in(
    cases: Mapping[str, Case], interpreter: Interpreter, written: Mapping[str, str] | None = None
) -> Attempts:
    """Attempts at these questions."""
    return Attempts(cases, interpreter, written or {})


def debug(
    programs: Sequence[Program], attempt: Attempts, debugger: Debugger, rounds: int, *, feedback: bool
) -> list[Debugged]:
    """Judge, refine and run again, until each is accepted, repeated, or has had its rounds.

    Every program is judged at least once, also where no round is left to refine it.
    """
    courses = [_Course([program]) for program in programs]
    for number in range(rounds + 1):
        open_ones = [course for course in courses if not course.is_closed]
        cases = [format_case(p.task, p.program, p.executed if feedback else None) for p in _latest(open_ones)]
        verdicts = debugger.critique(cases) if cases else []
        refused = []
        for course, (score, said) in zip(open_ones, verdicts, strict=True):
            course.judge(score)
            if not course.is_closed and number < rounds:
                refused.append((course, said))
        _refine(refused, attempt, debugger, feedback=feedback)
    return [course.told() for course in courses]


class _Course:
    """One question on its way."""

    def __init__(self, programs: list[Program]) -> None:
        self.programs = programs
        self.verdicts: list[bool] = []
        self.is_closed = False

    def judge(self, score: float) -> None:
        self.verdicts.append(score > THRESHOLD)
        self.is_closed = self.verdicts[-1]

    def take(self, program: Program | None) -> None:
        if program is None or program.program in {each.program for each in self.programs}:
            self.is_closed = True
        else:
            self.programs.append(program)

    def told(self) -> Debugged:
        verdicts = [*self.verdicts, *[None] * len(self.programs)]
        rounds = (Round(p.score or 0.0, v) for p, v in zip(self.programs, verdicts, strict=False))
        return Debugged(self.programs[0].id, tuple(rounds))


def _latest(courses: Sequence[_Course]) -> list[Program]:
    return [course.programs[-1] for course in courses]


def _refine(
    refused: Sequence[tuple[_Course, str]], attempt: Attempts, debugger: Debugger, *, feedback: bool
) -> None:
    cases = []
    for course, said in refused:
        latest = course.programs[-1]
        spans = marks_in(said, latest.program).spans
        text = mark_program(latest.program, spans)
        cases.append(format_case(latest.task, text, latest.executed if feedback else None))
    replies = debugger.refine(cases) if cases else []
    for (course, _), reply in zip(refused, replies, strict=True):
        course.take(_run(course.programs[-1], reply, attempt))


def _run(latest: Program, reply: str, attempt: Attempts) -> Program | None:
    case = attempt.cases[latest.id]
    try:
        program = program_in(reply, FORMS[case.form].signature)
    except FormatError:
        return None
    return attempt(attempt.sample(case), program)
