"""Measure debugging: from the runs of an experiment, or of a trained model on lessons that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyvision.bench.analysis.statistics import Estimate, mean_interval, wilson
from pyvision.bench.grading import Grading, find_grading
from pyvision.bench.samples import Record, Sample
from pyvision.bench.store import Store
from pyvision.errors import ConfigError, FormatError
from pyvision.events import Event, Note, RunStarted
from pyvision.experiments.vdebugger_training.local_model import Local
from pyvision.experiments.vdebugger_training.masking import canonical
from pyvision.experiments.vdebugger_training.packing import CRITIC_INST, RIGHT, TokenBudget, encode_prompt
from pyvision.experiments.vdebugger_training.records import RIGHT_FROM, Example
from pyvision.strategies.vdebugger.answers import Returned, answer_of, box_in
from pyvision.strategies.vdebugger.fault_spans import OPEN, marks_in
from pyvision.strategies.vdebugger.programs import program_in
from pyvision.trajectory import read_trajectory


def read_debugged(folder: Path) -> tuple[tuple[Debugged, ...], int]:
    """The questions of an experiment with the strategy vdebugger, and how many rounds each had at most.

    A sample that is unscored is left out. Answers are read out of each program's result, so that every round has a
    score; a list is read as its text. Raises ConfigError.
    """
    with Store(folder) as store:
        strategy, options = store.configuration.get("strategy"), store.configuration.get("options", {})
        if strategy != "vdebugger":
            raise ConfigError(
                f"{folder}: holds an experiment with {strategy!r}; --strategy vdebugger is needed"
            )
        grading = find_grading(store.default_metric)
        samples = {sample.id: sample for sample in store.samples()}
        found = tuple(_all(store, samples, grading))
    if not found:
        raise ConfigError(f"{folder}: no program was scored; `bench run` goes on with it")
    return found, int(options.get("rounds", 0)) if options.get("mode") != "none" else 0


def rounds_in(events: Sequence[Event], sample: Sample, grading: Grading, record: Record) -> tuple[Round, ...]:
    """Every program of a run with its score and the verdict on it; empty where one cannot be scored."""
    began = next((event for event in events if isinstance(event, RunStarted)), None)
    height = began.question.images[0].height if began and began.question.images else 0
    notes = [event for event in events if isinstance(event, Note)]
    accepted = {
        note.data["round"] - 1: bool(note.data["accepted"]) for note in notes if note.label == "verdict"
    }
    rounds: list[Round] = []
    for number, told in enumerate(note.data for note in notes if note.label == "program"):
        score = grading.score(_as_record(record, told, height), sample).value
        if score is None:
            return ()
        rounds.append(Round(score, accepted.get(number)))
    return tuple(rounds)


@dataclass(frozen=True, slots=True)
class ExampleMeasures:
    """How a trained model does on lessons. verdicts: judged as taught. places: of faults that were taught, marked so
    that they overlap; exact: marked just so. corrections: written just as taught, another program may be right too.
    """

    verdicts: Estimate | None
    places: Estimate | None
    exact: Estimate | None
    corrections: Estimate | None


def measure_examples(examples: Sequence[Example], model: Local, token_budget: TokenBudget) -> ExampleMeasures:
    """Put lessons to a model that has not seen them: those of a critic and of a refiner by their instruction."""
    prompts = [encode_prompt(each.prompt, each.inst, model.tokenizer, token_budget) for each in examples]
    replies = list(zip(examples, prompts, model.continued(prompts, token_budget.answer), strict=True))
    critic = [each for each in replies if each[0].inst == CRITIC_INST]
    scores = model.accepts([prompt for _, prompt, _ in critic])
    verdicts = [
        (score > 0.5) == (example.completion == RIGHT)
        for (example, _, _), score in zip(critic, scores, strict=True)
    ]
    places = [_place(example, said) for example, _, said in critic if OPEN in example.completion]
    corrections = [
        _is_correction(example, said) for example, _, said in replies if example.inst != CRITIC_INST
    ]
    return ExampleMeasures(
        _share(verdicts),
        _share([overlaps for overlaps, _ in places]),
        _share([exact for _, exact in places]),
        _share(corrections),
    )


def _all(store: Store, samples: dict[str, Sample], grading: Grading) -> Iterator[Debugged]:
    for record in store.records():
        folder = store.run_folder(record.sample_id, record.repeat)
        if folder is None:
            continue
        events = read_trajectory(folder).events
        rounds = rounds_in(events, samples[record.sample_id], grading, record)
        if rounds:
            yield Debugged(f"{record.sample_id} {record.repeat}", rounds)


def _as_record(record: Record, told: dict[str, Any], height: int) -> Record:
    """The record as it would be if this program had been the last one, and nothing put in its place."""
    return replace(record, answer=read_answer(told, height), end_reason="answered")


def read_answer(told: dict[str, Any], height: int) -> str | None:
    """The answer that a program's result makes, from its text; None where it makes none."""
    text = str(told["result"])
    if told["error"] or text == "None":
        return None
    returned = Returned("str", text, len(text), text, box_in(text), is_empty=text in ("[]", "()"))
    try:
        return answer_of(returned, told["form"], height)
    except FormatError:
        return None


def _place(example: Example, said: str) -> tuple[bool, bool]:
    """Whether the fault is marked where it was taught, in part and exactly."""
    program = example.completion.partition("\n")[2].replace(OPEN, "").replace("<<<BUG/>>>", "")
    taught, found = marks_in(example.completion, program).spans, marks_in(said, program).spans
    if not taught or not found:
        return False, False
    overlaps = any(a.start < b.end and b.start < a.end for a in taught for b in found)
    return overlaps, taught == found


def _is_correction(example: Example, said: str) -> bool:
    signature = example.completion.strip().partition("\n")[0]
    try:
        return canonical(program_in(said, signature)) == canonical(example.completion.strip())
    except FormatError:
        return False


def _share(outcomes: Sequence[bool]) -> Estimate | None:
    return wilson(sum(outcomes), len(outcomes))


# ---- How well critics and refiners do: the quantities of VDebugger's Tables 3 to 6, by round, with 95 % intervals.


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
