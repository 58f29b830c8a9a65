"""A plan for a question: cells to run one after another, and how to read what they report.

Cells run untrusted code: what they printed is checked, and stripped of what could be taken for markup.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from pyvision.text import prompts

MODULES = str(Path(__file__).resolve().parent / "modules")
"""The folder of what cells import; a sandbox offers it to them (`Policy.modules`)."""

_RESULT = re.compile(r"^\s*RESULT (\{.*\})\s*$", re.MULTILINE)
_UNSAFE = re.compile(r"[\\{}<>$`\x00-\x1f\x7f]")
_MAX_TEXT_CHARS = 300

Value: TypeAlias = "str | int | float | tuple[Value, ...] | None"


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """One method: a template of prompts/offline and its variables. images: the k of each `image_clue_k`."""

    thought: str
    template: str
    images: tuple[int, ...] = (0,)
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def code(self) -> str:
        """A complete program, which imports what it needs from `pyvision_offline`."""
        names = (f"image_clue_{number}" for number in self.images)
        images = dict(zip(("image", "other_image"), names, strict=False))
        return prompts.render(f"offline/{self.template}.txt", **images, **self.variables)


def format_literal(value: Value) -> str:
    """The value as Python source. No string of ours holds a quotation mark."""
    return repr(value).replace("'", '"')


@dataclass(frozen=True, slots=True)
class CellFindings:
    """The findings of one cell; each accessor gives None if the value is missing or of another type."""

    values: Mapping[str, Any]

    @property
    def confident(self) -> bool:
        return self.values.get("confident") is True

    @property
    def why(self) -> str:
        """Why the cell is not confident; empty if it does not say."""
        return self.text("why") or ""

    def whole(self, key: str) -> int | None:
        value = self.values.get(key)
        return value if _is_whole(value) else None

    def number(self, key: str) -> float | None:
        value = self.values.get(key)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def flag(self, key: str) -> bool | None:
        value = self.values.get(key)
        return value if isinstance(value, bool) else None

    def text(self, key: str) -> str | None:
        """One line without braces, tags and the like, so that it can stand in an answer."""
        value = self.values.get(key)
        return _UNSAFE.sub(" ", value)[:_MAX_TEXT_CHARS].strip() if isinstance(value, str) else None

    def texts(self, key: str) -> tuple[str, ...] | None:
        value = self.values.get(key)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            return None
        return tuple(_UNSAFE.sub(" ", item)[:40].strip() for item in value[:20])

    def boxes(self, key: str) -> tuple[tuple[int, ...], ...] | None:
        """Rows of four whole numbers: left, top, right, bottom in pixels."""
        rows = self.values.get(key)
        if not isinstance(rows, list):
            return None
        whole = all(isinstance(row, list) and len(row) == 4 and all(map(_is_whole, row)) for row in rows)
        return tuple(tuple(row) for row in rows[:20]) if whole else None


@dataclass(frozen=True, slots=True)
class MeasuredAnswer:
    """An answer, and the sentence that says what was measured."""

    sentence: str
    answer: str


@dataclass(frozen=True, slots=True)
class Undecided:
    """The question cannot be answered from what the cells reported."""

    reason: str


Conclude: TypeAlias = Callable[[CellFindings], MeasuredAnswer | None]


@dataclass(frozen=True, slots=True)
class MeasurementPlan:
    """`conclude` turns the findings of any of its cells into an answer, or None if they contain none."""

    cells: tuple[PlannedCell, ...]
    conclude: Conclude


def parse_finding(output: str) -> CellFindings | None:
    """The last RESULT line of an output, or None if there is none or it is invalid."""
    lines = _RESULT.findall(output)
    try:
        values = json.loads(lines[-1]) if lines else None
    except (ValueError, RecursionError):
        return None
    return CellFindings(values) if isinstance(values, dict) else None


def next_step(
    plan: MeasurementPlan, findings: Sequence[CellFindings | None], *, last_turn: bool
) -> PlannedCell | MeasuredAnswer | Undecided:
    """Answer as soon as a cell is confident; else try the next method. Two methods that agree are believed as well."""
    findings = findings[: len(plan.cells)]
    results = [(finding, plan.conclude(finding)) for finding in findings if finding is not None]
    for finding, found in results:
        if found and finding.confident:
            return found
    unsure = [found for _, found in results if found]
    left = _cells_left(plan, findings)
    if left and not last_turn:
        return left[0]
    repeated = [found for found in unsure if sum(other.answer == found.answer for other in unsure) > 1]
    return repeated[-1] if repeated else Undecided(_find_reason(results, unsure))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _cells_left(plan: MeasurementPlan, findings: Sequence[CellFindings | None]) -> list[PlannedCell]:
    """The cells after those that ran; one that found nothing is not repeated."""
    left = list(plan.cells)
    for finding in findings:
        ran = left.pop(0)
        while left and left[0] == ran and (finding is None or plan.conclude(finding) is None):
            left.pop(0)
        if not left:
            break
    return left


def _find_reason(
    results: Sequence[tuple[CellFindings, MeasuredAnswer | None]], unsure: Sequence[MeasuredAnswer]
) -> str:
    reasons = [finding.why for finding, _ in results if finding.why]
    measured = f" (measured, but not sure: {', '.join(found.answer for found in unsure)})" if unsure else ""
    return (reasons[-1] if reasons else "the cells gave no usable measurement") + measured
