"""The tools that need no model: rules about colours, simple shapes and capital letters. They decline the rest."""

from __future__ import annotations

from collections import Counter

from pyvision.errors import ConfigError, ToolError
from pyvision.offline.perception.letters import lines_in
from pyvision.offline.perception.numbers import fits, stand_in_depth
from pyvision.offline.perception.questions import answer, asks_for_text
from pyvision.offline.perception.rules import Scene, Thing, scene_of
from pyvision.offline.perception.words import wanted_in
from pyvision.tools.perception.observations import (
    Box,
    Line,
    answered,
    captioned,
    detected,
    matched,
    measured,
    read,
)
from pyvision.tools.perception.service import Provide, Service, is_all, picture_of, text_of, texts_of
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
        return captioned(f"A photograph, mostly {_listed(_main_colours(scene))}.")
    lines = lines_in(picture)
    text = f' The text "{", ".join(line.text for line in lines)}" can be read.' if lines else ""
    things = tuple(thing for thing in scene.things if not any(_is_in(thing, line) for line in lines))
    return captioned(f"A drawing on a {scene.background} background with {_things(things)}.{text}")


def _vqa(request: ToolRequest, _: Ask) -> Observation:
    picture, question = picture_of(request, "vqa"), text_of(request, "vqa")
    if asks_for_text(question):
        text = " ".join(line.text for line in lines_in(picture))
        return answered(text or "nothing can be read")
    return answered(answer(question, picture))


def _llm_qa(request: ToolRequest, _: Ask) -> Observation:
    text_of(request, "llm_qa")
    raise ToolError("llm_qa: embedded rules know nothing of the world; choose a model: --tool llm_qa=model")


def _detect(request: ToolRequest, _: Ask) -> Observation:
    picture, wanted = picture_of(request, "detect"), wanted_in(request.text)
    if not (is_all(request.text) or wanted.is_understood):
        raise ToolError(
            f"detect: the embedded rules know colours and simple shapes, not {request.text.strip()!r:.100}; "
            f"choose another provider: --tool detect=model"
        )
    found = wanted.among(scene_of(picture).things)
    return detected((_box(thing) for thing in found), picture, request.text.strip())


def _box(thing: Thing) -> Box:
    return Box(thing.left, thing.top, thing.right, thing.bottom, thing.solidity, thing.name)


def _match(request: ToolRequest, _: Ask) -> Observation:
    texts = texts_of(request, "match")
    return matched(texts, fits(picture_of(request, "match"), texts))


def _depth(request: ToolRequest, _: Ask) -> Observation:
    picture = picture_of(request, "depth")
    return measured(stand_in_depth(picture), picture)


def _ocr(request: ToolRequest, _: Ask) -> Observation:
    picture = picture_of(request, "ocr")
    return read(lines_in(picture), picture)


def _is_in(thing: Thing, line: Line) -> bool:
    x, y = (thing.left + thing.right) / 2, (thing.top + thing.bottom) / 2
    return line.left <= x <= line.right and line.top <= y <= line.bottom


def _main_colours(scene: Scene) -> list[str]:
    return [f"{name} ({share:.0%})" for name, share in scene.shares.items() if share > 0.05][:3]


def _things(things: tuple[Thing, ...]) -> str:
    """`4 red circles, 2 green triangles and 1 line`, the commonest first."""
    if not things:
        return "nothing on it"
    kinds = Counter(thing.name for thing in things).most_common()
    told = [f"{count} {name}{'s' if count > 1 else ''}" for name, count in kinds[:_FEW]]
    rest = sum(count for _, count in kinds[_FEW:])
    return _listed([*told, f"{rest} other things"] if rest else told)


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
