"""Evaluate critics and refiners: on the runs of an experiment, or on held-out training examples.

The quantities are those of VDebugger's Tables 3 to 6, by round, with 95 % intervals.
"""

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
from pyvision.experiments.vdebugger_training.records import RIGHT_FROM, TrainingExample
from pyvision.strategies.vdebugger.execution import Returned, answer_of, box_in
from pyvision.strategies.vdebugger.programs import program_in
from pyvision.strategies.vdebugger.verdicts import OPEN, marks_in
from pyvision.trajectory import read_trajectory


@dataclass(frozen=True, slots=True)
class Round:
    """One program of a question. score: of its answer, 0 to 1. accepted: by the critic; None without a verdict."""

    score: float
    accepted: bool | None = None

    @property
    def is_right(self) -> bool:
        return self.score > RIGHT_FROM


@dataclass(frozen=True, slots=True)
class Debugged:
    """The programs of one question, in order; never empty."""

    id: str
    rounds: tuple[Round, ...]


@dataclass(frozen=True, slots=True)
class Measures:
    """One column of the table.

    critic: share of first programs judged correctly; of_right, of_wrong: the same among correct and wrong programs.
    refiner: share of wrong, rejected first programs whose first refinement is correct. harm: share of correct, rejected
    first programs whose last program is wrong. task: mean score after 0, 1, … rounds.
    """

    critic: Estimate | None
    of_right: Estimate | None
    of_wrong: Estimate | None
    refiner: Estimate | None
    harm: Estimate | None
    task: tuple[Estimate | None, ...]


@dataclass(frozen=True, slots=True)
class ExampleMeasures:
    """How a trained model does on examples. verdicts: as in the example. places: error marks that overlap with those
    of the example; exact: equal to them. corrections: equal to the example's, though other programs may be correct too.
    """

    verdicts: Estimate | None
    places: Estimate | None
    exact: Estimate | None
    corrections: Estimate | None


def read_debugged(folder: Path) -> tuple[tuple[Debugged, ...], int]:
    """The questions of an experiment with the strategy vdebugger, and the maximum number of rounds.

    Unscored samples are omitted. Answers are read from the recorded result of each program, so that every round has a
    score; a list is scored as its text. Raises ConfigError.
    """
    with Store(folder) as store:
        strategy, options = store.configuration.get("strategy"), store.configuration.get("options", {})
        if strategy != "vdebugger":
            raise ConfigError(
                f"{folder}: contains an experiment with {strategy!r}; --strategy vdebugger is required"
            )
        grading = find_grading(store.default_metric)
        samples = {sample.id: sample for sample in store.samples()}
        found = tuple(_read_all(store, samples, grading))
    if not found:
        raise ConfigError(f"{folder}: no program was scored; resume the experiment with `bench run`")
    return found, int(options.get("rounds", 0)) if options.get("mode") != "none" else 0


def read_rounds(
    events: Sequence[Event], sample: Sample, grading: Grading, record: Record
) -> tuple[Round, ...]:
    """Every program of a run with its score and the verdict on it; empty if one cannot be scored."""
    began = next((event for event in events if isinstance(event, RunStarted)), None)
    height = began.question.images[0].height if began and began.question.images else 0
    notes = [event for event in events if isinstance(event, Note)]
    accepted = {
        note.data["round"] - 1: bool(note.data["accepted"]) for note in notes if note.label == "verdict"
    }
    rounds: list[Round] = []
    for number, data in enumerate(note.data for note in notes if note.label == "program"):
        score = grading.score(_as_record(record, data, height), sample).value
        if score is None:
            return ()
        rounds.append(Round(score, accepted.get(number)))
    return tuple(rounds)


def measure(questions: Sequence[Debugged], rounds: int) -> Measures:
    """The measures of questions that were debugged for at most `rounds` rounds."""
    first = [question.rounds[0] for question in questions if question.rounds[0].accepted is not None]
    rejected = [question for question in questions if question.rounds[0].accepted is False]
    wrong = [question for question in rejected if not question.rounds[0].is_right]
    right = [question for question in rejected if question.rounds[0].is_right]
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
    """The score of the current program after so many rounds."""
    return question.rounds[min(rounds, len(question.rounds) - 1)].score


def measure_examples(
    examples: Sequence[TrainingExample], model: Local, token_budget: TokenBudget
) -> ExampleMeasures:
    """Evaluate a model on held-out examples of a critic or a refiner, recognised by their instruction."""
    prompts = [encode_prompt(each.prompt, each.inst, model.tokenizer, token_budget) for each in examples]
    replies = list(zip(examples, prompts, model.generate(prompts, token_budget.answer), strict=True))
    critic = [each for each in replies if each[0].inst == CRITIC_INST]
    scores = model.score_verdicts([prompt for _, prompt, _ in critic])
    verdicts = [
        (score > 0.5) == (example.completion == RIGHT)
        for (example, _, _), score in zip(critic, scores, strict=True)
    ]
    places = [_compare_marks(example, reply) for example, _, reply in critic if OPEN in example.completion]
    corrections = [
        _is_correction(example, reply) for example, _, reply in replies if example.inst != CRITIC_INST
    ]
    return ExampleMeasures(
        _share(verdicts),
        _share([overlaps for overlaps, _ in places]),
        _share([exact for _, exact in places]),
        _share(corrections),
    )


def table(columns: Mapping[str, Measures]) -> str:
    """The measures in percent, one column each."""
    rows = {
        "critic: judged correctly": [each.critic for each in columns.values()],
        "  of correct programs": [each.of_right for each in columns.values()],
        "  of wrong programs": [each.of_wrong for each in columns.values()],
        "refiner: wrong, rejected, then correct": [each.refiner for each in columns.values()],
        "correct, rejected, finally wrong": [each.harm for each in columns.values()],
    }
    rounds = max((len(each.task) for each in columns.values()), default=0)
    for number in range(rounds):
        label = f"task score after {number} round{'' if number == 1 else 's'}"
        rows[label] = [each.task[number] if number < len(each.task) else None for each in columns.values()]
    return format_rows(list(columns), rows)


def format_rows(heads: Sequence[str], rows: Mapping[str, Sequence[Estimate | None]]) -> str:
    """A table of estimates."""
    cells = {label: [format_estimate(value) for value in values] for label, values in rows.items()}
    left = max(map(len, rows), default=0)
    widths = [
        max(len(head), *(len(row[index]) for row in cells.values())) for index, head in enumerate(heads)
    ]
    lines = [
        _line("", heads, left, widths),
        *(_line(label, row, left, widths) for label, row in cells.items()),
    ]
    return "\n".join(lines)


def format_estimate(value: Estimate | None) -> str:
    """As `72.1 [67.8, 76.0] of 480`, in percent."""
    if value is None:
        return "–"
    return f"{value.value:.1%} [{value.low:.1%}, {value.high:.1%}] of {value.n}".replace("%", "")


def _read_all(store: Store, samples: dict[str, Sample], grading: Grading) -> Iterator[Debugged]:
    for record in store.records():
        folder = store.run_folder(record.sample_id, record.repeat)
        if folder is None:
            continue
        events = read_trajectory(folder).events
        rounds = read_rounds(events, samples[record.sample_id], grading, record)
        if rounds:
            yield Debugged(f"{record.sample_id} {record.repeat}", rounds)


def _as_record(record: Record, data: dict[str, Any], height: int) -> Record:
    """The record as if this program had been the last one, without a replacement."""
    return replace(record, answer=read_answer(data, height), end_reason="answered")


def read_answer(data: dict[str, Any], height: int) -> str | None:
    """The answer in the text of a program's result; None if there is none."""
    text = str(data["result"])
    if data["error"] or text == "None":
        return None
    returned = Returned("str", text, len(text), text, box_in(text), is_empty=text in ("[]", "()"))
    try:
        return answer_of(returned, data["form"], height)
    except FormatError:
        return None


def _compare_marks(example: TrainingExample, reply: str) -> tuple[bool, bool]:
    """Whether the marks of a reply overlap with those of the example, and whether they are equal."""
    program = example.completion.partition("\n")[2].replace(OPEN, "").replace("<<<BUG/>>>", "")
    expected, found = marks_in(example.completion, program).spans, marks_in(reply, program).spans
    if not expected or not found:
        return False, False
    overlaps = any(a.start < b.end and b.start < a.end for a in expected for b in found)
    return overlaps, expected == found


def _is_correction(example: TrainingExample, reply: str) -> bool:
    signature = example.completion.strip().partition("\n")[0]
    try:
        return canonical(program_in(reply, signature)) == canonical(example.completion.strip())
    except FormatError:
        return False


def _share(outcomes: Sequence[bool]) -> Estimate | None:
    return wilson(sum(outcomes), len(outcomes))


def _line(label: str, cells: Sequence[str], left: int, widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"{label.ljust(left)}  {'  '.join(padded)}".rstrip()
