"""A language model whose files lie on this machine: it continues tokens, greedily or mask-best, and judges verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from pyvision.experiments.vdebugger_training.fine_tuning import load_model, require, usual_device
from pyvision.experiments.vdebugger_training.mask_best import MaskBest
from pyvision.experiments.vdebugger_training.masking import (
    REFILL_TOKENS,
    Masked,
    opening_of,
    program_in,
    refill_prompt,
)
from pyvision.experiments.vdebugger_training.packing import (
    CRITIC_INST,
    REFINER_INST,
    RIGHT,
    WRONG,
    TokenBudget,
    encode_prompt,
)


class Local:
    """A model of transformers by its folder or name. Raises MissingExtra and ConfigError when it is made.

    at_once: texts that are continued together. Not thread-safe.
    """

    def __init__(self, name: str | Path, *, at_once: int = 16, device: str | None = None) -> None:
        require("torch", "transformers")
        self.at_once = at_once
        self._device = device or usual_device()
        self.tokenizer, model = load_model(name, "float32" if self._device == "cpu" else "auto")
        self._model = model.to(self._device).eval()

    def continued(
        self, prompts: Sequence[Sequence[int]], most: int, rule: MaskBest | None = None, seed: int = 0
    ) -> list[str]:
        """What follows each prompt, at most so many tokens: the likeliest, or mask-best at temperature 1."""
        import torch

        said: list[str] = []
        left = iter(prompts)
        with torch.inference_mode(), torch.random.fork_rng():
            torch.manual_seed(seed)
            while batch := list(islice(left, self.at_once)):
                said += self._continued(batch, most, rule)
        return said

    def accepts(self, prompts: Sequence[Sequence[int]]) -> list[float]:
        """For each critic's prompt P(right) / (P(right) + P(wrong)), the score of VDebugger's Algorithm 1."""
        import torch

        with torch.inference_mode():
            pairs = [(self._likelihood(p, RIGHT), self._likelihood(p, WRONG)) for p in prompts]
        return [1 / (1 + float(torch.exp(wrong - right))) for right, wrong in pairs]

    def _continued(self, batch: Sequence[Sequence[int]], most: int, rule: MaskBest | None) -> list[str]:
        from pyvision.experiments.vdebugger_training.mask_best import MaskBestProcessor

        tokens, shown = self._pad_at_the_start(batch)
        sampling: dict[str, Any] = {"do_sample": False}
        if rule:
            sampling = {
                "do_sample": True,
                "temperature": 1.0,
                "top_k": 0,
                "top_p": 1.0,
                "logits_processor": [MaskBestProcessor(rule)],
            }
        found = self._model.generate(
            input_ids=tokens, attention_mask=shown, max_new_tokens=most, pad_token_id=self._pad, **sampling
        )
        return self.tokenizer.batch_decode(found[:, tokens.shape[1] :], skip_special_tokens=True)  # type: ignore[no-any-return]

    def _pad_at_the_start(self, batch: Sequence[Sequence[int]]) -> tuple[Any, Any]:
        import torch

        longest = max(map(len, batch))
        rows = [[self._pad] * (longest - len(prompt)) + list(prompt) for prompt in batch]
        shown = [[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in batch]
        return torch.tensor(rows, device=self._device), torch.tensor(shown, device=self._device)

    @property
    def _pad(self) -> int:
        pad, end = self.tokenizer.pad_token_id, self.tokenizer.eos_token_id
        return pad if pad is not None else end if end is not None else 0

    def _likelihood(self, prompt: Sequence[int], text: str) -> Any:
        import torch

        said = self.tokenizer.encode(text, add_special_tokens=False)
        tokens = torch.tensor([[*prompt, *said]], device=self._device)
        scores = self._model(input_ids=tokens).logits[0, len(prompt) - 1 : -1].float().log_softmax(-1)
        return sum(scores[place, token] for place, token in enumerate(said))


class LocalInfill:
    """Fills masks by a local model, whose reply is begun for it up to the signature; greedily without a rule."""

    def __init__(
        self, model: Local, api: str, rule: MaskBest | None, token_budget: TokenBudget, seed: int = 0
    ) -> None:
        self._model, self._api, self._rule, self._token_budget, self._seed = (
            model,
            api,
            rule,
            token_budget,
            seed,
        )

    def __call__(self, asked: Sequence[tuple[str, Masked]]) -> Sequence[str]:
        self._seed += 1
        prompts = [self._prompt(task, masked) for task, masked in asked]
        said = self._model.continued(prompts, REFILL_TOKENS, self._rule, self._seed)
        return [
            program_in(opening_of(task, masked) + text)
            for (task, masked), text in zip(asked, said, strict=True)
        ]

    def _prompt(self, task: str, masked: Masked) -> list[int]:
        """With the template of a model that talks; a model that does not reads the question as it is."""
        tokenizer = self._model.tokenizer
        asked = refill_prompt(task, masked, self._api)
        if tokenizer.chat_template:
            messages = [{"role": "user", "content": asked}]
            asked = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
            return list(tokenizer.encode(f"{asked}{opening_of(task, masked)}", add_special_tokens=False))
        return encode_prompt(f"{asked}\n\n", opening_of(task, masked), tokenizer, self._token_budget)


class LocalDebugger:
    """A trained critic and refiner by their texts, as the loop of VDebugger asks them."""

    def __init__(self, critic: Local, refiner: Local, token_budget: TokenBudget) -> None:
        self._critic, self._refiner, self._token_budget = critic, refiner, token_budget

    def judged(self, cases: Sequence[str]) -> list[tuple[float, str]]:
        """(score, what the critic says) for each program with its feedback."""
        prompts = [
            encode_prompt(each, CRITIC_INST, self._critic.tokenizer, self._token_budget) for each in cases
        ]
        said = self._critic.continued(prompts, self._token_budget.answer)
        return list(zip(self._critic.accepts(prompts), said, strict=True))

    def refined(self, cases: Sequence[str]) -> list[str]:
        """What the refiner says about each marked program with its feedback: a new program."""
        prompts = [
            encode_prompt(each, REFINER_INST, self._refiner.tokenizer, self._token_budget) for each in cases
        ]
        return self._refiner.continued(prompts, self._token_budget.answer)
