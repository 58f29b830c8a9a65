"""The whole experiment with PyVision's own pipeline: write, inject, pack, train, debug; and its tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.worlds.claims import Aim, compare_questions, format_table
from benchmarks.worlds.vdebugger_world.grammar import make_cases
from benchmarks.worlds.vdebugger_world.models import (
    Filler,
    Shape,
    coder_examples,
    drills,
    filler_examples,
    first_programs,
    new_model,
)
from benchmarks.worlds.vdebugger_world.scenes import Interpreter, Perception
from benchmarks.worlds.vdebugger_world.simulation import Attempts, attempt_in, debug
from pyvision.bench.analysis.statistics import Estimate, wilson
from pyvision.experiments.vdebugger_training.dataset import (
    PROGRAMS,
    InjectionConfig,
    Pipeline,
    generate,
    inject,
)
from pyvision.experiments.vdebugger_training.evaluation import Debugged, format_rows, measure, table
from pyvision.experiments.vdebugger_training.fine_tuning import TrainingStep, train
from pyvision.experiments.vdebugger_training.local_model import Local, LocalDebugger
from pyvision.experiments.vdebugger_training.mask_best import MaskBest
from pyvision.experiments.vdebugger_training.packing import Packing, TokenBudget, format_case, pack
from pyvision.experiments.vdebugger_training.recipe import Recipe
from pyvision.experiments.vdebugger_training.records import (
    Decoding,
    Injected,
    ScoredProgram,
    TrainingExample,
    read,
)

ROUNDS = 3
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the experiment.

    drills: lists to copy in the first training. coding: questions to train the coder, for one epoch: few, so that it
    makes errors. filling: questions to train the filler. training: questions whose programs are broken, `attempts`
    times with each decoding. testing: questions of each test.
    """

    drills: int
    coding: int
    filling: int
    training: int
    attempts: int
    testing: int
    filler_epochs: int
    debugger_epochs: int
    shape: Shape = field(default_factory=Shape)
    blindness: float = 0.0
    seed: int = 0

    def recipe(self, epochs: int) -> Recipe:
        return Recipe(
            epochs=epochs,
            learning_rate=3e-3,
            warm_up=0.05,
            weight_decay=0.01,
            batch=16,
            at_once=8,
            tokens=self.shape.tokens,
            answer=160,
            clip=1.0,
            seed=self.seed,
            save_every=0,
        )

    @property
    def token_budget(self) -> TokenBudget:
        return self.recipe(1).token_budget


QUICK = Size(2000, 1100, 500, 400, 2, 100, 3, 4)
FULL = Size(2000, 1100, 1500, 2000, 3, 300, 3, 6)


def run(size: Size, folder: Path, tell: Tell) -> Findings:
    """Run the experiment, resuming what is in the folder."""
    interpreter, log = Interpreter(Perception(size.blindness)), _Log(tell)
    coder, filler = _writers(size, folder, interpreter, log)
    cases = {case.id: case for case in make_cases(f"training {size.seed}", size.training)}
    first = first_programs(coder, list(cases.values()), size.token_budget)
    pipeline = Pipeline(attempt_in(cases, interpreter, first), folder / "data")
    samples = {case.id: Attempts.sample(case) for case in cases.values()}
    written = generate(samples.values(), pipeline)
    log(f"first programs: {dict(written)}")
    injected: dict[str, Mapping[str, int]] = {}
    for decoding in _DECODINGS:
        infill = Filler(filler, size.token_budget, MaskBest() if decoding == "mask_best" else None, size.seed)
        injected[decoding] = inject(
            samples, infill, pipeline, InjectionConfig(decoding, size.attempts, 64, size.seed)
        )
        log(f"injected, {decoding}: {dict(injected[decoding])}")
    debuggers = {
        name: _debugger(size, folder, name, log, feedback=feedback) for name, feedback in _CRITICS.items()
    }
    tests = _tests(size, interpreter, coder, filler, folder)
    log("tests written")
    return Findings(written, injected, _debug_all(tests, debuggers, log), ROUNDS)


_DECODINGS: tuple[Decoding, ...] = ("greedy", "mask_best")
_CRITICS = {"without feedback": False, "with feedback": True}
NEW_SCENES, NEW_SHAPES = (
    "the coder's own programs, new scenes",
    "held-out variants of programs, half of them broken",
)


def compute_on_one_core() -> None:
    """Such small tensors gain nothing from a second thread."""
    import torch

    torch.set_num_threads(1)


class _Log:
    """Reports progress with the time since the start."""

    def __init__(self, tell: Tell) -> None:
        self._tell, self._began = tell, time.monotonic()

    def __call__(self, line: str) -> None:
        self._tell(f"[{time.monotonic() - self._began:6.0f} s] {line}")


def _writers(size: Size, folder: Path, interpreter: Interpreter, log: _Log) -> tuple[Local, Local]:
    """The coder and the filler, both trained from a model that has learned to copy names."""
    coding = tuple(coder_examples(make_cases(f"coding {size.seed}", size.coding), size.seed))
    cases = make_cases(f"filling {size.seed}", size.filling)
    filling = tuple(filler_examples(cases, size.seed))
    start = folder / "start"
    if not start.exists():
        executed = (interpreter.run(case.scene, case.program(0), case.form)[0] for case in cases[:300])
        traces = [
            format_case(each.task, each.program(0), ran) for each, ran in zip(cases, executed, strict=False)
        ]
        texts = [each.prompt + each.inst + each.completion for each in (*coding, *filling)]
        new_model(start, [*texts, *traces], size.shape)
    copies = _train(tuple(drills(size.drills, size.seed)), start, folder / "copies", size, 1, log)
    coder = _train(coding, copies, folder / "coder", size, 1, log)
    filler = _train(filling, copies, folder / "filler", size, size.filler_epochs, log)
    return Local(coder, at_once=64), Local(filler, at_once=64)


def _debugger(size: Size, folder: Path, name: str, log: _Log, *, feedback: bool) -> LocalDebugger:
    """Critic and refiner in one model, fine-tuned from the filler with the pairs and the mixture."""
    data = folder / "data"
    injected = [
        each for decoding in _DECODINGS for each in read(data / InjectionConfig(decoding).file, Injected)
    ]
    how = Packing(feedback=feedback, held_out=0.0, seed=size.seed)
    packed = pack(tuple(read(data / PROGRAMS, ScoredProgram)), injected, how)
    examples = (*packed["critic/train-mix"], *packed["refiner/train"])
    out = folder / name.replace(" ", "_")
    trained = _train(examples, folder / "filler", out, size, size.debugger_epochs, log)
    model = Local(trained, at_once=64)
    return LocalDebugger(model, model, size.token_budget)


def _train(  # noqa: PLR0913, PLR0917 - all are needed for a training
    examples: Sequence[TrainingExample], start: Path, out: Path, size: Size, epochs: int, log: _Log
) -> Path:
    def tell(progress: TrainingStep) -> None:
        if progress.step in (1, progress.total) or progress.step % 100 == 0:
            log(f"{out.name}: {progress}")

    train(examples, str(start), out, size.recipe(epochs), tell)
    return out


def _tests(
    size: Size, interpreter: Interpreter, coder: Local, filler: Local, folder: Path
) -> dict[str, _Test]:
    """First programs for scenes that no training has used."""
    cases = {case.id: case for case in make_cases(f"testing {size.seed}", size.testing)}
    samples = {case.id: Attempts.sample(case) for case in cases.values()}
    attempt = attempt_in(cases, interpreter, first_programs(coder, list(cases.values()), size.token_budget))
    first = [attempt(sample) for sample in samples.values()]
    shaped = attempt_in(cases, interpreter, {case.id: case.program(-1) for case in cases.values()})
    pipeline = Pipeline(shaped, folder / "held_out")
    generate(samples.values(), pipeline)
    how = InjectionConfig("mask_best", 6, 64, size.seed)
    inject(samples, Filler(filler, size.token_budget, MaskBest(), size.seed), pipeline, how)
    return {NEW_SCENES: _Test(first, attempt), NEW_SHAPES: _Test(_mix(pipeline.folder, how), shaped)}


def _mix(folder: Path, how: InjectionConfig) -> list[ScoredProgram]:
    """Held-out programs, alternately correct and broken; never both for one question."""
    broken = {each.of: each for each in read(folder / how.file, Injected) if each.fate == "wrong"}
    programs: list[ScoredProgram] = []
    for right in read(folder / PROGRAMS, ScoredProgram):
        error = broken.get(right.id)
        is_next_broken = sum(not each.is_right for each in programs) * 2 <= len(programs)
        if error is not None and is_next_broken:
            programs.append(ScoredProgram(right.id, right.task, error.program, error.executed, 0.0))
        elif not is_next_broken:
            programs.append(right)
    return programs


@dataclass(frozen=True, slots=True)
class _Test:
    programs: Sequence[ScoredProgram]
    attempt: Attempts


def _debug_all(
    tests: Mapping[str, _Test], debuggers: Mapping[str, LocalDebugger], log: _Log
) -> dict[str, dict[str, list[Debugged]]]:
    debugged: dict[str, dict[str, list[Debugged]]] = {}
    for title, test in tests.items():
        debugged[title] = {}
        for name, debugger in debuggers.items():
            feedback = _CRITICS[name]
            debugged[title][name] = debug(test.programs, test.attempt, debugger, ROUNDS, feedback=feedback)
            log(f"debugged {name}: {title}")
    return debugged


@dataclass(frozen=True, slots=True)
class Findings:
    """The counts: first programs by label, injections by decoding and label, debugging by test and critic."""

    written: Mapping[str, int]
    injected: Mapping[str, Mapping[str, int]]
    debugged: Mapping[str, Mapping[str, Sequence[Debugged]]]
    rounds: int


def report(findings: Findings) -> str:
    """All tables."""
    parts = ["values are percent [95 % interval] of how many", _injection(findings)]
    for title, critics in findings.debugged.items():
        columns = {name: measure(questions, findings.rounds) for name, questions in critics.items()}
        parts.append(f"{title}\n{table(columns)}")
    claims = claims_of(findings.debugged)
    aim = Aim(claims=len(claims))
    tested = [compare_questions(claim, pairs) for claim, pairs in claims.items()]
    head = "claims of the paper, for these trained models alone; --claims tests them over several trainings"
    return "\n\n".join([*parts, f"{head}\n{format_table(tested, ('with', 'without'), aim, 'questions')}"])


def claims_of(debugged: Mapping[str, Mapping[str, Sequence[Debugged]]]) -> dict[str, list[tuple[bool, bool]]]:
    """For each claim and question, whether it was judged or answered rightly with what the claim is about and without.

    debugged: by test, then by critic, the one without feedback first.
    """
    found = {}
    for title, critics in debugged.items():
        test, (without, feedback) = title.partition(",")[0], critics.values()
        first, last, alone = (
            [each.rounds[place].is_right for each in questions]
            for questions, place in ((feedback, 0), (feedback, -1), (without, -1))
        )
        judged = (
            [each.rounds[0].accepted == each.rounds[0].is_right for each in qs] for qs in (feedback, without)
        )
        found[f"feedback helps the critic: {test}"] = list(zip(*judged, strict=True))
        found[f"debugging helps: {test}"] = list(zip(last, first, strict=True))
        found[f"feedback helps debugging: {test}"] = list(zip(last, alone, strict=True))
    return found


def _rate(counts: Mapping[str, int], label: str) -> Estimate | None:
    """The share of all attempts with this label."""
    return wilson(counts.get(label, 0), sum(counts.values()))


def _injection(findings: Findings) -> str:
    labels = {
        "broken: a wrong answer or none": "wrong",
        "still correct": "right",
        "refused: unchanged, or changed elsewhere": "refused",
    }
    rows = {
        text: [_rate(each, label) for each in findings.injected.values()] for text, label in labels.items()
    }
    first = _rate(findings.written, "right")
    head = f"correct first programs of the coder: {format_rows([''], {'': [first]}).strip()}"
    return f"{head}\nerrors injected, of all attempts\n{format_rows(list(findings.injected), rows)}"
