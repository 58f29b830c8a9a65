"""The tools that need no model: rules about colours, simple shapes and capital letters. They decline the rest."""

from __future__ import annotations

from collections import Counter

from pyvision.errors import ConfigError, ToolError
from pyvision.offline.perception.letters import lines_in
from pyvision.offline.perception.numbers import fits, stand_in_depth
from pyvision.offline.perception.questions import answer, asks_for_text
from pyvision.offline.perception.rules import Region, Scene, scene_of
from pyvision.offline.perception.words import parse_wanted
from pyvision.tools.perception.service import (
    Box,
    Line,
    Provide,
    Service,
    answer_observation,
    boxes_observation,
    caption_observation,
    depth_observation,
    is_all,
    ocr_observation,
    picture_of,
    scores_observation,
    text_of,
    texts_of,
)
from pyvision.types import Ask, Observation, Tool, ToolRequest

_FEW = 6  # kinds of things that a caption names


def caption(where: str) -> Tool:
    """A list of coloured shapes and text, or of the colours of a photograph."""
    return _service("caption", where, _caption)


def vqa(where: str) -> Tool:
    """Answers what `questions` knows."""
    return _service("vqa", where, _vqa)


def llm_qa(where: str) -> Tool:
    """Says that it cannot: there is no knowledge in rules."""
    return _service("llm_qa", where, _llm_qa)


def detect(where: str) -> Tool:
    """Finds things by colour and shape; in a photograph regions of one colour. The score is how full their hull is."""
    return _service("detect", where, _detect)


def match(where: str) -> Tool:
    """Scores texts by the share of colours and shapes."""
    return _service("match", where, _match)


def depth(where: str) -> Tool:
    """A stand-in, no measurement: what is lower and larger is nearer."""
    return _service("depth", where, _depth)


def ocr(where: str) -> Tool:
    """Reads capital letters of a drawing."""
    return _service("ocr", where, _ocr)


def _service(name: str, where: str, provide: Provide) -> Tool:
    if where:
        raise ConfigError(f"--tool {name}=offline:{where}: takes nothing behind the colon")
    return Service(name, provide)


def _caption(request: ToolRequest, _: Ask) -> Observation:
    picture = picture_of(request, "caption")
    scene = scene_of(picture)
    if not scene.is_drawing:
        return caption_observation(f"A photograph, mostly {_list(_main_colours(scene))}.")
    lines = lines_in(picture)
    text = f' The text "{", ".join(line.text for line in lines)}" can be read.' if lines else ""
    regions = tuple(region for region in scene.regions if not any(_is_in(region, line) for line in lines))
    return caption_observation(f"A drawing on a {scene.background} background with {_things(regions)}.{text}")


def _vqa(request: ToolRequest, _: Ask) -> Observation:
    picture, question = picture_of(request, "vqa"), text_of(request, "vqa")
    if asks_for_text(question):
        text = " ".join(line.text for line in lines_in(picture))
        return answer_observation(text or "nothing can be read")
    return answer_observation(answer(question, picture))


def _llm_qa(request: ToolRequest, _: Ask) -> Observation:
    text_of(request, "llm_qa")
    raise ToolError("llm_qa: embedded rules know nothing of the world; choose a model: --tool llm_qa=model")


def _detect(request: ToolRequest, _: Ask) -> Observation:
    picture, wanted = picture_of(request, "detect"), parse_wanted(request.text)
    if not (is_all(request.text) or wanted.is_understood):
        raise ToolError(
            f"detect: the embedded rules know colours and simple shapes, not {request.text.strip()!r:.100}; "
            f"choose another provider: --tool detect=model"
        )
    found = wanted.among(scene_of(picture).regions)
    return boxes_observation((_box(region) for region in found), picture, request.text.strip())


def _box(region: Region) -> Box:
    return Box(region.left, region.top, region.right, region.bottom, region.solidity, region.name)


def _match(request: ToolRequest, _: Ask) -> Observation:
    texts = texts_of(request, "match")
    return scores_observation(texts, fits(picture_of(request, "match"), texts))


def _depth(request: ToolRequest, _: Ask) -> Observation:
    picture = picture_of(request, "depth")
    return depth_observation(stand_in_depth(picture), picture)


def _ocr(request: ToolRequest, _: Ask) -> Observation:
    picture = picture_of(request, "ocr")
    return ocr_observation(lines_in(picture), picture)


def _is_in(region: Region, line: Line) -> bool:
    x, y = (region.left + region.right) / 2, (region.top + region.bottom) / 2
    return line.left <= x <= line.right and line.top <= y <= line.bottom


def _main_colours(scene: Scene) -> list[str]:
    return [f"{name} ({share:.0%})" for name, share in scene.shares.items() if share > 0.05][:3]


def _things(regions: tuple[Region, ...]) -> str:
    """`4 red circles, 2 green triangles and 1 line`, the commonest first."""
    if not regions:
        return "nothing on it"
    kinds = Counter(region.name for region in regions).most_common()
    told = [f"{count} {name}{'s' if count > 1 else ''}" for name, count in kinds[:_FEW]]
    rest = sum(count for _, count in kinds[_FEW:])
    return _list([*told, f"{rest} other things"] if rest else told)


def _list(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
