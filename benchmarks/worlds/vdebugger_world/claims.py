"""Test the paper's claims over independent trainings, whose number follows from a pilot of others.

A training is a whole experiment with its own seed: other questions, programs, errors, examples and models. It counts
once, whatever the number of its test questions, because these share its models. Both critics of a training learn from
the same programs, in the same number of steps, and debug the same questions for the same number of rounds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

from benchmarks.worlds.claims import Aim, compare_trainings, format_table, power_of, trainings_needed
from benchmarks.worlds.vdebugger_world.experiment import (
    QUICK,
    Findings,
    Tell,
    claims_of,
    compute_on_one_core,
    run,
)

Scores: TypeAlias = Mapping[str, tuple[float, float]]
"""For each claim the share of right verdicts or answers, with what the paper proposes and without."""

Train: TypeAlias = Callable[[Sequence[int]], Sequence[Scores]]
"""Trains once with each of these seeds."""

PILOT_SEEDS = 1000  # from here on; the seeds of the trainings that are tested start at 0


@dataclass(frozen=True, slots=True)
class Study:
    """How the claims are tested: the number of trainings in the pilot, and after it at most."""

    aim: Aim
    pilot: int
    most: int


@contextmanager
def trainer(folder: Path, workers: int) -> Iterator[Train]:
    """Trains in so many processes, and resumes what is in the folder."""
    with ProcessPoolExecutor(workers, get_context("spawn"), compute_on_one_core) as pool:
        yield lambda seeds: tuple(pool.map(partial(train, folder), seeds))


def study(how: Study, trained: Train, tell: Tell) -> str:
    """Train the pilot, tell the plan, train as many as planned; returns the table."""
    pilot = trained(range(PILOT_SEEDS, PILOT_SEEDS + how.pilot))
    aim = replace(how.aim, claims=len(pilot[0]))
    number = min(how.most, max(trainings_needed(_differences(claim, pilot), aim) for claim in pilot[0]))
    tell(format_plan(pilot, number, aim))
    return report(trained(range(number)), aim)


def train(folder: Path, seed: int) -> Scores:
    """The scores of one training, read from the folder if it is done."""
    path = folder / f"scores-{seed}.json"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        found = run(
            replace(QUICK, seed=seed), folder / f"seed-{seed}", lambda line: print(seed, line, flush=True)
        )
        path.write_text(json.dumps(scores(found)), encoding="utf-8")
    return {
        claim: (one, other) for claim, (one, other) in json.loads(path.read_text(encoding="utf-8")).items()
    }


def scores(findings: Findings) -> Scores:
    """The shares of a training's questions in both ways."""
    return {
        claim: (fmean(first for first, _ in pairs), fmean(second for _, second in pairs))
        for claim, pairs in claims_of(findings.debugged).items()
    }


def format_plan(pilot: Sequence[Scores], number: int, aim: Aim) -> str:
    """What the pilot says about each claim: the trainings needed, and the power of those that are affordable."""
    lines = [f"{aim}, pilot of {len(pilot)} trainings; {number} are tested", "needed    power"]
    for claim in pilot[0]:
        differences = _differences(claim, pilot)
        needed, power = trainings_needed(differences, aim), power_of(number, differences, aim)
        lines.append(f"{needed:>6}{power:>9.0%}  {claim}")
    return "\n".join(lines)


def report(trained: Sequence[Scores], aim: Aim) -> str:
    tested = [compare_trainings(claim, [each[claim] for each in trained]) for claim in trained[0]]
    return format_table(tested, ("with", "without"), aim, "trainings")


def _differences(claim: str, trained: Iterable[Scores]) -> list[float]:
    return [each[claim][0] - each[claim][1] for each in trained]
