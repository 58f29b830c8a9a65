"""Perception tools that need no model: rules for colours, simple shapes and capital letters. They decline the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pyvision.errors import ConfigError, ToolError
from pyvision.offline.perception.letters import lines_in
from pyvision.offline.perception.questions import answer, asks_for_text
from pyvision.offline.perception.scene import SceneArea, SceneDescription, Wanted, parse_wanted, scene_of
from pyvision.tools.perception.service import (
    DEPTH_CELLS,
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
from pyvision.types import Ask, Observation, Picture, Tool, ToolRequest

_MAX_KINDS = 6  # kinds of objects that a caption names
_FARTHEST = 10.0  # at the top of the image, where the nearest at its bottom is 1


def caption(where: str) -> Tool:
    """List coloured shapes and text, or the colours of a photograph."""
    return _build_service("caption", where, _caption)


def vqa(where: str) -> Tool:
    """Answer the questions that `questions` knows."""
    return _build_service("vqa", where, _vqa)


def llm_qa(where: str) -> Tool:
    """Always decline: rules have no knowledge of the world."""
    return _build_service("llm_qa", where, _llm_qa)


def detect(where: str) -> Tool:
    """Find objects by colour and shape, in a photograph regions of one colour. The score is how full their hull is."""
    return _build_service("detect", where, _detect)


def match(where: str) -> Tool:
    """Score texts by the share of colours and shapes."""
    return _build_service("match", where, _match)


def depth(where: str) -> Tool:
    """Guess distances: lower and larger objects count as nearer."""
    return _build_service("depth", where, _depth)


def ocr(where: str) -> Tool:
    """Read capital letters in a drawing."""
    return _build_service("ocr", where, _ocr)


def _build_service(name: str, where: str, provide: Provide) -> Tool:
    if where:
        raise ConfigError(f"--tool {name}=offline:{where}: takes nothing after the colon")
    return Service(name, provide, is_measured=True)


def _caption(request: ToolRequest, _: Ask) -> Observation:
    picture = picture_of(request, "caption")
    scene = scene_of(picture)
    if not scene.is_drawing:
        return caption_observation(f"A photograph, mostly {_list(_main_colours(scene))}.")
    lines = lines_in(picture)
    text = f' The text "{", ".join(line.text for line in lines)}" can be read.' if lines else ""
    regions = tuple(region for region in scene.regions if not any(_is_in(region, line) for line in lines))
    return caption_observation(
        f"A drawing on a {scene.background} background with {_list_objects(regions)}.{text}"
    )


def _vqa(request: ToolRequest, _: Ask) -> Observation:
    picture, question = picture_of(request, "vqa"), text_of(request, "vqa")
    if asks_for_text(question):
        text = " ".join(line.text for line in lines_in(picture))
        return answer_observation(text or "no text can be read")
    return answer_observation(answer(question, picture))


def _llm_qa(request: ToolRequest, _: Ask) -> Observation:
    text_of(request, "llm_qa")
    raise ToolError("llm_qa: rules have no knowledge of the world; choose a model: --tool llm_qa=model")


def _detect(request: ToolRequest, _: Ask) -> Observation:
    picture, wanted = picture_of(request, "detect"), parse_wanted(request.text)
    if not (is_all(request.text) or wanted.is_understood):
        raise ToolError(
            f"detect: the offline rules know colours and simple shapes, not {request.text.strip()!r:.100}; "
            f"choose another provider: --tool detect=model"
        )
    scene = scene_of(picture)
    if not is_all(request.text) and scene.is_drawing and (why := scene.doubts_about(wanted)):
        raise ToolError(
            f"detect: the offline rules cannot tell these objects apart: {why}; "
            f"choose another provider: --tool detect=model"
        )
    found = wanted.among(scene.regions)
    return boxes_observation((_box(region) for region in found), picture, request.text.strip())


def _box(region: SceneArea) -> Box:
    return Box(region.left, region.top, region.right, region.bottom, region.solidity, region.name)


def _match(request: ToolRequest, _: Ask) -> Observation:
    texts = texts_of(request, "match")
    return scores_observation(texts, _score_texts(picture_of(request, "match"), texts))


def _score_texts(picture: Picture, texts: Sequence[str]) -> tuple[float, ...]:
    """For each text the share of the foreground that has its colour, times the share that has its shape.

    0 for a text that names neither. Raises ToolError if no text does.
    """
    wanted = [parse_wanted(text) for text in texts]
    if not any(each.colour or each.shape or each.says_anything for each in wanted):
        raise ToolError(
            "match: the offline rules know colours and simple shapes, and none of these texts names one; "
            "choose another provider: --tool match=model"
        )
    scene = scene_of(picture)
    return tuple(_score_text(scene, each) for each in wanted)


def _score_text(scene: SceneDescription, wanted: Wanted) -> float:
    if not (wanted.colour or wanted.shape or wanted.says_anything):
        return 0.0
    whole = sum(region.area for region in scene.regions)
    if not whole:  # an image of one colour has no shapes
        return 0.0 if wanted.shape or not wanted.colour else scene.shares.get(wanted.colour, 0.0)
    of_shape = Wanted(shape=wanted.shape, is_ring=wanted.is_ring).among(scene.regions)
    of_colour = Wanted(colour=wanted.colour).among(scene.regions)
    return sum(each.area for each in of_shape) / whole * sum(each.area for each in of_colour) / whole


def _depth(request: ToolRequest, _: Ask) -> Observation:
    picture = picture_of(request, "depth")
    return depth_observation(_guess_depth(picture), picture)


def _guess_depth(picture: Picture) -> Any:
    """A map of distances without a unit, rows from the top. Nothing is measured: lower and larger objects are nearer.

    The ground recedes evenly from 1 at the bottom to 10 at the top of the image. An object stands where its lower edge
    is, and comes nearer by up to a half with its share of the image.
    """
    import numpy

    scene = scene_of(picture)
    longest = max(picture.width, picture.height)
    size = [max(1, round(DEPTH_CELLS * side / longest)) for side in (picture.height, picture.width)]
    ground = _FARTHEST - (_FARTHEST - 1) * (numpy.arange(size[0]) + 0.5) / size[0]
    depth = numpy.repeat(ground[:, None], size[1], axis=1)
    y, x = size[0] / picture.height, size[1] / picture.width
    for region in sorted(scene.regions, key=lambda region: region.bottom) if scene.is_drawing else ():
        foot = _FARTHEST - (_FARTHEST - 1) * region.bottom / picture.height
        nearer = 1 - region.area / (picture.width * picture.height) / 2
        rows = slice(int(region.top * y), max(int(region.top * y) + 1, round(region.bottom * y)))
        columns = slice(int(region.left * x), max(int(region.left * x) + 1, round(region.right * x)))
        depth[rows, columns] = foot * nearer
    return depth


def _ocr(request: ToolRequest, _: Ask) -> Observation:
    picture = picture_of(request, "ocr")
    return ocr_observation(lines_in(picture), picture)


def _is_in(region: SceneArea, line: Line) -> bool:
    x, y = (region.left + region.right) / 2, (region.top + region.bottom) / 2
    return line.left <= x <= line.right and line.top <= y <= line.bottom


def _main_colours(scene: SceneDescription) -> list[str]:
    return [f"{name} ({share:.0%})" for name, share in scene.shares.items() if share > 0.05][:3]


def _list_objects(regions: tuple[SceneArea, ...]) -> str:
    """`4 red circles, 2 green triangles and 1 line`, the most frequent first."""
    if not regions:
        return "nothing on it"
    kinds = Counter(region.name for region in regions).most_common()
    kinds_named = [f"{count} {name}{'s' if count > 1 else ''}" for name, count in kinds[:_MAX_KINDS]]
    rest = sum(count for _, count in kinds[_MAX_KINDS:])
    return _list([*kinds_named, f"{rest} other objects"] if rest else kinds_named)


def _list(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
