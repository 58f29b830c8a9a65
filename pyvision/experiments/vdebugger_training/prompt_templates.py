"""What a trained critic and refiner read and write: the case of `prompts/vdebugger`, and lessons about it.

Source: section 3.1 and Figure 9 of VDebugger (arXiv 2406.13444) and its authors' code. The word of a negative verdict
and the space before a verdict are ours: neither is told.
"""

from __future__ import annotations

from pyvision.experiments.vdebugger_training.records import Executed
from pyvision.strategies.vdebugger.execution import COMPILE_ERROR
from pyvision.strategies.vdebugger.verdicts import Span, mark_program
from pyvision.text.prompts import render

CRITIC_INST = "\n\n# Program is"
REFINER_INST = "\n\n# Correction"
RIGHT, WRONG = " right", " wrong"
TRACE = "\n\n--- Trace\n\n"


def case(task: str, program: str, executed: Executed | None) -> str:
    """A program about a task with what it did; without feedback where `executed` is None."""
    if executed is None:
        return render("vdebugger/case_without_feedback.md", line=task, program=program)
    trace = COMPILE_ERROR if executed.trace is None else executed.trace or "(none)"
    return render("vdebugger/case.md", line=task, program=program, result=executed.result, trace=trace)


def annotate(program: str, span: tuple[int, int]) -> str:
    """The program with the faulty characters between the marks."""
    return mark_program(program, (Span(*span),))


def rejection(program: str, span: tuple[int, int]) -> str:
    """What a critic says of a wrong program whose fault is known."""
    return f"{WRONG}\n{annotate(program, span)}"
