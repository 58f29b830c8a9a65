"""Mask-best decoding: sample likely but wrong text by forbidding the likeliest token where the model hesitates.

VDebugger (arXiv 2406.13444), Algorithm 2: at a step whose two likeliest tokens are closer than `threshold`, the
likeliest is forbidden, at most `times` times in a sequence; what remains is renormalised and sampled from at
temperature 1. The paper names neither number; 0.9 and 3 are those of its authors' code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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


# ---- Mask-best decoding inside of the libraries that run models: transformers, and vLLM where it is installed.
# ----
# ---- Not covered: beam search (a count follows its row of the batch), and the second model runner of vLLM 0.32, whose
# ---- interface is another one; there set VLLM_USE_V2_MODEL_RUNNER=0.


VLLM_KEY = "mask_best"
"""The key of a vLLM request's `extra_args` that asks for it: {"mask_best": {"threshold": 0.9, "times": 3}}."""


class MaskBestProcessor:
    """A logits processor of transformers: one row of the batch is one sequence, and each has its own count.

    Works whenever the input grows by one token for each call, as `generate` has it; a shorter one begins anew.
    """

    def __init__(self, rule: MaskBest) -> None:
        self._rule = rule
        self._done: Any = None
        self._length = 0

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """scores: (sequences, tokens) of logits; the same with the forbidden tokens at minus infinity."""
        if self._done is None or input_ids.shape[-1] <= self._length or len(self._done) != len(scores):
            self._done = scores.new_zeros(len(scores)).long()
        self._length = input_ids.shape[-1]
        forbidding, best = hesitations(scores, self._done, self._rule)
        self._done = self._done + forbidding.long()
        chosen = forbidding.new_zeros(scores.shape).scatter(1, best[:, None], forbidding[:, None])
        return scores.masked_fill(chosen, float("-inf"))


class MaskBestRequest:
    """The same for one request of vLLM, which hands over what was written so far and one row of logits."""

    def __init__(self, rule: MaskBest) -> None:
        self._rule = rule
        self._done = 0

    def __call__(self, output_ids: list[int], logits: Any) -> Any:
        """logits: (tokens,), changed in place as vLLM has it, and given back."""
        done = logits.new_full((1,), self._done).long()
        forbidding, best = hesitations(logits[None], done, self._rule)
        if bool(forbidding[0]):
            self._done += 1
            logits[best[0]] = float("-inf")
        return logits


def hesitations(scores: Any, done: Any, rule: MaskBest) -> tuple[Any, Any]:
    """For each row whether its likeliest token is forbidden, and which that is: `mask_best.step` on tensors."""
    best, rivals = (part.T for part in scores.float().softmax(-1).topk(2, dim=-1))
    close = (best[0] - best[1] < rule.threshold) & (best[1] > 0)
    return close & (done < rule.times), rivals[0]


def vllm_processor() -> type:
    """The class that `LLM(..., logits_processors=[...])` of vLLM takes. Raises ConfigError without vLLM."""
    try:
        from vllm.v1.sample.logits_processor import AdapterLogitsProcessor
    except ImportError as error:
        raise ConfigError(
            f"mask-best in vLLM needs vLLM 0.10 or later ({error}); install it, or use a local model"
        ) from error

    class MaskBestLogitsProcessor(AdapterLogitsProcessor):  # type: ignore[misc, unused-ignore]
        """Mask-best for the requests that ask for it."""

        def is_argmax_invariant(self) -> bool:
            return False

        def new_req_logits_processor(self, params: Any) -> MaskBestRequest | None:
            return request_processor(params.extra_args)

    return MaskBestLogitsProcessor


def request_processor(extra: Any) -> MaskBestRequest | None:
    """The processor of a request by its `extra_args`; None for one that does not ask. Raises ConfigError."""
    asked = (extra or {}).get(VLLM_KEY)
    if asked is None:
        return None
    if not isinstance(asked, dict) or not asked.keys() <= {"threshold", "times"}:
        raise ConfigError(f'{VLLM_KEY}: {asked!r} is no rule; give {{"threshold": 0.9, "times": 3}}')
    return MaskBestRequest(MaskBest(**asked))
