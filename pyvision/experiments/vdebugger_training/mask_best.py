"""Mask-best decoding: sample plausible but wrong text by forbidden the most likely token where a model is unsure.

VDebugger (arXiv 2406.13444), Algorithm 2: where the probabilities of the two most likely tokens differ by less than
`threshold`, the most likely one is forbidden, at most `times` times per sequence; the rest is renormalised and sampled
at temperature 1. The paper gives neither number; 0.9 and 3 are from its authors' code.

Implemented for transformers and, if installed, vLLM. Not covered: beam search (a count belongs to a row of the batch),
and the second model runner of vLLM 0.32, which has another interface; set VLLM_USE_V2_MODEL_RUNNER=0 there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyvision.errors import ConfigError

VLLM_KEY = "mask_best"
"""The key in `extra_args` of a vLLM request that enables it: {"mask_best": {"threshold": 0.9, "times": 3}}."""


@dataclass(frozen=True, slots=True)
class MaskBest:
    """When the most likely token is forbidden. threshold: for the difference of probabilities. times: per sequence."""

    threshold: float = 0.9
    times: int = 3

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise ConfigError(f"mask-best: threshold is {self.threshold}; give a number from 0 to 1")
        if self.times < 0:
            raise ConfigError(f"mask-best: times is {self.times}; give 0 or more")

    def forbids(self, first: float, second: float, done: int) -> bool:
        """Whether the most likely token is forbidden. first, second: the highest probabilities; done: earlier times."""
        return done < self.times and first - second < self.threshold


def step(probabilities: Sequence[float], done: int, rule: MaskBest) -> tuple[tuple[float, ...], int]:
    """The distribution to sample from, and how often a token has now been forbidden in this sequence.

    probabilities: of every token at this step, summing to 1. Among equals, the first is the most likely token.
    """
    if len(probabilities) < 2:
        return tuple(probabilities), done
    best = max(range(len(probabilities)), key=probabilities.__getitem__)
    first, second = probabilities[best], max(p for i, p in enumerate(probabilities) if i != best)
    if second == 0 or not rule.forbids(first, second, done):
        return tuple(probabilities), done
    rest = sum(p for i, p in enumerate(probabilities) if i != best)  # not 1 - first, which rounds to 0
    return tuple(0.0 if i == best else p / rest for i, p in enumerate(probabilities)), done + 1


class MaskBestProcessor:
    """A logits processor for transformers: each row of the batch is a sequence with its own count.

    The input must grow by one token per call, as in `generate`; a shorter input starts a new batch.
    """

    def __init__(self, rule: MaskBest) -> None:
        self._rule = rule
        self._done: Any = None
        self._length = 0

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """scores: logits (sequences, tokens). Returns them with the forbidden tokens at minus infinity."""
        if self._done is None or input_ids.shape[-1] <= self._length or len(self._done) != len(scores):
            self._done = scores.new_zeros(len(scores)).long()
        self._length = input_ids.shape[-1]
        forbidden, best = forbidden_tokens(scores, self._done, self._rule)
        self._done = self._done + forbidden.long()
        mask = forbidden.new_zeros(scores.shape).scatter(1, best[:, None], forbidden[:, None])
        return scores.masked_fill(mask, float("-inf"))


class MaskBestRequest:
    """The same for one vLLM request: vLLM passes the tokens generated so far and one row of logits."""

    def __init__(self, rule: MaskBest) -> None:
        self._rule = rule
        self._done = 0

    def __call__(self, output_ids: list[int], logits: Any) -> Any:
        """logits: (tokens,), changed in place and returned, as vLLM expects."""
        done = logits.new_full((1,), self._done).long()
        forbidden, best = forbidden_tokens(logits[None], done, self._rule)
        if bool(forbidden[0]):
            self._done += 1
            logits[best[0]] = float("-inf")
        return logits


def forbidden_tokens(scores: Any, done: Any, rule: MaskBest) -> tuple[Any, Any]:
    """For each row, whether its most likely token is forbidden, and that token: `step` on tensors."""
    top, tokens = (part.T for part in scores.float().softmax(-1).topk(2, dim=-1))
    is_close = (top[0] - top[1] < rule.threshold) & (top[1] > 0)
    return is_close & (done < rule.times), tokens[0]


def vllm_processor() -> type:
    """The class for `LLM(..., logits_processors=[...])` in vLLM. Raises ConfigError without vLLM."""
    try:
        from vllm.v1.sample.logits_processor import AdapterLogitsProcessor
    except ImportError as error:
        raise ConfigError(
            f"mask-best in vLLM needs vLLM 0.10 or later ({error}); install it, or use a local model"
        ) from error

    class MaskBestLogitsProcessor(AdapterLogitsProcessor):  # type: ignore[misc, unused-ignore]
        """Mask-best for the requests that enable it."""

        def is_argmax_invariant(self) -> bool:
            return False

        def new_req_logits_processor(self, params: Any) -> MaskBestRequest | None:
            return request_processor(params.extra_args)

    return MaskBestLogitsProcessor


def request_processor(extra: Any) -> MaskBestRequest | None:
    """The processor for a request with these `extra_args`; None if they do not enable it. Raises ConfigError."""
    setting = (extra or {}).get(VLLM_KEY)
    if setting is None:
        return None
    if not isinstance(setting, dict) or not setting.keys() <= {"threshold", "times"}:
        raise ConfigError(f'{VLLM_KEY}: invalid value {setting!r}; give {{"threshold": 0.9, "times": 3}}')
    return MaskBestRequest(MaskBest(**setting))
