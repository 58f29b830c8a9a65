"""Fine-tune a causal language model on examples: all weights or LoRA, with checkpoints, on one device.

Not covered: several devices. The paper's 7B and 13B models were trained on four GPUs with DeepSpeed; one large
GPU needs `lora_rank` or `recompute` for them.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pyvision.errors import ConfigError, MissingExtra, RunFolderError, reason
from pyvision.experiments.vdebugger_training.packing import UNCOUNTED, Encoded, encode
from pyvision.experiments.vdebugger_training.recipe import Batch, Recipe, rate_at, steps_of
from pyvision.experiments.vdebugger_training.records import TrainingExample

_ABOUT = "training.json"
_LATEST = "checkpoint"
_STATE = "state.pt"
_PLAIN_TEMPLATE = "{{ bos_token or '' }}{% for message in messages %}{{ message['content'] }}{% endfor %}"


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """One step of a training. step: from 1; loss: mean over the counted tokens of this step."""

    step: int
    total: int
    loss: float
    rate: float

    def __str__(self) -> str:
        return f"step {self.step}/{self.total}: loss {self.loss:.4f}, learning rate {self.rate:.2e}"


def train(
    examples: Sequence[TrainingExample],
    model: str,
    out: Path,
    recipe: Recipe,
    tell: Callable[[TrainingStep], None],
) -> None:
    """Train a model, given by folder or name, and save it in `out`; resumes an interrupted training there.

    The loss is the mean over all counted tokens of a step, regardless of the micro-batches. Raises ConfigError,
    MissingExtra without torch and transformers, and what `tell` raises.
    """
    if not examples:
        raise ConfigError("there are no examples to train on; create some with `vdebugger pack`")
    require("torch", "transformers", *(["peft"] if recipe.lora_rank else []))
    folder = TrainingFolder(out, describe_training(examples, model, recipe))
    if folder.is_finished:
        return
    run = _Run(examples, model, folder, recipe)
    for progress in run.steps():
        tell(progress)
    folder.finish(run.whole_model(), run.tokenizer)


def require(*packages: str) -> None:
    """Raises MissingExtra for the first package that is not installed."""
    from importlib.util import find_spec

    for package in packages:
        if find_spec(package) is None:
            raise MissingExtra(package, "train")


def load_model(name: str | Path, precision: str = "float32") -> tuple[Any, Any]:
    """The tokenizer and the model. Raises ConfigError if they cannot be loaded.

    precision: of the weights; `auto` keeps the saved one.
    """
    from transformers import AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # one per file read or written
    return _load(AutoTokenizer, name), _load_model(name, precision)


def _load_model(name: str | Path, precision: str = "float32") -> Any:
    from transformers import AutoModelForCausalLM

    return _load(AutoModelForCausalLM, name, dtype=precision)


def _load(kind: Any, name: str | Path, **settings: Any) -> Any:
    try:
        return kind.from_pretrained(name, **settings)
    except (OSError, ValueError) as error:
        first = str(error).strip().partition("\n")[0]
        raise ConfigError(f"{name}: cannot load a causal language model ({first}); check the name") from error


def default_device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


class _Run:
    """A training in progress, starting from the last checkpoint if there is one."""

    def __init__(
        self, examples: Sequence[TrainingExample], model: str, folder: TrainingFolder, recipe: Recipe
    ) -> None:
        import torch

        self._folder, self._recipe, self._device = folder, recipe, default_device()
        state = folder.state()
        torch.manual_seed(recipe.seed)
        self.tokenizer, loaded = load_model(model)
        if state and not recipe.lora_rank:
            loaded = _load_model(folder.checkpoint)
        self._model = _adapt(loaded, recipe, folder.checkpoint if state else None).to(self._device)
        self._records = [encode(example, self.tokenizer, recipe.token_budget) for example in examples]
        self._steps = steps_of([len(record.tokens) for record in self._records], recipe)
        weights = [weight for weight in self._model.parameters() if weight.requires_grad]
        self._optimizer = torch.optim.AdamW(
            weights, lr=recipe.learning_rate, weight_decay=recipe.weight_decay
        )
        self._done = state.get("step", 0)
        if state:
            self._optimizer.load_state_dict(state["optimizer"])

    def steps(self) -> Iterator[TrainingStep]:
        """Run the remaining steps."""
        self._model.train()
        for number in range(self._done, len(self._steps)):
            rate = rate_at(number, len(self._steps), self._recipe)
            loss = self._step(self._steps[number], rate)
            every = self._recipe.save_every
            if every and (number + 1) % every == 0 and number + 1 < len(self._steps):
                self._folder.save(
                    self._model, {"step": number + 1, "optimizer": self._optimizer.state_dict()}
                )
            yield TrainingStep(number + 1, len(self._steps), loss, rate)

    def whole_model(self) -> Any:
        """The model to save: a LoRA adapter is merged into the weights."""
        return self._model.merge_and_unload() if self._recipe.lora_rank else self._model

    def _step(self, batch: Batch, rate: float) -> float:
        import torch

        for group in self._optimizer.param_groups:
            group["lr"] = rate
        micro_batches = [[self._records[index] for index in indices] for indices in batch]
        counted = max(1, sum(_count_labels(record) for records in micro_batches for record in records))
        self._optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for records in micro_batches:
            loss = self._loss(records) / counted
            loss.backward()
            total += float(loss.detach())
        if self._recipe.clip:
            torch.nn.utils.clip_grad_norm_(self._model.parameters(), self._recipe.clip)
        self._optimizer.step()
        return total

    def _loss(self, records: Sequence[Encoded]) -> Any:
        """The sum over the counted tokens of one micro-batch."""
        import torch

        tokens, labels, mask = (part.to(self._device) for part in _pad(records))
        use_bf16 = _use_bf16(self._recipe, self._device)
        with torch.autocast(self._device, dtype=torch.bfloat16, enabled=use_bf16):
            scores = self._model(input_ids=tokens, attention_mask=mask, use_cache=False).logits
        return torch.nn.functional.cross_entropy(
            scores[:, :-1].float().flatten(0, 1),
            labels[:, 1:].flatten(),
            ignore_index=UNCOUNTED,
            reduction="sum",
        )


def _count_labels(record: Encoded) -> int:
    """Without the first token, which is never predicted."""
    return sum(label != UNCOUNTED for label in record.labels[1:])


def _use_bf16(recipe: Recipe, device: str) -> bool:
    import torch

    is_supported = device == "cuda" and torch.cuda.is_bf16_supported()
    return recipe.precision == "bf16" or (recipe.precision == "auto" and is_supported)


def _pad(records: Sequence[Encoded]) -> tuple[Any, Any, Any]:
    """Tokens, labels and attention mask, each (records, longest), padded on the right."""
    import torch

    longest = max(len(record.tokens) for record in records)
    tokens = torch.zeros(len(records), longest, dtype=torch.long)
    labels = torch.full_like(tokens, UNCOUNTED)
    mask = torch.zeros_like(tokens)
    for row, record in enumerate(records):
        size = len(record.tokens)
        tokens[row, :size] = torch.tensor(record.tokens)
        labels[row, :size] = torch.tensor(record.labels)
        mask[row, :size] = 1
    return tokens, labels, mask


def _adapt(model: Any, recipe: Recipe, checkpoint: Path | None) -> Any:
    """The model to train; with LoRA, with a new adapter or that of the checkpoint."""
    if recipe.recompute:
        # the new name is used in newer versions of transformers
        getattr(model, "activation_checkpointing_enable", model.gradient_checkpointing_enable)()
    if not recipe.lora_rank:
        return model
    from peft import LoraConfig, PeftModel, get_peft_model

    if checkpoint:
        return PeftModel.from_pretrained(model, checkpoint, is_trainable=True)
    how = LoraConfig(
        r=recipe.lora_rank,
        lora_alpha=recipe.lora_alpha,
        lora_dropout=recipe.lora_dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    return get_peft_model(model, how)


class TrainingFolder:
    """The folder of a training: its description, last checkpoint, and final model.

    Raises ConfigError if it belongs to another training, RunFolderError if it cannot be written.
    """

    def __init__(self, folder: Path, about: dict[str, Any]) -> None:
        self.folder = folder
        path = folder / _ABOUT
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
            before = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RunFolderError(
                f"{folder}: cannot be used for a training ({reason(error)}); choose another --out"
            ) from error
        changed = sorted(key for key in about.keys() | before.keys() if about.get(key) != before.get(key))
        if changed:
            raise ConfigError(
                f"{folder}: contains another training ({', '.join(changed)} differ); choose another --out"
            )

    @property
    def is_finished(self) -> bool:
        return (self.folder / "config.json").exists() and not self.checkpoint.exists()

    @property
    def checkpoint(self) -> Path:
        """The folder of the last checkpoint; it may not exist."""
        return self.folder / _LATEST

    def save(self, model: Any, state: dict[str, Any]) -> None:
        """Replace the last checkpoint; if interrupted, the last one stays intact."""
        import torch

        new = self.folder / f"{_LATEST}-new"
        shutil.rmtree(new, ignore_errors=True)
        model.save_pretrained(new)
        torch.save(state, new / _STATE)
        old = self.folder / f"{_LATEST}-old"
        shutil.rmtree(old, ignore_errors=True)
        if self.checkpoint.exists():
            self.checkpoint.rename(old)
        new.rename(self.checkpoint)
        shutil.rmtree(old, ignore_errors=True)

    def state(self) -> dict[str, Any]:
        """The state saved with the last checkpoint; empty if there is none."""
        import torch

        path = self.checkpoint / _STATE
        return torch.load(path, weights_only=True) if path.exists() else {}

    def finish(self, model: Any, tokenizer: Any) -> None:
        """Save the trained model and delete the checkpoint.

        Its chat template passes the text of a message through unchanged, which is the format of the training.
        """
        tokenizer.chat_template = _PLAIN_TEMPLATE
        model.save_pretrained(self.folder)
        tokenizer.save_pretrained(self.folder)
        shutil.rmtree(self.checkpoint, ignore_errors=True)


def describe_training(examples: Sequence[TrainingExample], model: str, recipe: Recipe) -> dict[str, Any]:
    """What distinguishes one training from another."""
    written = json.dumps([asdict(example) for example in examples], sort_keys=True).encode()
    settings = {key: value for key, value in asdict(recipe).items() if key != "save_every"}
    return {"model": model, "lessons": hashlib.sha256(written).hexdigest()[:32], "recipe": settings}
