"""What a family makes of a question: cells to run one after another, and how to read their findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pyvision.offline.findings import Finding
from pyvision.offline.pieces import collect_needed
from pyvision.text import prompts

Value: TypeAlias = "str | int | float | tuple[Value, ...] | None"


@dataclass(frozen=True, slots=True)
class Cell:
    """One method: the shared pieces and the template that make up its code, and their parameters."""

    thought: str
    template: str
    common: tuple[str, ...]
    images: tuple[int, ...] = (0,)
    settings: Mapping[str, Value] = field(default_factory=dict)

    @property
    def code(self) -> str:
        """Whole Python source: images and parameters first, so that the cell runs by itself."""
        names = [f"image_clue_{index}" for index in self.images]
        pictures = f"picture = {names[0]}" if len(names) == 1 else f"pictures = [{', '.join(names)}]"
        settings = [f"{name} = {value!r}" for name, value in self.settings.items()]
        shared = "\n\n".join(prompts.load(f"offline/common/{piece}.py") for piece in ("report", *self.common))
        method = prompts.load(f"offline/{self.template}.py").strip()
        return "\n\n".join(["\n".join([pictures, *settings]), collect_needed(shared, method), method])


@dataclass(frozen=True, slots=True)
class Found:
    """An answer, and the sentence that says what was measured."""

    sentence: str
    answer: str


@dataclass(frozen=True, slots=True)
class Undecided:
    """The cells ran, and what they show does not decide the question."""

    reason: str


Conclude: TypeAlias = Callable[[Finding], Found | None]


@dataclass(frozen=True, slots=True)
class Plan:
    """`conclude` turns the findings of any of the cells into an answer, or None where they hold none."""

    cells: tuple[Cell, ...]
    conclude: Conclude


def next_step(plan: Plan, findings: Sequence[Finding | None], *, last_turn: bool) -> Cell | Found | Undecided:
    """Answer as soon as a cell is sure, else try the next method; two that agree are sure together."""
    used = findings[: len(plan.cells)]
    drawn = [(finding, plan.conclude(finding)) for finding in used if finding is not None]
    for finding, found in drawn:
        if found and finding.confident:
            return found
    unsure = [found for _, found in drawn if found]
    if len(used) < len(plan.cells) and not last_turn:
        return plan.cells[len(used)]
    agreed = [found for found in unsure if sum(other.answer == found.answer for other in unsure) > 1]
    return agreed[-1] if agreed else Undecided(_reason(drawn, unsure))


def _reason(drawn: Sequence[tuple[Finding, Found | None]], unsure: Sequence[Found]) -> str:
    reasons = [finding.why for finding, _ in drawn if finding.why]
    measured = f" (measured, but not sure: {', '.join(found.answer for found in unsure)})" if unsure else ""
    return (reasons[-1] if reasons else "the cells gave no usable measurement") + measured
