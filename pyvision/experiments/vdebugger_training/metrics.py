"""How well critics and refiners do: the quantities of VDebugger's Tables 3 to 6, by round, with 95 % intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyvision.bench.analysis.statistics import Estimate, mean_interval, wilson
from pyvision.experiments.vdebugger_training.records import RIGHT_FROM


@dataclass(frozen=True, slots=True)
class Round:
    """One program of a question. score: of its answer, 0 to 1. accepted: by the critic; None where none judged it."""

    score: float
    accepted: bool | None = None

    @property
    def is_right(self) -> bool:
        return self.score > RIGHT_FROM


@dataclass(frozen=True, slots=True)
class Debugged:
    """The programs of one question, the first one first; never empty."""

    id: str
    rounds: tuple[Round, ...]


@dataclass(frozen=True, slots=True)
class Measures:
    """What a column of the table holds.

    critic: share of first programs that were judged as they are. of_right, of_wrong: the same of those that are right
    and wrong. refiner: share of first programs, wrong and refused, whose first refinement is right. harm: share of
    first programs, right but refused, whose last one is wrong. task: the mean score after 0, 1, … rounds.
    """

    critic: Estimate | None
    of_right: Estimate | None
    of_wrong: Estimate | None
    refiner: Estimate | None
    harm: Estimate | None
    task: tuple[Estimate | None, ...]


def measure(questions: Sequence[Debugged], rounds: int) -> Measures:
    """The measures over questions that were debugged for at most so many rounds."""
    first = [question.rounds[0] for question in questions if question.rounds[0].accepted is not None]
    refused = [question for question in questions if question.rounds[0].accepted is False]
    wrong = [question for question in refused if not question.rounds[0].is_right]
    right = [question for question in refused if question.rounds[0].is_right]
    return Measures(
        _share([program.accepted == program.is_right for program in first]),
        _share([bool(program.accepted) for program in first if program.is_right]),
        _share([not program.accepted for program in first if not program.is_right]),
        _share([len(each.rounds) > 1 and each.rounds[1].is_right for each in wrong]),
        _share([not each.rounds[-1].is_right for each in right]),
        tuple(
            mean_interval([[score_after(each, number)] for each in questions]) for number in range(rounds + 1)
        ),
    )


def score_after(question: Debugged, rounds: int) -> float:
    """The score of the program that stands after so many rounds."""
    return question.rounds[min(rounds, len(question.rounds) - 1)].score


def table(columns: Mapping[str, Measures]) -> str:
    """The measures in percent, one column for each way of debugging."""
    rows = {
        "critic: judged as it is": [each.critic for each in columns.values()],
        "  of right programs": [each.of_right for each in columns.values()],
        "  of wrong programs": [each.of_wrong for each in columns.values()],
        "refiner: wrong, refused, then right": [each.refiner for each in columns.values()],
        "right, refused, at last wrong": [each.harm for each in columns.values()],
    }
    most = max((len(each.task) for each in columns.values()), default=0)
    for number in range(most):
        label = f"task score after {number} round{'' if number == 1 else 's'}"
        rows[label] = [each.task[number] if number < len(each.task) else None for each in columns.values()]
    return format_rows(list(columns), rows)


def format_rows(heads: Sequence[str], rows: Mapping[str, Sequence[Estimate | None]]) -> str:
    """A table of estimates, as wide as what stands in it."""
    cells = {label: [told(value) for value in values] for label, values in rows.items()}
    left = max(map(len, rows), default=0)
    widths = [
        max(len(head), *(len(row[place]) for row in cells.values())) for place, head in enumerate(heads)
    ]
    lines = [
        _line("", heads, left, widths),
        *(_line(label, row, left, widths) for label, row in cells.items()),
    ]
    return "\n".join(lines)


def told(value: Estimate | None) -> str:
    """As `72.1 [67.8, 76.0] of 480`, in percent."""
    if value is None:
        return "–"
    return f"{value.value:.1%} [{value.low:.1%}, {value.high:.1%}] of {value.n}".replace("%", "")


def _line(label: str, cells: Sequence[str], left: int, widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"{label.ljust(left)}  {'  '.join(padded)}".rstrip()


def _share(outcomes: Sequence[bool]) -> Estimate | None:
    return wilson(sum(outcomes), len(outcomes))
