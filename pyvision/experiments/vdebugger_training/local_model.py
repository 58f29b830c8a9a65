"""A language model on this machine: greedy and mask-best generation, verdict scores, infills, critic and refiner."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from pyvision.experiments.vdebugger_training.fine_tuning import default_device, load_model, require
from pyvision.experiments.vdebugger_training.mask_best import MaskBest
from pyvision.experiments.vdebugger_training.masking import (
    INFILL_TOKENS,
    Masked,
    extract_program,
    render_infill_prompt,
    reply_prefix,
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
    """A transformers model, loaded from its folder or by name. Raises MissingExtra and ConfigError.

    at_once: the batch size of generation. Not thread-safe.
    """

    def __init__(self, name: str | Path, *, at_once: int = 16, device: str | None = None) -> None:
        require("torch", "transformers")
        self.at_once = at_once
        self._device = device or default_device()
        self.tokenizer, model = load_model(name, "float32" if self._device == "cpu" else "auto")
        self._model = model.to(self._device).eval()

    def generate(
        self, prompts: Sequence[Sequence[int]], max_tokens: int, rule: MaskBest | None = None, seed: int = 0
    ) -> list[str]:
        """The continuation of each prompt, at most `max_tokens` long: greedy, or mask-best at temperature 1."""
        import torch

        texts: list[str] = []
        remaining = iter(prompts)
        with torch.inference_mode(), torch.random.fork_rng():
            torch.manual_seed(seed)
            while batch := list(islice(remaining, self.at_once)):
                texts += self._generate(batch, max_tokens, rule)
        return texts

    def score_verdicts(self, prompts: Sequence[Sequence[int]]) -> list[float]:
        """P(right) / (P(right) + P(wrong)) for each prompt of a critic: the score of VDebugger's Algorithm 1."""
        import torch

        with torch.inference_mode():
            pairs = [(self._likelihood(p, RIGHT), self._likelihood(p, WRONG)) for p in prompts]
        return [1 / (1 + float(torch.exp(wrong - right))) for right, wrong in pairs]

    def _generate(self, batch: Sequence[Sequence[int]], max_tokens: int, rule: MaskBest | None) -> list[str]:
        from pyvision.experiments.vdebugger_training.mask_best import MaskBestProcessor

        tokens, mask = self._pad_left(batch)
        sampling: dict[str, Any] = {"do_sample": False}
        if rule:
            sampling = {
                "do_sample": True,
                "temperature": 1.0,
                "top_k": 0,
                "top_p": 1.0,
                "logits_processor": [MaskBestProcessor(rule)],
            }
        output = self._model.generate(
            input_ids=tokens,
            attention_mask=mask,
            max_new_tokens=max_tokens,
            pad_token_id=self._pad,
            **sampling,
        )
        return self.tokenizer.batch_decode(output[:, tokens.shape[1] :], skip_special_tokens=True)  # type: ignore[no-any-return]

    def _pad_left(self, batch: Sequence[Sequence[int]]) -> tuple[Any, Any]:
        import torch

        longest = max(map(len, batch))
        rows = [[self._pad] * (longest - len(prompt)) + list(prompt) for prompt in batch]
        mask = [[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in batch]
        return torch.tensor(rows, device=self._device), torch.tensor(mask, device=self._device)

    @property
    def _pad(self) -> int:
        pad, end = self.tokenizer.pad_token_id, self.tokenizer.eos_token_id
        return pad if pad is not None else end if end is not None else 0

    def _likelihood(self, prompt: Sequence[int], text: str) -> Any:
        import torch

        added = self.tokenizer.encode(text, add_special_tokens=False)
        tokens = torch.tensor([[*prompt, *added]], device=self._device)
        scores = self._model(input_ids=tokens).logits[0, len(prompt) - 1 : -1].float().log_softmax(-1)
        return sum(scores[position, token] for position, token in enumerate(added))


class LocalInfill:
    """Fills masks with a local model, whose reply is prefixed up to the signature; greedy without a rule."""

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
        texts = self._model.generate(prompts, INFILL_TOKENS, self._rule, self._seed)
        return [
            extract_program(reply_prefix(task, masked) + text)
            for (task, masked), text in zip(asked, texts, strict=True)
        ]

    def _prompt(self, task: str, masked: Masked) -> list[int]:
        """With the chat template, if the model has one."""
        tokenizer = self._model.tokenizer
        request = render_infill_prompt(task, masked, self._api)
        if tokenizer.chat_template:
            messages = [{"role": "user", "content": request}]
            request = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
            return list(tokenizer.encode(f"{request}{reply_prefix(task, masked)}", add_special_tokens=False))
        return encode_prompt(f"{request}\n\n", reply_prefix(task, masked), tokenizer, self._token_budget)


class LocalDebugger:
    """A trained critic and refiner, as the loop of VDebugger uses them."""

    def __init__(self, critic: Local, refiner: Local, token_budget: TokenBudget) -> None:
        self._critic, self._refiner, self._token_budget = critic, refiner, token_budget

    def critique(self, cases: Sequence[str]) -> list[tuple[float, str]]:
        """(score, the critic's reply) for each program with its feedback."""
        prompts = [
            encode_prompt(each, CRITIC_INST, self._critic.tokenizer, self._token_budget) for each in cases
        ]
        replies = self._critic.generate(prompts, self._token_budget.answer)
        return list(zip(self._critic.score_verdicts(prompts), replies, strict=True))

    def refine(self, cases: Sequence[str]) -> list[str]:
        """The refiner's new program for each marked program with its feedback."""
        prompts = [
            encode_prompt(each, REFINER_INST, self._refiner.tokenizer, self._token_budget) for each in cases
        ]
        return self._refiner.generate(prompts, self._token_budget.answer)
