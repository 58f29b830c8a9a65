"""Perception by networks of the `transformers` library on this machine, on a GPU where there is one.

`--tool detect=hf:NAME` names a model of the Hugging Face hub, which is downloaded on its first use, or a folder; none
is taken unasked. What fits:
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
from pyvision.tools.perception.loading import shared_loader
from pyvision.tools.perception.observations import (
    Box,
    answer_observation,
    boxes_observation,
    caption_observation,
    depth_observation,
    scores_observation,
)
from pyvision.tools.perception.service import Service, is_all, picture_of, text_of, texts_of
from pyvision.types import Ask, Observation, Picture, Tool, ToolRequest

ImageChat: TypeAlias = Callable[[Any, str], str]  # of a Pillow image and a text, which is empty for a caption
_Load: TypeAlias = Callable[[str], Any]
_Work: TypeAlias = Callable[[Any, ToolRequest, Picture], Observation]

_EXAMPLES = {  # what the error suggests: the library's own defaults (SUPPORTED_TASKS of transformers 5.23)
    "caption": "Qwen/Qwen3-VL-2B-Instruct",
    "vqa": "Qwen/Qwen3-VL-2B-Instruct",
    "detect": "google/owlvit-base-patch32",
    "match": "openai/clip-vit-base-patch32",
    "depth": "Intel/dpt-large",
}
_NEW_TOKENS = 128
_LEAST_SCORE = 0.1  # of a box; programs ask for more
_OTHERWISE = "something else"  # what each text is measured against, so that a text alone has a score too
_METRIC = ("zoedepth", "depth_pro", "glpn")  # predict distance; the others predict its inverse


def caption(where: str) -> Tool:
    """Describes with a model that talks about images."""
    return _tool("caption", where, _chat_model, _caption)


def vqa(where: str) -> Tool:
    """Answers with a model that talks about images, or with one that chooses among answers."""
    return _tool("vqa", where, _answerer, _vqa)


def detect(where: str) -> Tool:
    """Finds by name; for every object it looks for what looks like an `object`."""
    return _tool("detect", where, partial(_pipeline, "zero-shot-object-detection"), _detect)


def match(where: str) -> Tool:
    """Scores by the model's probability of each text against the others and against something else.

    The ratio of two scores is that of the two texts alone, however many there are (for softmax models as CLIP).
    """
    return _tool("match", where, partial(_pipeline, "zero-shot-image-classification"), _match)


def depth(where: str) -> Tool:
    """Larger is farther: of models that predict inverse depth, its inverse, as VDebugger takes it of DPT."""
    return _tool("depth", where, partial(_pipeline, "depth-estimation"), _depth)


def _tool(name: str, where: str, loads: _Load, work: _Work) -> Tool:
    network = shared_loader((name, where), partial(_load, name, where, loads))

    def provide(request: ToolRequest, _: Ask) -> Observation:
        picture = picture_of(request, name)
        with network.held() as model, _as_tool_errors(name):
            return work(model, request, picture)

    return Service(name, provide)


def _load(tool: str, where: str, loads: _Load) -> Any:
    """The model. Raises MissingExtra without the packages, ConfigError when it is none that fits."""
    for package in ("torch", "transformers"):
        try:
            import_module(package)
        except ModuleNotFoundError as error:
            raise MissingExtra(package, "vision") from error
    if not where:
        raise ConfigError(
            f"--tool {tool}=hf names no model; give one or a folder: {tool}=hf:{_EXAMPLES[tool]}"
        )
    try:
        return loads(where)
    except (OSError, ValueError, KeyError, TypeError, ImportError, RuntimeError) as error:
        raise ConfigError(f"--tool {tool}=hf:{where}: cannot be loaded: {_first_line(error)}") from error


@contextmanager
def _as_tool_errors(tool: str) -> Iterator[None]:
    try:
        yield
    except (
        RuntimeError,
        ValueError,
        TypeError,
        IndexError,
        KeyError,
    ) as error:  # of torch, and no memory left
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
    found = find(_image(picture), candidate_labels=[wanted or "object"], threshold=_LEAST_SCORE)
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

    with numpy.errstate(
        invalid="ignore", divide="ignore"
    ):  # the pipeline draws a map as well, and a flat one badly
        predicted = estimate(_image(picture))["predicted_depth"].detach().float().cpu().numpy()
    config = estimate.model.config
    is_metric = config.model_type in _METRIC or getattr(config, "depth_estimation_type", "") == "metric"
    return depth_observation(predicted if is_metric else inverse(predicted), picture)


def inverse(nearness: Any) -> Any:
    """Distance out of inverse depth, whose zero is infinitely far: at most a hundred times the nearest."""
    peak = float(nearness.max())
    if not peak > 0:
        raise ToolError("depth: the network sees nothing near and nothing far; try another model")
    return 1 / nearness.clip(peak / 100)


def _chat_model(where: str) -> ImageChat:
    """Captions and answers of a model that writes."""
    transformers = import_module("transformers")
    processor = transformers.AutoProcessor.from_pretrained(where)
    if getattr(processor, "chat_template", None):
        return partial(_chatted, _pipeline("image-text-to-text", where))
    model = transformers.AutoModelForImageTextToText.from_pretrained(where).to(_device())
    return partial(_write, model, processor, "Question: {} Answer:")


def _answerer(where: str) -> ImageChat:
    """The same, but for models with a head of their own for questions."""
    transformers = import_module("transformers")
    kind = transformers.AutoConfig.from_pretrained(where).model_type
    if kind not in ("vilt", "blip"):
        return _chat_model(where)
    processor = transformers.AutoProcessor.from_pretrained(where)
    model = transformers.AutoModelForVisualQuestionAnswering.from_pretrained(where).to(_device())
    return partial(_choose, model, processor) if kind == "vilt" else partial(_write, model, processor, "{}")


def _chatted(pipeline: Any, image: Any, question: str) -> str:
    prompt = render("tools/vqa.md", question=question) if question else load("tools/caption.md")
    parts = [{"type": "image", "image": image}, {"type": "text", "text": prompt}]
    said = pipeline(
        text=[{"role": "user", "content": parts}], max_new_tokens=_NEW_TOKENS, return_full_text=False
    )
    return str(said[0]["generated_text"])


def _write(model: Any, processor: Any, form: str, image: Any, question: str) -> str:
    asked = {"text": form.format(question)} if question else {}
    inputs = processor(images=image, return_tensors="pt", **asked).to(model.device)
    tokens = model.generate(**inputs, max_new_tokens=_NEW_TOKENS)
    said: str = processor.batch_decode(tokens, skip_special_tokens=True)[0]
    prompt = asked.get("text", "")
    return said.removeprefix(prompt) if prompt else said


def _choose(model: Any, processor: Any, image: Any, question: str) -> str:
    """The likeliest of the answers that a classifier knows."""
    inputs = processor(image, question, return_tensors="pt", truncation=True).to(model.device)
    with import_module("torch").no_grad():
        scores: Sequence[float] = model(**inputs).logits[0]
    return str(model.config.id2label[int(import_module("torch").as_tensor(scores).argmax())])


def _image(picture: Picture) -> Any:
    return open_image(picture).convert("RGB")
