"""The whole course of the world: write, inject, pack, train, debug; each step through the product's own pipeline."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.worlds.vdebugger_world.grammar import make_cases
from benchmarks.worlds.vdebugger_world.models import (
    Filler,
    Shape,
    drills,
    first_programs,
    lessons_of_a_coder,
    lessons_of_a_filler,
    new_model,
)
from benchmarks.worlds.vdebugger_world.scenes import Interpreter, Perception
from benchmarks.worlds.vdebugger_world.simulation import Attempts, attempt_in, debug
from pyvision.bench.analysis.statistics import Estimate, mcnemar_exact, wilson
from pyvision.experiments.vdebugger_training.dataset import (
    PROGRAMS,
    InjectionConfig,
    Pipeline,
    generate,
    inject,
)
from pyvision.experiments.vdebugger_training.evaluation import Debugged, format_rows, measure, table
from pyvision.experiments.vdebugger_training.fine_tuning import Progress, train
from pyvision.experiments.vdebugger_training.local_model import Local, LocalDebugger
from pyvision.experiments.vdebugger_training.mask_best import MaskBest
from pyvision.experiments.vdebugger_training.packing import Packing, TokenBudget, format_case, pack
from pyvision.experiments.vdebugger_training.recipe import Recipe
from pyvision.experiments.vdebugger_training.records import Decoding, Example, Injected, Program, read

ROUNDS = 3
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything.

    drills: lists to copy before all else. coding: questions whose programs teach the coder, in one epoch: few, so that
    it errs. filling: those that teach the filler. training: those whose programs are broken, `attempts` times by each
    decoding. testing: questions of each test.
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


def run(size: Size, folder: Path, tell: Tell) -> str:
    """Everything, and its tables; what lies in the folder already is not done again."""
    interpreter, timed = Interpreter(Perception(size.blindness)), _Timed(tell)
    coder, filler = _writers(size, folder, interpreter, timed)
    cases = {case.id: case for case in make_cases(f"training {size.seed}", size.training)}
    first = first_programs(coder, list(cases.values()), size.token_budget)
    shop = Pipeline(attempt_in(cases, interpreter, first), folder / "data")
    samples = {case.id: Attempts.sample(case) for case in cases.values()}
    written = generate(samples.values(), shop)
    timed(f"first programs: {dict(written)}")
    injected: dict[str, Mapping[str, int]] = {}
    for decoding in _DECODINGS:
        refill = Filler(filler, size.token_budget, MaskBest() if decoding == "mask_best" else None, size.seed)
        injected[decoding] = inject(
            samples, refill, shop, InjectionConfig(decoding, size.attempts, 64, size.seed)
        )
        timed(f"injected, {decoding}: {dict(injected[decoding])}")
    debuggers = {
        name: _debugger(size, folder, name, timed, feedback=feedback) for name, feedback in _ARMS.items()
    }
    tests = _tests(size, interpreter, coder, filler, folder)
    timed("tests written")
    return report(Findings(written, injected, _played(tests, debuggers, timed), ROUNDS))


_DECODINGS: tuple[Decoding, ...] = ("greedy", "mask_best")
_ARMS = {"without feedback": False, "with feedback": True}
NEW_SCENES, NEW_SHAPES = (
    "the coder's own programs, new scenes",
    "programs of shapes never trained on, half of them broken",
)


class _Timed:
    """Says what is done, and when."""

    def __init__(self, tell: Tell) -> None:
        self._tell, self._began = tell, time.monotonic()

    def __call__(self, line: str) -> None:
        self._tell(f"[{time.monotonic() - self._began:6.0f} s] {line}")


def _writers(size: Size, folder: Path, interpreter: Interpreter, timed: _Timed) -> tuple[Local, Local]:
    """The coder and the filler: they come of one model from scratch, which has learnt to copy names."""
    coding = tuple(lessons_of_a_coder(make_cases(f"coding {size.seed}", size.coding), size.seed))
    cases = make_cases(f"filling {size.seed}", size.filling)
    filling = tuple(lessons_of_a_filler(cases, size.seed))
    start = folder / "start"
    if not start.exists():
        ran = (interpreter.run(case.scene, case.program(0), case.form)[0] for case in cases[:300])
        traces = [
            format_case(each.task, each.program(0), told) for each, told in zip(cases, ran, strict=False)
        ]
        texts = [each.prompt + each.inst + each.completion for each in (*coding, *filling)]
        new_model(start, [*texts, *traces], size.shape)
    copies = _trained(tuple(drills(size.drills, size.seed)), start, folder / "copies", size, 1, timed)
    coder = _trained(coding, copies, folder / "coder", size, 1, timed)
    filler = _trained(filling, copies, folder / "filler", size, size.filler_epochs, timed)
    return Local(coder, at_once=64), Local(filler, at_once=64)


def _debugger(size: Size, folder: Path, name: str, timed: _Timed, *, feedback: bool) -> LocalDebugger:
    """Critic and refiner in one model, which goes on from the filler, taught by the pairs and the mixture."""
    data = folder / "data"
    injected = [
        each for decoding in _DECODINGS for each in read(data / InjectionConfig(decoding).file, Injected)
    ]
    how = Packing(feedback=feedback, held_out=0.0, seed=size.seed)
    packed = pack(tuple(read(data / PROGRAMS, Program)), injected, how)
    examples = (*packed["critic/train-mix"], *packed["refiner/train"])
    out = folder / name.replace(" ", "_")
    trained = _trained(examples, folder / "filler", out, size, size.debugger_epochs, timed)
    model = Local(trained, at_once=64)
    return LocalDebugger(model, model, size.token_budget)


def _trained(  # noqa: PLR0913, PLR0917 - each is one thing that a training needs
    examples: Sequence[Example], start: Path, out: Path, size: Size, epochs: int, timed: _Timed
) -> Path:
    def tell(progress: Progress) -> None:
        if progress.step in (1, progress.total) or progress.step % 100 == 0:
            timed(f"{out.name}: {progress}")

    train(examples, str(start), out, size.recipe(epochs), tell)
    return out


def _tests(
    size: Size, interpreter: Interpreter, coder: Local, filler: Local, folder: Path
) -> dict[str, _Test]:
    """First programs about scenes that no training has seen."""
    cases = {case.id: case for case in make_cases(f"testing {size.seed}", size.testing)}
    samples = {case.id: Attempts.sample(case) for case in cases.values()}
    attempt = attempt_in(cases, interpreter, first_programs(coder, list(cases.values()), size.token_budget))
    first = [attempt(sample) for sample in samples.values()]
    shaped = attempt_in(cases, interpreter, {case.id: case.program(-1) for case in cases.values()})
    shop = Pipeline(shaped, folder / "held_out")
    generate(samples.values(), shop)
    how = InjectionConfig("mask_best", 6, 64, size.seed)
    inject(samples, Filler(filler, size.token_budget, MaskBest(), size.seed), shop, how)
    return {NEW_SCENES: _Test(first, attempt), NEW_SHAPES: _Test(_mix(shop.folder, how), shaped)}


def _mix(folder: Path, how: InjectionConfig) -> list[Program]:
    """Each held-out program, or the same program broken, in turn; of no question both."""
    broken = {each.of: each for each in read(folder / how.file, Injected) if each.fate == "wrong"}
    programs: list[Program] = []
    for right in read(folder / PROGRAMS, Program):
        error = broken.get(right.id)
        is_next_broken = sum(not each.is_right for each in programs) * 2 <= len(programs)
        if error is not None and is_next_broken:
            programs.append(Program(right.id, right.task, error.program, error.executed, 0.0))
        elif not is_next_broken:
            programs.append(right)
    return programs


@dataclass(frozen=True, slots=True)
class _Test:
    programs: Sequence[Program]
    attempt: Attempts


def _played(
    tests: Mapping[str, _Test], debuggers: Mapping[str, LocalDebugger], timed: _Timed
) -> dict[str, dict[str, list[Debugged]]]:
    played: dict[str, dict[str, list[Debugged]]] = {}
    for title, test in tests.items():
        played[title] = {}
        for name, debugger in debuggers.items():
            feedback = _ARMS[name]
            played[title][name] = debug(test.programs, test.attempt, debugger, ROUNDS, feedback=feedback)
            timed(f"debugged {name}: {title}")
    return played


# ---- The tables of the world, and what they say about the two directions of VDebugger's own results.


@dataclass(frozen=True, slots=True)
class Findings:
    """What was counted: first programs by fate, injections by decoding and fate, and debugging by test and arm."""

    written: Mapping[str, int]
    injected: Mapping[str, Mapping[str, int]]
    played: Mapping[str, Mapping[str, Sequence[Debugged]]]
    rounds: int


def report(findings: Findings) -> str:
    """All tables."""
    parts = ["values are percent [95 % interval] of how many", _injection(findings)]
    for title, arms in findings.played.items():
        columns = {name: measure(questions, findings.rounds) for name, questions in arms.items()}
        parts.append(f"{title}\n{table(columns)}\n{_feedback(arms)}")
    parts.append(_directions(findings))
    return "\n\n".join(parts)


def rate(counts: Mapping[str, int], fate: str) -> Estimate | None:
    """Of all attempts, the share with this fate."""
    return wilson(counts.get(fate, 0), sum(counts.values()))


def _injection(findings: Findings) -> str:
    fates = {
        "broken: runs to a wrong answer or none": "wrong",
        "still right": "right",
        "refused: as it was, or changed elsewhere": "refused",
    }
    rows = {label: [rate(each, fate) for each in findings.injected.values()] for label, fate in fates.items()}
    first = rate(findings.written, "right")
    head = f"first programs of the coder that are right: {format_rows([''], {'': [first]}).strip()}"
    return f"{head}\nerrors injected, of all attempts\n{format_rows(list(findings.injected), rows)}"


def _feedback(arms: Mapping[str, Sequence[Debugged]]) -> str:
    """The critics compared question by question."""
    without, feedback = ([_is_judged(each) for each in questions] for questions in arms.values())
    only_without = sum(a and not b for a, b in zip(without, feedback, strict=True))
    only_with = sum(b and not a for a, b in zip(without, feedback, strict=True))
    p = mcnemar_exact(only_without, only_with)
    return (
        f"judged as it is by one critic only: {only_without} without, {only_with} with feedback; p = {p:.3g}"
    )


def _is_judged(question: Debugged) -> bool:
    return question.rounds[0].accepted == question.rounds[0].is_right


def _directions(findings: Findings) -> str:
    greedy, masked = (rate(findings.injected[name], "wrong") for name in ("greedy", "mask_best"))
    lines = ["the directions of the paper, here"]
    if greedy and masked:
        is_reverse = masked.high < greedy.low
        holds = (
            "holds"
            if masked.low > greedy.high
            else "does not hold, the reverse does"
            if is_reverse
            else "is not shown"
        )
        times = (
            f"{masked.value / greedy.value:.1f} times as often" if greedy.value else "where greedy never does"
        )
        lines.append(f"  mask-best injects more errors than greedy: {holds}; {times}")
    for title, arms in findings.played.items():
        lines.append(f"  feedback helps the critic, {title}: {_verdict(arms)}")
        for name, questions in arms.items():
            lines.append(f"  debugging {name} raises the task score, {title}: {_gain(questions)}")
    return "\n".join(lines)


def _verdict(arms: Mapping[str, Sequence[Debugged]]) -> str:
    without, feedback = ([_is_judged(each) for each in questions] for questions in arms.values())
    gain = sum(feedback) - sum(without)
    p = mcnemar_exact(
        sum(a and not b for a, b in zip(without, feedback, strict=True)),
        sum(b and not a for a, b in zip(without, feedback, strict=True)),
    )
    return _said(gain, len(without), p)


def _gain(questions: Sequence[Debugged]) -> str:
    before = [each.rounds[0].is_right for each in questions]
    after = [each.rounds[-1].is_right for each in questions]
    won = sum(b and not a for a, b in zip(before, after, strict=True))
    lost = sum(a and not b for a, b in zip(before, after, strict=True))
    return f"{_said(won - lost, len(questions), mcnemar_exact(lost, won))} ({won} mended, {lost} spoilt)"


def _said(gain: int, n: int, p: float) -> str:
    holds = "is not shown" if p >= 0.05 else "holds" if gain > 0 else "does not hold, the reverse does"
    return f"{holds}; {gain / n:+.1%} of {n}, p = {p:.3g}"
