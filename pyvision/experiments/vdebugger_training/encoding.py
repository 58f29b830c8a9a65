"""Turn lessons into tokens: what is learnt, what is only read, and what is left out when it is too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from pyvision.errors import ConfigError
from pyvision.experiments.vdebugger_training.prompt_templates import TRACE
from pyvision.experiments.vdebugger_training.records import Example

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
