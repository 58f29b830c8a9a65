"""Pack programs and injected errors into lessons for a critic and a refiner.

VDebugger (arXiv 2406.13444), section 3: each pair of a right program and a broken one teaches the critic two verdicts,
one with the place of the fault, and the refiner one correction. Programs that were wrong by themselves join in
`train-mix`, their fault unlocalised: only the verdict is learnt and no end, so that a place may still follow.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pyvision.errors import ConfigError
from pyvision.experiments.vdebugger_training import prompt_templates
from pyvision.experiments.vdebugger_training.records import Example, Injected, Program

Part: TypeAlias = Literal["train", "val", "test"]
Packed: TypeAlias = Mapping[str, tuple[Example, ...]]
"""File stem, such as `critic/train-mix`, -> its lessons."""


@dataclass(frozen=True, slots=True)
class Packing:
    """How lessons are made. feedback: whether they show what a program did.

    mix: how many unlocalised wrong programs join, as a share of the pairs, at most all there are. held_out: the share
    of samples that go to `val`, and as many to `test`; a sample's programs never come in two parts.
    """

    feedback: bool = True
    mix: float = 1.0
    held_out: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.held_out < 0.5:
            raise ConfigError(f"held_out {self.held_out} leaves nothing to train on; give less than 0.5")
        if self.mix < 0:
            raise ConfigError(f"mix {self.mix} is no share; give 0 or more")


def pack(programs: Sequence[Program], injected: Iterable[Injected], how: Packing) -> Packed:
    """Every file of lessons by its stem, shuffled by the seed, none twice. Raises ConfigError without any pair."""
    right = {program.id: program for program in programs if program.is_right}
    pairs = [(right[each.of], each) for each in injected if each.fate == "wrong" and each.of in right]
    if not pairs:
        raise ConfigError("no right program has been broken, so there is nothing to learn; inject more")
    files: dict[str, list[Example]] = {}
    for part in ("train", "val", "test"):
        chosen = [pair for pair in pairs if part_of(pair[0].id, how) == part]
        files[f"critic/{part}"] = [example for pair in chosen for example in _verdicts(*pair, how)]
        files[f"refiner/{part}"] = [_correction(*pair, how) for pair in chosen]
    mixture = _mixture(programs, round(how.mix * len(files["refiner/train"])), how)
    files["critic/train-mix"] = [*files["critic/train"], *mixture]
    return {stem: _shuffle(examples, how.seed) for stem, examples in files.items()}


def part_of(sample_id: str, how: Packing) -> Part:
    """Which part a sample belongs to: by a hash of its id, so that more samples move none of the old."""
    digest = hashlib.sha256(f"{how.seed}\0{sample_id}".encode(errors="replace")).digest()
    place = int.from_bytes(digest[:8]) / 2**64
    if place < how.held_out:
        return "test"
    return "val" if place < 2 * how.held_out else "train"


def _verdicts(right: Program, broken: Injected, how: Packing) -> Iterator[Example]:
    accepted = prompt_templates.case(right.task, right.program, right.executed if how.feedback else None)
    refused = prompt_templates.case(right.task, broken.program, broken.executed if how.feedback else None)
    yield Example(accepted, prompt_templates.CRITIC_INST, prompt_templates.RIGHT, of=right.id)
    rejection = prompt_templates.rejection(broken.program, broken.span)
    yield Example(refused, prompt_templates.CRITIC_INST, rejection, of=right.id)


def _correction(right: Program, broken: Injected, how: Packing) -> Example:
    marked = prompt_templates.annotate(broken.program, broken.span)
    prompt = prompt_templates.case(right.task, marked, broken.executed if how.feedback else None)
    return Example(prompt, prompt_templates.REFINER_INST, f"\n{right.program}", of=right.id)


def _mixture(programs: Sequence[Program], most: int, how: Packing) -> list[Example]:
    wrong = [
        program
        for program in programs
        if program.score is not None and not program.is_right and part_of(program.id, how) == "train"
    ]
    chosen = random.Random(how.seed).sample(wrong, min(most, len(wrong)))
    return [_unlocalised(program, how) for program in chosen]


def _unlocalised(program: Program, how: Packing) -> Example:
    prompt = prompt_templates.case(program.task, program.program, program.executed if how.feedback else None)
    return Example(prompt, prompt_templates.CRITIC_INST, prompt_templates.WRONG, eos=False, of=program.id)


def _shuffle(examples: list[Example], seed: int) -> tuple[Example, ...]:
    distinct = list(dict.fromkeys(examples))
    random.Random(seed).shuffle(distinct)
    return tuple(distinct)
