"""Mask-best decoding inside of the libraries that run models: transformers, and vLLM where it is installed.

Not covered: beam search (a count follows its row of the batch), and the second model runner of vLLM 0.32, whose
interface is another one; there set VLLM_USE_V2_MODEL_RUNNER=0.
"""

from __future__ import annotations

from typing import Any

from pyvision.errors import ConfigError
from pyvision.experiments.vdebugger_training.mask_best import MaskBest

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
