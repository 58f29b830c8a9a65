"""Collect programs for questions, and break the right ones; each step goes on where it was broken off."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeAlias

from pyvision.bench.samples import Sample
from pyvision.errors import FormatError
from pyvision.experiments.vdebugger_training.json_lines import append, resume
from pyvision.experiments.vdebugger_training.masking import Masked, mask_somewhere, parse_infill
from pyvision.experiments.vdebugger_training.records import Attempt, Decoding, Injected, Label, Program

PROGRAMS = "programs.jsonl"
Tell: TypeAlias = Callable[[str], None]


class Infill(Protocol):
    """Fills masks: the whole program for each (task, masked program), as a model wrote it."""

    def __call__(self, asked: Sequence[tuple[str, Masked]]) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class InjectionConfig:
    """How right programs are broken. attempts: masks for each program. at_once: refills asked for together."""

    decoding: Decoding = "greedy"
    attempts: int = 1
    at_once: int = 16
    seed: int = 0

    @property
    def file(self) -> str:
        return f"injected-{self.decoding}.jsonl"


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Who writes, runs and scores programs; where the files go; who is told of it."""

    attempt: Attempt
    folder: Path
    tell: Tell = lambda line: None


def generate(samples: Iterable[Sample], shop: Pipeline) -> Counter[str]:
    """Write, run and score a program for each sample that has none in the folder; counts by fate.

    Raises what `shop.attempt` raises; what was done until then is kept.
    """
    path = shop.folder / PROGRAMS
    counts = Counter[str](_fate(program) for program in resume(path, Program))
    done = {program.id for program in resume(path, Program)}
    for sample in samples:
        if sample.id in done:
            continue
        program = shop.attempt(sample)
        append(path, [program])
        counts[_fate(program)] += 1
        shop.tell(f"{sample.id}: {_fate(program)}; {told(counts)}")
    return counts


def inject(
    samples: Mapping[str, Sample], refill: Infill, shop: Pipeline, how: InjectionConfig
) -> Counter[str]:
    """Break each right program of the folder as often as is asked for and not yet done; counts by fate.

    samples: by id, those of the programs. Raises as `generate` does, and what `refill` raises.
    """
    programs = resume(shop.folder / PROGRAMS, Program)
    right = [program for program in programs if program.is_right and program.id in samples]
    path = shop.folder / how.file
    done = resume(path, Injected)
    counts = Counter(str(each.fate) for each in done)
    left = _left({(each.of, each.attempt) for each in done}, right, how)
    while asked := tuple(islice(left, how.at_once)):
        broken = list(_broken(asked, samples, refill, shop, how))
        append(path, broken)
        counts.update(str(each.fate) for each in broken)
        shop.tell(f"{how.decoding}: {told(counts)}")
    return counts


def told(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {fate}" for fate, count in sorted(counts.items())) or "nothing"


def _fate(program: Program) -> Label:
    if program.score is None:
        return "unscored"
    return "right" if program.is_right else "wrong"


def _left(
    done: set[tuple[str, int]], right: Sequence[Program], how: InjectionConfig
) -> Iterator[tuple[Program, int]]:
    for attempt in range(how.attempts):
        yield from ((program, attempt) for program in right if (program.id, attempt) not in done)


def _broken(
    asked: Sequence[tuple[Program, int]],
    samples: Mapping[str, Sample],
    refill: Infill,
    shop: Pipeline,
    how: InjectionConfig,
) -> Iterator[Injected]:
    """The attempts in their order; a program without a place to mask is refused without a refill."""
    masked: list[tuple[Program, Injected, Masked]] = []
    for program, attempt in asked:
        # The decoding is not part of the seed: both are to be compared over the same masks.
        chance = random.Random(f"{how.seed} {program.id} {attempt}")
        blank = Injected(program.id, how.decoding, attempt, "refused", "")
        try:
            mask = mask_somewhere(program.program, chance)
        except FormatError as error:
            yield replace(blank, why=str(error))
        else:
            masked.append((program, replace(blank, masked=mask.text), mask))
    answers = refill([(program.task, mask) for program, _, mask in masked]) if masked else ()
    for (program, blank, mask), answer in zip(masked, answers, strict=True):
        yield _tried(blank, mask, answer, samples[program.id], shop)


def _tried(blank: Injected, mask: Masked, answer: str, sample: Sample, shop: Pipeline) -> Injected:
    try:
        program, span = parse_infill(mask, answer)
    except FormatError as error:
        return replace(blank, why=str(error))
    ran = shop.attempt(sample, program)
    if ran.program != program:
        return replace(blank, why="the refill was run in another form, in which its place is not known")
    return replace(
        blank, fate=_fate(ran), program=program, span=(span.start, span.end), executed=ran.executed
    )
