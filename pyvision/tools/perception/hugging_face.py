"""Perception by networks of the `transformers` library on this machine, on a GPU if there is one.

`--tool detect=hf:NAME` names a model of the Hugging Face hub, which is downloaded on its first use, or a folder; there
is no default. Suitable models:
  caption, vqa  a model of the pipeline image-text-to-text that has a chat template; BLIP, BLIP-2, GIT; ViLT for vqa
  detect        a model of the pipeline zero-shot-object-detection: OWL-ViT, OWLv2, Grounding DINO
  match         a model of the pipeline zero-shot-image-classification: CLIP, SigLIP
  depth         a model of the pipeline depth-estimation: DPT, Depth Anything, ZoeDepth
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

from pyvision.errors import ConfigError, MissingExtra, ToolError
from pyvision.images.pixels import open_image
from pyvision.text.prompts import load, render
from pyvision.tools.perception.service import (
    Box,
    Service,
    answer_observation,
    boxes_observation,
    caption_observation,
    depth_observation,
    is_all,
    picture_of,
    scores_observation,
    share_model,
    text_of,
    texts_of,
)
from pyvision.types import Ask, Observation, Picture, Tool, ToolRequest

ImageChat: TypeAlias = Callable[
    [Any, str], str
]  # takes a Pillow image and a question, which is empty for a caption
_Load: TypeAlias = Callable[[str], Any]
_Work: TypeAlias = Callable[[Any, ToolRequest, Picture], Observation]

_EXAMPLES = {  # examples for the error message: the library's own defaults (SUPPORTED_TASKS of transformers 5.23)
    "caption": "Qwen/Qwen3-VL-2B-Instruct",
    "vqa": "Qwen/Qwen3-VL-2B-Instruct",
    "detect": "google/owlvit-base-patch32",
    "match": "openai/clip-vit-base-patch32",
    "depth": "Intel/dpt-large",
}
_NEW_TOKENS = 128
_MIN_SCORE = 0.1  # of a box; programs filter further
_OTHERWISE = "something else"  # each text competes with it, so that a single text has a score too
_METRIC = ("zoedepth", "depth_pro", "glpn")  # predict distance; the others predict its inverse


def caption(where: str) -> Tool:
    """Describes the image with a multimodal chat model or a captioning model."""
    return _tool("caption", where, _chat_model, _caption)


def vqa(where: str) -> Tool:
    """Answers with a multimodal chat model, or with a classifier over a fixed set of answers."""
    return _tool("vqa", where, _answer_model, _vqa)


def detect(where: str) -> Tool:
    """Finds objects by name; without a name it searches for `object`."""
    return _tool("detect", where, partial(_pipeline, "zero-shot-object-detection"), _detect)


def match(where: str) -> Tool:
    """Scores each text by its probability among all texts and `something else`.

    For softmax models such as CLIP, the ratio of two scores does not depend on the other texts.
    """
    return _tool("match", where, partial(_pipeline, "zero-shot-image-classification"), _match)


def depth(where: str) -> Tool:
    """Larger is farther; the output of models that predict inverse depth is inverted, as VDebugger does for DPT."""
    return _tool("depth", where, partial(_pipeline, "depth-estimation"), _depth)


def _tool(name: str, where: str, loads: _Load, work: _Work) -> Tool:
    network = share_model((name, where), partial(_load, name, where, loads))

    def provide(request: ToolRequest, _: Ask) -> Observation:
        picture = picture_of(request, name)
        with network.acquire() as model, _translate_errors(name):
            return work(model, request, picture)

    return Service(name, provide, is_measured=True)


def _load(tool: str, where: str, loads: _Load) -> Any:
    """The model. Raises MissingExtra without the packages, ConfigError for an unsuitable model."""
    for package in ("torch", "transformers"):
        try:
            import_module(package)
        except ModuleNotFoundError as error:
            raise MissingExtra(package, "vision") from error
    if not where:
        raise ConfigError(
            f"--tool {tool}=hf names no model; give a model or a folder: {tool}=hf:{_EXAMPLES[tool]}"
        )
    try:
        return loads(where)
    except (OSError, ValueError, KeyError, TypeError, ImportError, RuntimeError) as error:
        raise ConfigError(f"--tool {tool}=hf:{where}: cannot be loaded: {_first_line(error)}") from error


@contextmanager
def _translate_errors(tool: str) -> Iterator[None]:
    try:
        yield
    except (
        RuntimeError,
        ValueError,
        TypeError,
        IndexError,
        KeyError,
    ) as error:  # from torch; out of memory too
        raise ToolError(f"{tool}: the network failed: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def _pipeline(task: str, where: str) -> Any:
    return import_module("transformers").pipeline(task, model=where, device=_device())


def _device() -> str:
    return "cuda" if import_module("torch").cuda.is_available() else "cpu"


def _caption(generate: ImageChat, _: ToolRequest, picture: Picture) -> Observation:
    return caption_observation(generate(_image(picture), ""))


def _vqa(generate: ImageChat, request: ToolRequest, picture: Picture) -> Observation:
    return answer_observation(generate(_image(picture), text_of(request, "vqa")))


def _detect(find: Any, request: ToolRequest, picture: Picture) -> Observation:
    wanted = "" if is_all(request.text) else request.text.strip()
    found = find(_image(picture), candidate_labels=[wanted or "object"], threshold=_MIN_SCORE)
    return boxes_observation([_box(each) for each in found], picture, wanted)


def _box(found: Any) -> Box:
    edges = found["box"]
    return Box(edges["xmin"], edges["ymin"], edges["xmax"], edges["ymax"], found["score"], found["label"])


def _match(compare: Any, request: ToolRequest, picture: Picture) -> Observation:
    texts = texts_of(request, "match")
    labels = list(dict.fromkeys([*texts, _OTHERWISE]))
    scores = {each["label"]: each["score"] for each in compare(_image(picture), candidate_labels=labels)}
    return scores_observation(texts, [scores[text] for text in texts])


def _depth(estimate: Any, _: ToolRequest, picture: Picture) -> Observation:
    import numpy

    # The pipeline also draws the map, and divides by zero for a flat one.
    with numpy.errstate(invalid="ignore", divide="ignore"):
        predicted = estimate(_image(picture))["predicted_depth"].detach().float().cpu().numpy()
    config = estimate.model.config
    is_metric = config.model_type in _METRIC or getattr(config, "depth_estimation_type", "") == "metric"
    return depth_observation(predicted if is_metric else inverse(predicted), picture)


def inverse(nearness: Any) -> Any:
    """Distance from inverse depth, where 0 is infinitely far: limited to a hundred times the nearest."""
    peak = float(nearness.max())
    if not peak > 0:
        raise ToolError("depth: the network predicts no depth; try another model")
    return 1 / nearness.clip(peak / 100)


def _chat_model(where: str) -> ImageChat:
    """A model that generates text."""
    transformers = import_module("transformers")
    processor = transformers.AutoProcessor.from_pretrained(where)
    if getattr(processor, "chat_template", None):
        return partial(_chat, _pipeline("image-text-to-text", where))
    model = transformers.AutoModelForImageTextToText.from_pretrained(where).to(_device())
    return partial(_write, model, processor, "Question: {} Answer:")


def _answer_model(where: str) -> ImageChat:
    """The same, but models with a question-answering head use that."""
    transformers = import_module("transformers")
    kind = transformers.AutoConfig.from_pretrained(where).model_type
    if kind not in ("vilt", "blip"):
        return _chat_model(where)
    processor = transformers.AutoProcessor.from_pretrained(where)
    model = transformers.AutoModelForVisualQuestionAnswering.from_pretrained(where).to(_device())
    return partial(_choose, model, processor) if kind == "vilt" else partial(_write, model, processor, "{}")


def _chat(pipeline: Any, image: Any, question: str) -> str:
    prompt = render("tools/vqa.md", question=question) if question else load("tools/caption.md")
    parts = [{"type": "image", "image": image}, {"type": "text", "text": prompt}]
    replies = pipeline(
        text=[{"role": "user", "content": parts}], max_new_tokens=_NEW_TOKENS, return_full_text=False
    )
    return str(replies[0]["generated_text"])


def _write(model: Any, processor: Any, form: str, image: Any, question: str) -> str:
    prompted = {"text": form.format(question)} if question else {}
    inputs = processor(images=image, return_tensors="pt", **prompted).to(model.device)
    tokens = model.generate(**inputs, max_new_tokens=_NEW_TOKENS)
    reply: str = processor.batch_decode(tokens, skip_special_tokens=True)[0]
    prompt = prompted.get("text", "")
    return reply.removeprefix(prompt) if prompt else reply


def _choose(model: Any, processor: Any, image: Any, question: str) -> str:
    """The most likely answer of a classifier."""
    inputs = processor(image, question, return_tensors="pt", truncation=True).to(model.device)
    with import_module("torch").no_grad():
        scores: Sequence[float] = model(**inputs).logits[0]
    return str(model.config.id2label[int(import_module("torch").as_tensor(scores).argmax())])


def _image(picture: Picture) -> Any:
    return open_image(picture).convert("RGB")
