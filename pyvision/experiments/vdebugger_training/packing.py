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
from typing import Literal, Protocol, TypeAlias

from pyvision.errors import ConfigError
from pyvision.experiments.vdebugger_training.records import Example, Executed, Injected, Program
from pyvision.strategies.vdebugger.execution import COMPILE_ERROR
from pyvision.strategies.vdebugger.fault_spans import Span, mark_program
from pyvision.text.prompts import render

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
    accepted = format_case(right.task, right.program, right.executed if how.feedback else None)
    refused = format_case(right.task, broken.program, broken.executed if how.feedback else None)
    yield Example(accepted, CRITIC_INST, RIGHT, of=right.id)
    yield Example(refused, CRITIC_INST, format_rejection(broken.program, broken.span), of=right.id)


def _correction(right: Program, broken: Injected, how: Packing) -> Example:
    marked = mark_fault(broken.program, broken.span)
    prompt = format_case(right.task, marked, broken.executed if how.feedback else None)
    return Example(prompt, REFINER_INST, f"\n{right.program}", of=right.id)


def _mixture(programs: Sequence[Program], most: int, how: Packing) -> list[Example]:
    wrong = [
        program
        for program in programs
        if program.score is not None and not program.is_right and part_of(program.id, how) == "train"
    ]
    chosen = random.Random(how.seed).sample(wrong, min(most, len(wrong)))
    return [_unlocalised(program, how) for program in chosen]


def _unlocalised(program: Program, how: Packing) -> Example:
    prompt = format_case(program.task, program.program, program.executed if how.feedback else None)
    return Example(prompt, CRITIC_INST, WRONG, eos=False, of=program.id)


def _shuffle(examples: list[Example], seed: int) -> tuple[Example, ...]:
    distinct = list(dict.fromkeys(examples))
    random.Random(seed).shuffle(distinct)
    return tuple(distinct)


# ---- What a trained critic and refiner read and write: the case of `prompts/vdebugger`, and lessons about it.
# ----
# ---- Source: section 3.1 and Figure 9 of VDebugger (arXiv 2406.13444) and its authors' code. The word of a negative verdict
# ---- and the space before a verdict are ours: neither is told.


CRITIC_INST = "\n\n# Program is"
REFINER_INST = "\n\n# Correction"
RIGHT, WRONG = " right", " wrong"
TRACE = "\n\n--- Trace\n\n"


def format_case(task: str, program: str, executed: Executed | None) -> str:
    """A program about a task with what it did; without feedback where `executed` is None."""
    if executed is None:
        return render("vdebugger/case_without_feedback.md", line=task, program=program)
    trace = COMPILE_ERROR if executed.trace is None else executed.trace or "(none)"
    return render("vdebugger/case.md", line=task, program=program, result=executed.result, trace=trace)


def mark_fault(program: str, span: tuple[int, int]) -> str:
    """The program with the faulty characters between the marks."""
    return mark_program(program, (Span(*span),))


def format_rejection(program: str, span: tuple[int, int]) -> str:
    """What a critic says of a wrong program whose fault is known."""
    return f"{WRONG}\n{mark_fault(program, span)}"


# ---- Turn lessons into tokens: what is learnt, what is only read, and what is left out when it is too long.


UNCOUNTED = -100
"""The label of a token that the loss does not count, as PyTorch and transformers have it."""
Keep: TypeAlias = Literal["end", "start"]


class Tokens(Protocol):
    """What is needed of a tokenizer; those of transformers have it."""

    @property
    def bos_token_id(self) -> int | None: ...

    @property
    def eos_token_id(self) -> int | None: ...

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]: ...


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """How many tokens there are. answer: kept free for what the model writes (the authors' 256 of 1024).

    keep: which part of a trace that is too long is kept. The authors keep the start, and lose the exception and the
    value returned, which stand at its end.
    """

    tokens: int = 1024
    answer: int = 256
    keep: Keep = "end"


@dataclass(frozen=True, slots=True)
class Encoded:
    """The tokens of a lesson, and for each of them itself where it is learnt, else UNCOUNTED."""

    tokens: tuple[int, ...]
    labels: tuple[int, ...]


def encode(example: Example, tokenizer: Tokens, token_budget: TokenBudget) -> Encoded:
    """A whole lesson: `inst` and `completion` are learnt, the prompt is not. At most `token_budget.tokens` long."""
    read = encode_prompt(example.prompt, example.inst, tokenizer, token_budget)
    said = _plain(example.inst, tokenizer)
    learnt = [*said, *_plain(example.completion, tokenizer), *(_end(tokenizer) if example.eos else [])]
    read = read[: len(read) - len(said)]
    tokens = [*read, *learnt][: token_budget.tokens]
    return Encoded(tuple(tokens), tuple([UNCOUNTED] * len(read) + learnt)[: token_budget.tokens])


def encode_prompt(prompt: str, inst: str, tokenizer: Tokens, token_budget: TokenBudget) -> list[int]:
    """What a model continues: the beginning token, the prompt as far as there is room, the instruction."""
    said = _plain(inst, tokenizer)
    begin = [] if tokenizer.bos_token_id is None else [tokenizer.bos_token_id]
    free = token_budget.tokens - token_budget.answer - len(said) - len(begin)
    if free < 1:
        raise ConfigError(
            f"{token_budget.tokens} tokens hold no prompt beside {token_budget.answer} for the answer; give more"
        )
    return [*begin, *_cut(prompt, free, tokenizer, token_budget.keep), *said]


def _cut(prompt: str, free: int, tokenizer: Tokens, keep: Keep) -> Sequence[int]:
    whole = _plain(prompt, tokenizer)
    if len(whole) <= free or keep == "start":
        return whole[:free]
    head, mark, trace = prompt.partition(TRACE)
    told, ran = _plain(head + mark, tokenizer), _plain(trace, tokenizer)
    left = free - len(told)
    return [*told, *ran[-left:]] if left > 0 else told[:free]


def _plain(text: str, tokenizer: Tokens) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False)


def _end(tokenizer: Tokens) -> list[int]:
    if tokenizer.eos_token_id is None:
        raise ConfigError(
            "the tokenizer has no end-of-text token, which a finished answer needs; give it one"
        )
    return [tokenizer.eos_token_id]
