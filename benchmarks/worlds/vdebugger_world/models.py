"""The small language models of the world: transformers from scratch, their tokenizer, and what a writer learns."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.worlds.vdebugger_world.grammar import Case, some_variant
from benchmarks.worlds.vdebugger_world.scenes import COLOURS, SHAPES
from pyvision.experiments.vdebugger_training.local_model import Local
from pyvision.experiments.vdebugger_training.mask_best import MaskBest
from pyvision.experiments.vdebugger_training.masking import MASK, Masked, mask_somewhere
from pyvision.experiments.vdebugger_training.packing import TokenBudget, encode_prompt
from pyvision.experiments.vdebugger_training.records import TrainingExample

CODER_INST, FILLER_INST, _DRILL_INST = "\n\n# Program\n", "\n\n# Whole\n", "\n\n# Names\n"
_PATCH = ("left", "right", "upper", "lower", "height", "width", "horizontal_center", "vertical_center")
# Frequent parts of a trace are one token each; digits are single tokens, so that numbers can be compared.
_WHOLE = (
    *(f", {name}=" for name in _PATCH[1:]),
    "ImagePatch(left=",
    *(
        "New var:....... ",
        "Modified var:.. ",
        "Return value:.. ",
        "Exception:..... ",
        "line         ",
        "call         ",
    ),
    *("return       ", "exception    ", "<<<BUG>>>", "<<<BUG/>>>", MASK, "    "),
)


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a transformer whose first layer is a short convolution.

    That layer helps the next ones to learn to copy names from a question into a program.
    """

    hidden: int = 96
    layers: int = 3
    heads: int = 4
    tokens: int = 768


def new_model(folder: Path, corpus: Sequence[str], shape: Shape) -> Path:
    """Save an untrained model and a tokenizer for this corpus into a folder."""
    import torch
    from transformers import Lfm2Config, Lfm2ForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    tokenizer = _tokenizer(corpus)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    settings = Lfm2Config(
        vocab_size=len(tokenizer),
        hidden_size=shape.hidden,
        intermediate_size=3 * shape.hidden,
        block_auto_adjust_ff_dim=False,
        num_hidden_layers=shape.layers,
        layer_types=["conv"] + ["full_attention"] * (shape.layers - 1),
        conv_L_cache=4,
        initializer_range=0.1,  # about 1 / sqrt(width); with the usual 0.02 it learns to copy much later
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.heads,
        max_position_embeddings=shape.tokens,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.eos_token_id,
    )
    Lfm2ForCausalLM(settings).save_pretrained(folder)
    return folder


def _tokenizer(corpus: Sequence[str]) -> Any:
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    pieces = Regex(r"[0-9]| ?[A-Za-z]+|_|\s+|[^\sA-Za-z0-9_]+")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(pieces, "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus, trainer)
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in _WHOLE])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", clean_up_tokenization_spaces=False
    )


def coder_examples(cases: Sequence[Case], seed: int) -> Iterator[TrainingExample]:
    """Examples of a program for a question."""
    chance = random.Random(seed)
    for case in cases:
        yield TrainingExample(f"# {case.task}", CODER_INST, some_variant(case, chance))


def filler_examples(cases: Sequence[Case], seed: int) -> Iterator[TrainingExample]:
    """Examples of a filled mask."""
    chance = random.Random(seed)
    for case in cases:
        program = some_variant(case, chance)
        masked = mask_somewhere(program, chance)
        yield TrainingExample(f"# {case.task}\n{masked.text}", FILLER_INST, program)


def drills(count: int, seed: int) -> Iterator[TrainingExample]:
    """Lists of names to copy, which a model has to learn first in order to write programs."""
    chance = random.Random(seed)
    for _ in range(count):
        yield _drill(chance)


def _drill(chance: random.Random) -> TrainingExample:
    names = [f"{chance.choice(COLOURS)} {chance.choice(SHAPES)}" for _ in range(chance.randint(2, 8))]
    names += chance.sample(SHAPES, 2)
    chance.shuffle(names)
    return TrainingExample(f"# {', a '.join(names)}", _DRILL_INST, repr(names))


def first_programs(coder: Local, cases: Sequence[Case], token_budget: TokenBudget) -> dict[str, str]:
    """The greedy program of the coder for each question, by its id."""
    prompts = [encode_prompt(f"# {case.task}", CODER_INST, coder.tokenizer, token_budget) for case in cases]
    texts = coder.generate(prompts, token_budget.answer)
    return {case.id: text for case, text in zip(cases, texts, strict=True)}


class Filler:
    """A `dataset.Infill` with a trained filler; greedy without a rule."""

    def __init__(
        self, model: Local, token_budget: TokenBudget, rule: MaskBest | None = None, seed: int = 0
    ) -> None:
        self._model, self._token_budget, self._rule, self._seed = model, token_budget, rule, seed

    def __call__(self, asked: Sequence[tuple[str, Masked]]) -> Sequence[str]:
        self._seed += 1
        prompts = [self._prompt(f"# {task}\n{masked.text}") for task, masked in asked]
        return self._model.generate(prompts, self._token_budget.answer, self._rule, self._seed)

    def _prompt(self, text: str) -> list[int]:
        return encode_prompt(text, FILLER_INST, self._model.tokenizer, self._token_budget)
