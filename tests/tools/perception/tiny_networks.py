"""Networks of a few thousand random weights, saved as folders: their answers mean nothing, their form is real."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    BlipConfig,
    BlipForConditionalGeneration,
    BlipImageProcessor,
    BlipProcessor,
    CLIPConfig,
    CLIPImageProcessor,
    CLIPModel,
    CLIPVisionConfig,
    DPTConfig,
    DPTForDepthEstimation,
    DPTImageProcessor,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    OwlViTConfig,
    OwlViTForObjectDetection,
    OwlViTImageProcessor,
    PreTrainedTokenizerFast,
    ViltConfig,
    ViltForQuestionAnswering,
    ViltImageProcessor,
    ViltProcessor,
)

WORDS = (
    "<pad>", "<s>", "</s>", "<unk>", "<image>", "[CLS]", "[SEP]", "a", "photo", "of", "red", "circle", "green",
    "triangle", "something", "else", "what", "colour", "is", "this", "object", ".", "?",
)  # fmt: skip
SIDE = 32
_SMALL = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
_TEXT = {
    **_SMALL,
    "vocab_size": len(WORDS),
    "max_position_embeddings": 32,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_SIGHT = {**_SMALL, "image_size": SIDE, "patch_size": 16}


def tokenizer() -> Any:
    vocabulary = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="<unk>"))
    vocabulary.pre_tokenizer = pre_tokenizers.Whitespace()
    vocabulary.decoder = decoders.WordPiece()
    vocabulary.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A $B </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=vocabulary,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        additional_special_tokens=["<image>"],
        model_max_length=32,
        model_input_names=["input_ids", "attention_mask"],
    )


def _save(folder: Path, *parts: Any) -> str:
    for part in parts:
        part.save_pretrained(folder)
    return str(folder)


def detector(folder: Path) -> str:
    torch.manual_seed(0)
    config = OwlViTConfig(text_config={**_TEXT, "pad_token_id": 0}, vision_config=_SIGHT, projection_dim=32)
    size = {"height": SIDE, "width": SIDE}
    return _save(
        folder, OwlViTForObjectDetection(config), OwlViTImageProcessor(size=size, crop_size=size), tokenizer()
    )


def matcher(folder: Path) -> str:
    torch.manual_seed(0)
    config = CLIPConfig(text_config={**_TEXT, "pad_token_id": 0}, vision_config=_SIGHT, projection_dim=32)
    images = CLIPImageProcessor(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE})
    return _save(folder, CLIPModel(config), images, tokenizer())


def estimator(folder: Path) -> str:
    torch.manual_seed(0)
    config = DPTConfig(
        **{**_SIGHT, "num_hidden_layers": 4},
        backbone_out_indices=[0, 1, 2, 3],
        neck_hidden_sizes=[8, 8, 8, 8],
        fusion_hidden_size=8,
        is_hybrid=False,
        reassemble_factors=[4, 2, 1, 0.5],
    )
    network = DPTForDepthEstimation(config)
    network.head.head[-2].bias.data.fill_(5.0)  # random heads may end in nothing but zeros
    return _save(folder, network, DPTImageProcessor(size={"height": SIDE, "width": SIDE}))


def chooser(folder: Path) -> str:
    torch.manual_seed(0)
    config = ViltConfig(
        **_SIGHT,
        vocab_size=len(WORDS),
        max_position_embeddings=32,
        id2label={0: "yes", 1: "no"},
        label2id={"yes": 0},
    )
    images = ViltImageProcessor(size={"shortest_edge": SIDE})
    return _save(folder, ViltForQuestionAnswering(config), ViltProcessor(images, tokenizer()))


def captioner(folder: Path) -> str:
    torch.manual_seed(0)
    config = BlipConfig(
        text_config={**_TEXT, "pad_token_id": 0, "sep_token_id": 2, "max_position_embeddings": 256},
        vision_config=_SIGHT,
    )
    images = BlipImageProcessor(size={"height": SIDE, "width": SIDE})
    return _save(folder, BlipForConditionalGeneration(config), BlipProcessor(images, tokenizer()))


def talker(folder: Path) -> str:
    torch.manual_seed(0)
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(**_SIGHT),
        text_config=LlamaConfig(**_TEXT, pad_token_id=0),
        image_token_id=WORDS.index("<image>"),
        vision_feature_layer=-1,
    )
    config.text_config.max_position_embeddings = 512
    vocabulary = tokenizer()
    vocabulary.model_max_length = 512
    template = (
        "{% for message in messages %}{% for part in message.content %}"
        "{% if part.type == 'image' %}<image>{% else %}{{ part.text }}{% endif %}{% endfor %}{% endfor %}"
    )
    images = CLIPImageProcessor(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE})
    processor = LlavaProcessor(
        images,
        vocabulary,
        patch_size=16,
        vision_feature_select_strategy="default",
        chat_template=template,
        num_additional_image_tokens=1,
    )
    return _save(folder, LlavaForConditionalGeneration(config), processor)
