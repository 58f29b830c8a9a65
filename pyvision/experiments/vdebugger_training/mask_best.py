"""Mask-best decoding: sample likely but wrong text by forbidding the likeliest token where the model hesitates.

VDebugger (arXiv 2406.13444), Algorithm 2: at a step whose two likeliest tokens are closer than `threshold`, the
likeliest is forbidden, at most `times` times in a sequence; what remains is renormalised and sampled from at
temperature 1. The paper names neither number; 0.9 and 3 are those of its authors' code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyvision.errors import ConfigError


@dataclass(frozen=True, slots=True)
class MaskBest:
    """When the likeliest token is forbidden. threshold: of the probabilities' difference. times: per sequence."""

    threshold: float = 0.9
    times: int = 3

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise ConfigError(
                f"mask-best: threshold {self.threshold} is no difference of probabilities; 0 to 1"
            )
        if self.times < 0:
            raise ConfigError(f"mask-best: times {self.times} is no count; give 0 or more")

    def forbids(self, first: float, second: float, done: int) -> bool:
        """Whether the likeliest token is forbidden, given the two highest probabilities and how often it was."""
        return done < self.times and first - second < self.threshold


def step(probabilities: Sequence[float], done: int, rule: MaskBest) -> tuple[tuple[float, ...], int]:
    """The distribution to sample from, and how often the likeliest token has now been forbidden in this sequence.

    probabilities: of every token at this step, summing to 1. Of several likeliest ones the first counts.
    """
    if len(probabilities) < 2:
        return tuple(probabilities), done
    best = max(range(len(probabilities)), key=probabilities.__getitem__)
    first, second = probabilities[best], max(p for i, p in enumerate(probabilities) if i != best)
    if second == 0 or not rule.forbids(first, second, done):
        return tuple(probabilities), done
    rest = sum(p for i, p in enumerate(probabilities) if i != best)  # not 1 - first, which rounds to 0
    return tuple(0.0 if i == best else p / rest for i, p in enumerate(probabilities)), done + 1
