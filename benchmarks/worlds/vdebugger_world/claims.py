"""Test the paper's claims over independent trainings, whose number follows from a pilot of others.

A training is a whole experiment with its own seed: other questions, programs, errors, examples and models. It counts
once, whatever the number of its test questions, because these share its models. Both critics of a training learn from
the same programs, in the same number of steps, and debug the same questions for the same number of rounds. A claim that
needs more trainings than are affordable is not tested: it is undecidable at this scale.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

from benchmarks.worlds.claims import Aim, compare_trainings, format_table, trainings_needed
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


@dataclass(frozen=True, slots=True)
class Training:
    """The result of one training. cpu_s: the time that it took on one core; None if it was not measured."""

    scores: Scores
    cpu_s: float | None = None


Train: TypeAlias = Callable[[Sequence[int]], Sequence[Training]]
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
    """Trains in so many processes, which end with this one, and resumes what is in the folder."""
    prepare = partial(prepare_worker, os.getpid())
    with ProcessPoolExecutor(workers, get_context("spawn"), prepare) as pool:
        yield lambda seeds: tuple(pool.map(partial(train, folder), seeds))


def prepare_worker(parent: int) -> None:
    """In a worker: end with the process that started it, and compute on one core."""
    end_with(parent)
    compute_on_one_core()


def end_with(parent: int) -> None:
    """Let Linux kill this process as soon as its parent ends, however it ends."""
    ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)  # it ended before


def study(how: Study, trained: Train, tell: Tell) -> str:
    """Train the pilot, tell the plan, train as many as planned; returns the table and what remains undecidable."""
    pilot = trained(range(PILOT_SEEDS, PILOT_SEEDS + how.pilot))
    aim = replace(how.aim, claims=len(pilot[0].scores))
    needed = {claim: trainings_needed(_differences(claim, pilot), aim) for claim in pilot[0].scores}
    affordable = {claim: number for claim, number in needed.items() if number <= how.most}
    tell(format_plan(aim, how, needed))
    tested = trained(range(max(affordable.values(), default=0)))
    hours = _hours([*pilot, *tested])
    beyond = {claim: number for claim, number in needed.items() if claim not in affordable}
    parts = [report(tested, affordable, aim)] if affordable else []
    return "\n\n".join([*parts, *([format_beyond(beyond, hours)] if beyond else [])])


def train(folder: Path, seed: int) -> Training:
    """The result of one training, read from the folder if it is done."""
    path = folder / f"scores-{seed}.json"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        began = time.process_time()
        found = run(
            replace(QUICK, seed=seed), folder / f"seed-{seed}", lambda line: print(seed, line, flush=True)
        )
        done = {"scores": scores(found), "cpu_s": time.process_time() - began}
        path.write_text(json.dumps(done), encoding="utf-8")
    done = json.loads(path.read_text(encoding="utf-8"))
    return Training({claim: (one, other) for claim, (one, other) in done["scores"].items()}, done["cpu_s"])


def scores(findings: Findings) -> Scores:
    """The shares of a training's questions in both ways."""
    return {
        claim: (fmean(first for first, _ in pairs), fmean(second for _, second in pairs))
        for claim, pairs in claims_of(findings.debugged).items()
    }


def format_plan(aim: Aim, how: Study, needed: Mapping[str, int]) -> str:
    """How many trainings the pilot asks for, for each claim, and which of the claims are tested."""
    lines = [f"{aim}, pilot of {how.pilot} trainings, at most {how.most} after it", "needed  tested"]
    lines += [
        f"{number:>6}  {'yes' if number <= how.most else 'no':<6}  {claim}"
        for claim, number in needed.items()
    ]
    return "\n".join(lines)


def format_beyond(needed: Mapping[str, int], hours: float | None) -> str:
    """The claims that need more trainings than are affordable. hours: of one core, for one training."""
    lines = ["undecidable at this scale; not tested, since they need"]
    for claim, number in needed.items():
        cost = "" if hours is None else f", {number * hours:.1f} hours of one core"
        lines.append(f"{number:>6} trainings{cost}: {claim}")
    return "\n".join(lines)


def report(trained: Sequence[Training], claims: Iterable[str], aim: Aim) -> str:
    """The table of the claims that were tested."""
    tested = [compare_trainings(claim, [each.scores[claim] for each in trained]) for claim in claims]
    return format_table(tested, ("with", "without"), aim, "trainings")


def _hours(trained: Sequence[Training]) -> float | None:
    times = [each.cpu_s for each in trained if each.cpu_s is not None]
    return fmean(times) / 3600 if times else None


def _differences(claim: str, trained: Iterable[Training]) -> list[float]:
    return [each.scores[claim][0] - each.scores[claim][1] for each in trained]
