"""Mask a span of a program, and find in a refilled program what was put in its place."""

from __future__ import annotations

import random
from dataclasses import dataclass

from pyvision.errors import FormatError
from pyvision.experiments.vdebugger_training.spans import Span, candidates, canonical

MASK = "<<<MASKED>>>"  # as in the paper's Figure 11; its authors' code writes <MASKED>


@dataclass(frozen=True, slots=True)
class Masked:
    """A program, canonical, and the span of it that is hidden."""

    program: str
    span: Span

    @property
    def text(self) -> str:
        """The program with the mask in place of the span; several lines collapse to it."""
        return self.before + MASK + self.after

    @property
    def before(self) -> str:
        return self.program[: self.span.start]

    @property
    def after(self) -> str:
        return self.program[self.span.end :]


def mask_somewhere(program: str, chance: random.Random) -> Masked:
    """A candidate of the program chosen evenly, so that windows, of which there are most, are chosen most.

    Raises FormatError where the program does not parse or has no candidate.
    """
    program = canonical(program)
    if MASK in program:
        raise FormatError(f"the program holds {MASK} already")
    spans = candidates(program)
    if not spans:
        raise FormatError(f"nothing in the program can be masked: {program[:60]!r}")
    return Masked(program, chance.choice(spans))


def parse_infill(masked: Masked, answer: str) -> tuple[str, Span]:
    """The program of a refill, canonical, and the span of it that is new: all that stands in the mask's place.

    answer: the whole program as a model wrote it. Raises FormatError where it does not parse, where anything but the
    mask was changed, where nothing was, or where nothing was put in.
    """
    program = canonical(answer)
    if program == masked.program:
        raise FormatError("the refill is what was masked")
    if not (program.startswith(masked.before) and program.endswith(masked.after)):
        raise FormatError("the refill changes more than the mask")
    end = len(program) - len(masked.after)
    if end <= masked.span.start:
        raise FormatError("the refill leaves the mask empty")
    return program, Span(masked.span.start, end, masked.span.kind)
