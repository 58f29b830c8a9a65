"""The hyper-parameters of a training: their file, and the batches and learning rates that follow from them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias

from pyvision.errors import ConfigError
from pyvision.experiments.vdebugger_training.packing import Keep, TokenBudget

PAPER = Path(__file__).with_name("paper.json")

Batch: TypeAlias = tuple[tuple[int, ...], ...]
"""The records of one step, by index, divided into micro-batches."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model is trained, with AdamW, a linear warm-up, and a linear decay to zero.

    warm_up: share of the steps. batch: examples per step; at_once: per pass through the model. tokens, answer, keep:
    as in `packing.TokenBudget`. precision: of the computation; auto is bf16 if the device supports it. recompute:
    activations, to save memory. lora_rank: 0 trains all weights. clip: the maximum norm of the gradient, 0 for none.
    save_every: steps between checkpoints, 0 for none. source: where the numbers come from.
    """

    __pydantic_config__: ClassVar[object] = {"extra": "forbid"}

    epochs: int = 3
    learning_rate: float = 2e-5
    warm_up: float = 0.03
    weight_decay: float = 0.0
    batch: int = 128
    at_once: int = 1
    tokens: int = 1024
    answer: int = 256
    keep: Keep = "end"
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    recompute: bool = False
    lora_rank: int = 0
    lora_alpha: int = 16
    lora_dropout: float = 0.0
    clip: float = 0.0
    seed: int = 0
    save_every: int = 200
    source: str = ""

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "at_once", "tokens", "answer"):
            if getattr(self, name) < 1:
                raise ConfigError(f"recipe: {name} is {getattr(self, name)}; give 1 or more")
        for name in ("lora_rank", "save_every", "clip", "weight_decay"):
            if getattr(self, name) < 0:
                raise ConfigError(f"recipe: {name} is {getattr(self, name)}; give 0 or more")
        if not 0 <= self.warm_up <= 1 or not self.learning_rate > 0:
            why = f"warm_up is {self.warm_up}, learning_rate {self.learning_rate}"
            raise ConfigError(f"recipe: {why}; give a share of the steps and a rate above 0")

    @property
    def token_budget(self) -> TokenBudget:
        return TokenBudget(self.tokens, self.answer, self.keep)


def read_recipe(path: Path = PAPER) -> Recipe:
    """The recipe in a JSON file; the paper's by default. Raises ConfigError naming the key."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(Recipe).validate_json(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"])) or "the file"
        raise ConfigError(f"{path}: {key}: {first['msg'].lower()}; fix the recipe") from None


def steps_of(lengths: Sequence[int], recipe: Recipe) -> tuple[Batch, ...]:
    """All steps of the training: each record once per epoch; the last step of an epoch may be smaller.

    lengths: of the records, in tokens. The same recipe gives the same steps, so that a training can be resumed.
    """
    chance = random.Random(recipe.seed)
    return tuple(step for _ in range(recipe.epochs) for step in _epoch(lengths, recipe, chance))


def rate_at(step: int, total: int, recipe: Recipe) -> float:
    """The learning rate of a step, from 0, of `total` steps."""
    warm_up_steps = int(recipe.warm_up * total)
    if step < warm_up_steps:
        return recipe.learning_rate * (step + 1) / (warm_up_steps + 1)
    return recipe.learning_rate * (total - step) / max(1, total - warm_up_steps)


def _epoch(lengths: Sequence[int], recipe: Recipe, chance: random.Random) -> Iterator[Batch]:
    order = chance.sample(range(len(lengths)), len(lengths))
    for step in _split(order, recipe.batch):
        # Similar lengths together, to reduce padding; only within a step, so that steps stay a random mix of examples.
        yield tuple(_split(sorted(step, key=lengths.__getitem__), recipe.at_once))


def _split(indices: Sequence[int], size: int) -> list[tuple[int, ...]]:
    return [tuple(indices[start : start + size]) for start in range(0, len(indices), size)]
