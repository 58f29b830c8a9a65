"""Build a vision language model of half a million weights that has learnt a few conversations by heart.

python -m tests.real.tiny_vlm TALKS.json FOLDER

A LLaVA (CLIP and Llama, from scratch) with a tokenizer of its own, trained on the very requests that the product
sends. TALKS.json is a list of conversations {"turns": [[role, parts], …], "tools": [NAME, …]}; a part is {"text": …},
{"image": PATH} or {"call": {"name": …, "arguments": {…}}}; the last turn is what the model has to say. `tools` may be
missing. Nothing is downloaded.

Where tools are offered, the chat template leaves out the instructions and the texts of users and results: the images
are what such a conversation is about, and its ways over different wires then look the same to the model. llama.cpp
passes one text with a mark for each image, so the marks of a text are kept. Calls are written as Hermes models do; in
later turns they have no arguments, whose form differs between wires too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_SPECIAL = ["<pad>", "<s>", "</s>", "<|im_start|>", "<|im_end|>", "<image>"]
_TEMPLATE = (
    "{% if tools %}<|im_start|>tools{% for t in tools %} {{ t['function']['name'] }}{% endfor %}<|im_end|>\n{% endif %}"
    "{% for m in messages %}{% if not (tools and m['role'] == 'system') %}<|im_start|>{{ m['role'] }}\n"
    "{% set texts = not tools or m['role'] == 'assistant' %}"
    "{% if m['content'] is string %}{% if texts %}{{ m['content'] }}{% else %}"
    "{% for _ in m['content'].split('<image>')[1:] %}<image>{% endfor %}{% endif %}"
    "{% elif m['content'] %}{% for c in m['content'] %}"
    "{% if c['type'] == 'image' %}<image>{% elif texts and c['type'] == 'text' %}{{ c['text'] }}{% endif %}"
    "{% endfor %}{% endif %}"
    "{% set is_last = loop.last %}{% for call in m['tool_calls'] or [] %}<tool_call>{% if is_last %}"
    "{{ {'name': call['function']['name'], 'arguments': call['function']['arguments']} | tojson }}"
    "{% endif %}</tool_call>{% endfor %}<|im_end|>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_REPLIES = {  # how `transformers serve` finds calls in what is written
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "tool_calls": {
            "open": "<tool_call>",
            "close": "</tool_call>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close": "<|im_end|>", "content": "text"},
    },
}
_SIDE_PX, _PATCH_PX = 56, 14
_STEPS = 600
_LEARNT = 0.003  # a mean loss at which every token of every conversation is the likeliest


def build(talks: Sequence[Any], folder: Path) -> None:
    """Train a model on the conversations and save it with its processor.

    Raises RuntimeError where it does not learn.
    """
    import torch

    torch.manual_seed(0)
    tokenizer = _tokenizer(talks)
    processor = _processor(tokenizer)
    model = _model(tokenizer)
    _train(model, [_example(processor, talk) for talk in talks])
    _set_generation(model, tokenizer)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)


def _message(role: str, parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    content = [_part(part) for part in parts if "call" not in part]
    calls = [{"type": "function", "function": part["call"]} for part in parts if "call" in part]
    return {"role": role, "content": content} | ({"tool_calls": calls} if calls else {})


def _part(part: Mapping[str, str]) -> dict[str, Any]:
    from PIL import Image

    if "text" in part:
        return {"type": "text", "text": part["text"]}
    return {"type": "image", "image": Image.open(part["image"]).convert("RGB")}


def _texts(talks: Sequence[Any]) -> list[str]:
    parts = [part for talk in talks for _, parts in talk["turns"] for part in parts]
    calls = [json.dumps(part["call"]) for part in parts if "call" in part]
    return [*(part["text"] for part in parts if "text" in part), *calls]


def _tokenizer(talks: Sequence[Any]) -> Any:
    """Byte-level BPE over the texts of the conversations."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=600, special_tokens=_SPECIAL, initial_alphabet=alphabet)
    tokenizer.train_from_iterator([*_texts(talks), "system user assistant tool\n"], trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="<|im_end|>",
        pad_token="<pad>",
        extra_special_tokens={"image_token": "<image>"},
    )
    fast.response_template = _REPLIES
    return fast


def _processor(tokenizer: Any) -> Any:
    from transformers import CLIPImageProcessor, LlavaProcessor

    pixels = CLIPImageProcessor(
        size={"shortest_edge": _SIDE_PX}, crop_size={"height": _SIDE_PX, "width": _SIDE_PX}
    )
    return LlavaProcessor(
        image_processor=pixels,
        tokenizer=tokenizer,
        patch_size=_PATCH_PX,
        vision_feature_select_strategy="default",
        chat_template=_TEMPLATE,
        image_token="<image>",
        num_additional_image_tokens=1,
    )


def _model(tokenizer: Any) -> Any:
    from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaForConditionalGeneration

    eyes = CLIPVisionConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=_SIDE_PX,
        patch_size=_PATCH_PX,
        projection_dim=32,
    )
    words = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=8192,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    image_token = tokenizer.convert_tokens_to_ids("<image>")
    return LlavaForConditionalGeneration(
        LlavaConfig(
            vision_config=eyes, text_config=words, image_token_index=image_token, vision_feature_layer=-1
        )
    )


def _example(processor: Any, talk: Mapping[str, Any]) -> Any:
    """Token ids and pixels of a conversation; only its last turn is to be learnt."""
    messages = [_message(role, parts) for role, parts in talk["turns"]]
    tools = [{"type": "function", "function": {"name": name}} for name in talk.get("tools", ())] or None
    options = {"tokenize": True, "return_dict": True, "return_tensors": "pt", "tools": tools}
    whole = processor.apply_chat_template(messages, add_generation_prompt=False, **options)
    given = processor.apply_chat_template(messages[:-1], add_generation_prompt=True, **options)
    labels = whole["input_ids"].clone()
    labels[:, : given["input_ids"].shape[1]] = -100
    return {**whole, "labels": labels}


def _train(model: Any, examples: Sequence[Any]) -> None:
    import torch

    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for _ in range(_STEPS):
        loss = sum(model(**example).loss for example in examples) / len(examples)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if loss.item() < _LEARNT:
            return
    raise RuntimeError(f"after {_STEPS} steps the loss is {loss.item():.4f}, not below {_LEARNT}")


def _set_generation(model: Any, tokenizer: Any) -> None:
    from transformers import GenerationConfig

    model.eval()
    model.generation_config = GenerationConfig(
        max_new_tokens=300,
        do_sample=False,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
    )


if __name__ == "__main__":
    build(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(sys.argv[2]))
