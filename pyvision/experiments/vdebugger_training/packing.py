"""Pack programs and injected errors into training examples for a critic and a refiner, and encode them as tokens.

VDebugger (arXiv 2406.13444), section 3: each pair of a correct program and a broken one gives the critic
two verdicts, one with the location of the error, and the refiner one correction. Programs that were wrong without an
injected error are added to `train-mix` with the verdict alone and no end of text, so that a location may still follow.

Formats: section 3.1 and Figure 9 of the paper, and its authors' code. Neither specifies the word of a negative verdict
or the space before a verdict; both are ours.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from pyvision.errors import ConfigError
from pyvision.experiments.vdebugger_training.records import Executed, Injected, ScoredProgram, TrainingExample
from pyvision.strategies.vdebugger.execution import COMPILE_ERROR
from pyvision.strategies.vdebugger.verdicts import Span, mark_program
from pyvision.text.prompts import render

Part: TypeAlias = Literal["train", "val", "test"]
Packed: TypeAlias = Mapping[str, tuple[TrainingExample, ...]]
"""File stem, such as `critic/train-mix` -> its examples."""
UNCOUNTED = -100
"""The label of a token that is excluded from the loss, as in PyTorch and transformers."""
Keep: TypeAlias = Literal["end", "start"]

CRITIC_INST = "\n\n# Program is"
REFINER_INST = "\n\n# Correction"
RIGHT, WRONG = " right", " wrong"
TRACE = "\n\n--- Trace\n\n"


@dataclass(frozen=True, slots=True)
class Packing:
    """How examples are made. feedback: whether they contain results and traces.

    mix: how many wrong programs without a location are added, relative to the number of pairs. held_out: the share of
    samples in `val`, and also in `test`; the programs of one sample are never in two splits.
    """

    feedback: bool = True
    mix: float = 1.0
    held_out: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.held_out < 0.5:
            raise ConfigError(f"held_out {self.held_out} leaves nothing to train on; give less than 0.5")
        if self.mix < 0:
            raise ConfigError(f"mix {self.mix} is negative; give 0 or more")


def pack(programs: Sequence[ScoredProgram], injected: Iterable[Injected], how: Packing) -> Packed:
    """The examples of every file, distinct and shuffled by the seed. Raises ConfigError if there is no pair."""
    right = {program.id: program for program in programs if program.is_right}
    pairs = [(right[each.of], each) for each in injected if each.fate == "wrong" and each.of in right]
    if not pairs:
        raise ConfigError(
            "no correct program has been broken, so there is nothing to train on; inject more errors"
        )
    files: dict[str, list[TrainingExample]] = {}
    for part in ("train", "val", "test"):
        chosen = [pair for pair in pairs if part_of(pair[0].id, how) == part]
        files[f"critic/{part}"] = [example for pair in chosen for example in _verdicts(*pair, how)]
        files[f"refiner/{part}"] = [_correction(*pair, how) for pair in chosen]
    mixture = _mixture(programs, round(how.mix * len(files["refiner/train"])), how)
    files["critic/train-mix"] = [*files["critic/train"], *mixture]
    return {stem: _shuffle(examples, how.seed) for stem, examples in files.items()}


def part_of(sample_id: str, how: Packing) -> Part:
    """The split of a sample, by a hash of its id: adding samples does not move the others."""
    digest = hashlib.sha256(f"{how.seed}\0{sample_id}".encode(errors="replace")).digest()
    position = int.from_bytes(digest[:8]) / 2**64
    if position < how.held_out:
        return "test"
    return "val" if position < 2 * how.held_out else "train"


def format_case(task: str, program: str, executed: Executed | None) -> str:
    """A program for a task with its result and trace; without them if `executed` is None."""
    if executed is None:
        return render("vdebugger/case_without_feedback.md", line=task, program=program)
    trace = COMPILE_ERROR if executed.trace is None else executed.trace or "(none)"
    return render("vdebugger/case.md", line=task, program=program, result=executed.result, trace=trace)


def mark_fault(program: str, span: tuple[int, int]) -> str:
    """The program with the span between the error marks."""
    return mark_program(program, (Span(*span),))


def format_rejection(program: str, span: tuple[int, int]) -> str:
    """A critic's reply to a wrong program whose error location is known."""
    return f"{WRONG}\n{mark_fault(program, span)}"


class Tokens(Protocol):
    """The part of a transformers tokenizer that is used here."""

    @property
    def bos_token_id(self) -> int | None: ...

    @property
    def eos_token_id(self) -> int | None: ...

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]: ...


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """The length of an example. answer: tokens reserved for the completion (the authors' 256 of 1024).

    keep: which part of a trace is kept if it is too long. The authors keep the start, and so lose the exception
    and the return value at its end.
    """

    tokens: int = 1024
    answer: int = 256
    keep: Keep = "end"


@dataclass(frozen=True, slots=True)
class Encoded:
    """The tokens of an example, and their labels: the token itself if the loss counts it, else UNCOUNTED."""

    tokens: tuple[int, ...]
    labels: tuple[int, ...]


def encode(example: TrainingExample, tokenizer: Tokens, token_budget: TokenBudget) -> Encoded:
    """A whole example, at most `token_budget.tokens` long; the loss covers `inst` and `completion`."""
    inst = _encode(example.inst, tokenizer)
    counted = [*inst, *_encode(example.completion, tokenizer), *(_end(tokenizer) if example.eos else [])]
    prompt = encode_prompt(example.prompt, example.inst, tokenizer, token_budget)
    prompt = prompt[: len(prompt) - len(inst)]
    tokens = [*prompt, *counted][: token_budget.tokens]
    return Encoded(tuple(tokens), tuple([UNCOUNTED] * len(prompt) + counted)[: token_budget.tokens])


def encode_prompt(prompt: str, inst: str, tokenizer: Tokens, token_budget: TokenBudget) -> list[int]:
    """What a model continues: the beginning-of-text token, the prompt as far as it fits, and the instruction."""
    inst_tokens = _encode(inst, tokenizer)
    begin = [] if tokenizer.bos_token_id is None else [tokenizer.bos_token_id]
    free = token_budget.tokens - token_budget.answer - len(inst_tokens) - len(begin)
    if free < 1:
        raise ConfigError(
            f"{token_budget.tokens} tokens leave no room for a prompt beside {token_budget.answer} for the answer"
        )
    return [*begin, *_truncate(prompt, free, tokenizer, token_budget.keep), *inst_tokens]


def _verdicts(right: ScoredProgram, broken: Injected, how: Packing) -> Iterator[TrainingExample]:
    accepted = format_case(right.task, right.program, right.executed if how.feedback else None)
    refused = format_case(right.task, broken.program, broken.executed if how.feedback else None)
    yield TrainingExample(accepted, CRITIC_INST, RIGHT, of=right.id)
    yield TrainingExample(refused, CRITIC_INST, format_rejection(broken.program, broken.span), of=right.id)


def _correction(right: ScoredProgram, broken: Injected, how: Packing) -> TrainingExample:
    marked = mark_fault(broken.program, broken.span)
    prompt = format_case(right.task, marked, broken.executed if how.feedback else None)
    return TrainingExample(prompt, REFINER_INST, f"\n{right.program}", of=right.id)


def _mixture(programs: Sequence[ScoredProgram], limit: int, how: Packing) -> list[TrainingExample]:
    wrong = [
        program
        for program in programs
        if program.score is not None and not program.is_right and part_of(program.id, how) == "train"
    ]
    chosen = random.Random(how.seed).sample(wrong, min(limit, len(wrong)))
    return [_without_location(program, how) for program in chosen]


def _without_location(program: ScoredProgram, how: Packing) -> TrainingExample:
    prompt = format_case(program.task, program.program, program.executed if how.feedback else None)
    return TrainingExample(prompt, CRITIC_INST, WRONG, eos=False, of=program.id)


def _shuffle(examples: list[TrainingExample], seed: int) -> tuple[TrainingExample, ...]:
    distinct = list(dict.fromkeys(examples))
    random.Random(seed).shuffle(distinct)
    return tuple(distinct)


def _truncate(prompt: str, free: int, tokenizer: Tokens, keep: Keep) -> Sequence[int]:
    tokens = _encode(prompt, tokenizer)
    if len(tokens) <= free or keep == "start":
        return tokens[:free]
    head, mark, trace = prompt.partition(TRACE)
    head_tokens, trace_tokens = _encode(head + mark, tokenizer), _encode(trace, tokenizer)
    rest = free - len(head_tokens)
    return [*head_tokens, *trace_tokens[-rest:]] if rest > 0 else head_tokens[:free]


def _encode(text: str, tokenizer: Tokens) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False)


def _end(tokenizer: Tokens) -> list[int]:
    if tokenizer.eos_token_id is None:
        raise ConfigError("the tokenizer has no end-of-text token, which an example needs; set one")
    return [tokenizer.eos_token_id]
