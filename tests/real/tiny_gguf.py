"""Write the tiny model as the two files that llama.cpp reads: model.gguf, and mmproj.gguf with its vision encoder.

python -m tests.real.tiny_gguf FOLDER

FOLDER is one that `tiny_vlm` has written. llama.cpp stops a LLaVA encoder before its last layer, while the tiny model
was trained with all of them: so the file has one layer more, which never runs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_NORMAL, _CONTROL = 1, 3  # kinds of tokens in GGUF
_LANGUAGE = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
_VISION = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.out_proj": "attn_out",
    "mlp.fc1": "ffn_up",
    "mlp.fc2": "ffn_down",
    "layer_norm1": "ln1",
    "layer_norm2": "ln2",
}
_OUTSIDE = {  # of the layers
    "embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "language_model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
    "embeddings.class_embedding": "v.class_embd",
    "embeddings.patch_embedding.weight": "v.patch_embd.weight",
    "embeddings.position_embedding.weight": "v.position_embd.weight",
    "pre_layrnorm.weight": "v.pre_ln.weight",
    "pre_layrnorm.bias": "v.pre_ln.bias",
    "linear_1.weight": "mm.0.weight",
    "linear_1.bias": "mm.0.bias",
    "linear_2.weight": "mm.2.weight",
    "linear_2.bias": "mm.2.bias",
}


def write(folder: Path) -> None:
    """Write both files into the folder."""
    from safetensors.numpy import load_file

    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    weights = load_file(folder / "model.safetensors")
    _write_language(folder, config["text_config"], weights)
    _write_vision(folder, config, weights)


def _write_language(folder: Path, config: Mapping[str, Any], weights: Mapping[str, Any]) -> None:
    import gguf

    writer: Any = gguf.GGUFWriter(folder / "model.gguf", "llama")
    heads, key_heads = config["num_attention_heads"], config["num_key_value_heads"]
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(key_heads)
    writer.add_rope_dimension_count(config["hidden_size"] // heads)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    _add_tokens(writer, folder)
    for name, tensor in weights.items():
        if found := _name_of(name, "blk", _LANGUAGE):
            heads_of = {"attn_q": heads, "attn_k": key_heads}.get(found.split(".")[-2], 0)
            writer.add_tensor(found, _in_pairs(tensor, heads_of) if heads_of else tensor)
    _finish(writer)


def _add_tokens(writer: Any, folder: Path) -> None:
    tokens = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    special = {each["content"] for each in tokens["added_tokens"]}
    ids = tokens["model"]["vocab"] | {each["content"]: each["id"] for each in tokens["added_tokens"]}
    ordered = sorted(ids, key=ids.__getitem__)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(ordered)
    writer.add_token_types([_CONTROL if token in special else _NORMAL for token in ordered])
    merges = tokens["model"]["merges"]
    writer.add_token_merges([each if isinstance(each, str) else " ".join(each) for each in merges])
    writer.add_bos_token_id(ids["<s>"])
    writer.add_eos_token_id(ids["<|im_end|>"])
    writer.add_pad_token_id(ids["<pad>"])
    writer.add_add_bos_token(False)
    writer.add_chat_template((folder / "chat_template.jinja").read_text(encoding="utf-8"))


def _write_vision(folder: Path, config: Mapping[str, Any], weights: Mapping[str, Any]) -> None:
    import gguf

    seen = config["vision_config"]
    layers = seen["num_hidden_layers"]
    pixels = json.loads((folder / "processor_config.json").read_text(encoding="utf-8"))["image_processor"]
    writer: Any = gguf.GGUFWriter(folder / "mmproj.gguf", "clip")
    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_string("clip.projector_type", "mlp")
    writer.add_bool("clip.use_gelu", False)
    writer.add_uint32("clip.vision.image_size", seen["image_size"])
    writer.add_uint32("clip.vision.patch_size", seen["patch_size"])
    writer.add_uint32("clip.vision.embedding_length", seen["hidden_size"])
    writer.add_uint32("clip.vision.feed_forward_length", seen["intermediate_size"])
    writer.add_uint32("clip.vision.projection_dim", config["text_config"]["hidden_size"])
    writer.add_uint32("clip.vision.attention.head_count", seen["num_attention_heads"])
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", seen["layer_norm_eps"])
    writer.add_uint32("clip.vision.block_count", layers + 1)
    writer.add_array("clip.vision.image_mean", list(pixels["image_mean"]))
    writer.add_array("clip.vision.image_std", list(pixels["image_std"]))
    for name, tensor in _with_last_twice(weights, layers):
        if found := _name_of(name, "v.blk", _VISION):
            writer.add_tensor(found, tensor)
    _finish(writer)


def _with_last_twice(weights: Mapping[str, Any], layers: int) -> Iterator[tuple[str, Any]]:
    for name, tensor in weights.items():
        yield name, tensor
        if f"layers.{layers - 1}." in name:
            yield name.replace(f"layers.{layers - 1}.", f"layers.{layers}."), tensor


def _name_of(name: str, prefix: str, parts: Mapping[str, str]) -> str | None:
    """What llama.cpp calls the tensor, if it belongs to this file."""
    is_of_language = "language_model" in name or "lm_head" in name
    if is_of_language != (prefix == "blk"):
        return None
    if ".layers." not in name:
        return next((ours for theirs, ours in _OUTSIDE.items() if name.endswith(theirs)), None)
    number, _, rest = name.partition(".layers.")[2].partition(".")
    part, _, kind = rest.rpartition(".")
    return f"{prefix}.{number}.{parts[part]}.{kind}"


def _in_pairs(tensor: Any, heads: int) -> Any:
    """The rows of a head in the order in which llama.cpp turns them: each beside its partner."""
    rows, columns = tensor.shape
    return tensor.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def _finish(writer: Any) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    write(Path(sys.argv[1]))
