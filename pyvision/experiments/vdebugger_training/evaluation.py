"""Measure debugging: from the runs of an experiment, or of a trained model on lessons that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyvision.bench.analysis.statistics import Estimate, wilson
from pyvision.bench.grading import Grading, find_grading
from pyvision.bench.samples import Record, Sample
from pyvision.bench.store import Store
from pyvision.errors import ConfigError, FormatError
from pyvision.events import Event, Note, RunStarted
from pyvision.experiments.vdebugger_training.encoding import TokenBudget, encode_prompt
from pyvision.experiments.vdebugger_training.local_model import Local
from pyvision.experiments.vdebugger_training.metrics import Debugged, Round
from pyvision.experiments.vdebugger_training.prompt_templates import CRITIC_INST, RIGHT
from pyvision.experiments.vdebugger_training.records import Example
from pyvision.experiments.vdebugger_training.spans import canonical
from pyvision.strategies.vdebugger.execution import Returned, answer_of, box_in
from pyvision.strategies.vdebugger.programs import program_in
from pyvision.strategies.vdebugger.verdicts import OPEN, marks_in
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
