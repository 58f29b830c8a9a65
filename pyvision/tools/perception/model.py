"""Perception by multimodal models in the roles `caption`, `vqa`, `detect`, `match` and `llm`, with prompts/tools/.

Boxes are read in the formats that models are known to write: `{"box": [x1, y1, x2, y2], "label": …}` as the prompt
asks for; `bbox_2d` of the Qwen-VL family; `box_2d` of Gemini, rows first, in thousandths ([y1, x1, y2, x2]); edges by
name; bare lists of four. The user chooses the scale (`--tool detect=model:pixels`), as a number does not show its unit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pyvision.errors import ConfigError, FormatError, ToolError
from pyvision.images.fit import FitLimits, fit
from pyvision.text.boxed_answers import clean_answer
from pyvision.text.json_repair import MOST_CHARS, number_of, values_in
from pyvision.text.prompts import load, render
from pyvision.text.refusals import declines
from pyvision.text.replies import find_answer, without_thinking
from pyvision.tools.perception.service import (
    Box,
    Provide,
    Service,
    answer_observation,
    boxes_observation,
    caption_observation,
    context_of,
    is_all,
    picture_of,
    scores_observation,
    text_of,
    texts_of,
)
from pyvision.types import Ask, Message, Observation, Part, Reply, Text, Tool, ToolRequest

Found = TypeVar("Found")

# how many units a side of the image has
SCALES: Mapping[str, float | None] = {"1000": 1000.0, "pixels": None, "unit": 1.0}
_LIMITS = FitLimits(enlarge_px=160)  # a crop of 30 pixels is a word or a face: too small for most encoders
_ROWS_FIRST = "box_2d"
_BOX_KEYS = ("box", "bbox_2d", "bbox", _ROWS_FIRST, "bounding_box", "boundingbox", "coordinates", "xyxy")
_EDGES = (
    ("left", "top", "right", "bottom"),
    ("x1", "y1", "x2", "y2"),
    ("xmin", "ymin", "xmax", "ymax"),
    ("x_min", "y_min", "x_max", "y_max"),
)
_LABEL_KEYS = ("label", "name", "object", "class", "category")
_SCORE_KEYS = ("score", "confidence", "probability")
_NUMBER = r"\s*(-?\d{1,9}(?:\.\d{1,9})?)\s*"
_FOUR = re.compile(rf"[\[(<]{_NUMBER},{_NUMBER},{_NUMBER},{_NUMBER}[\])>]")
_YES_OR_NO = re.compile(r"\b(yes|no)\b")
_MAX_DEPTH = 12  # levels of lists and objects
_MAX_BOXES = 3000
_SLACK = 1.05  # how far beyond its scale a coordinate may be: models round
_FULL_SCORE = 100.0  # as the prompt asks


def caption(where: str) -> Tool:
    """Asks the role `caption`."""
    return _build_service("caption", where, _caption)


def vqa(where: str) -> Tool:
    """Asks the role `vqa`."""
    return _build_service("vqa", where, _vqa)


def llm_qa(where: str) -> Tool:
    """Asks the role `llm`, without an image."""
    return _build_service("llm_qa", where, _llm_qa)


def match(where: str) -> Tool:
    """Asks the role `match`. Its scores are the model's opinion as percentages, not probabilities."""
    return _build_service("match", where, _match)


def verify(where: str) -> Tool:
    """Asks the role `vqa` whether an object has a property."""
    return _build_service("verify", where, _verify)


def detect(where: str) -> Tool:
    """Asks the role `detect`. where: the scale of its coordinates, a key of SCALES; 1000 by default."""
    scale = where or "1000"
    if scale not in SCALES:
        known = ", ".join(SCALES)
        raise ConfigError(f"--tool detect=model:{where}: unknown scale {where!r}; known scales: {known}")
    return Service("detect", lambda request, ask: _detect(request, ask, scale))


def _build_service(name: str, where: str, provide: Provide) -> Service:
    if where:
        raise ConfigError(
            f"--tool {name}=model:{where}: takes nothing after the colon; "
            f"choose the model of a role with --role or in the configuration"
        )
    return Service(name, provide)


def _caption(request: ToolRequest, ask: Ask) -> Observation:
    image = fit(picture_of(request, "caption"), _LIMITS).picture
    return caption_observation(_ask_role(ask, "caption", Text(load("tools/caption.md")), image))


def _vqa(request: ToolRequest, ask: Ask) -> Observation:
    image = fit(picture_of(request, "vqa"), _LIMITS).picture
    prompt = render("tools/vqa.md", question=text_of(request, "vqa"))
    return answer_observation(_ask_until(ask, "vqa", (image, Text(prompt)), _short_answer))


def _llm_qa(request: ToolRequest, ask: Ask) -> Observation:
    question, context = text_of(request, "llm_qa"), context_of(request, "llm_qa")
    is_long = bool(request.options.get("long"))
    form = load(f"tools/{'long' if is_long else 'short'}_answer.md").strip()
    if context:
        prompt = render("tools/llm_context.md", question=question, context=context, form=form)
    else:
        prompt = render("tools/llm.md", question=question, form=form)
    if is_long:
        return answer_observation(_ask_role(ask, "llm", Text(prompt)))
    return answer_observation(_ask_until(ask, "llm", (Text(prompt),), _short_answer))


def _short_answer(text: str) -> str:
    """The answer in a reply, without what is only its form; else all of it. Raises FormatError for half a box."""
    return find_answer(text) or ("" if "\n" in text else clean_answer(text)) or text


def _match(request: ToolRequest, ask: Ask) -> Observation:
    texts = texts_of(request, "match")
    image = fit(picture_of(request, "match"), _LIMITS).picture
    numbered = "\n".join(
        f"{number}. {json.dumps(text, ensure_ascii=False)}" for number, text in enumerate(texts, 1)
    )
    prompt = render("tools/match.md", texts=numbered, count=len(texts))
    scores = _ask_until(ask, "match", (image, Text(prompt)), lambda reply: parse_scores(reply, texts))
    return scores_observation(texts, scores)


def _verify(request: ToolRequest, ask: Ask) -> Observation:
    """One question about one property, asked in the role `vqa`."""
    image = fit(picture_of(request, "verify"), _LIMITS).picture
    wanted = request.options.get("property")
    if not isinstance(wanted, str) or not wanted.strip():
        raise ToolError(f"verify: the option property must be a text, not {wanted!r:.80}")
    prompt = render("tools/verify.md", name=text_of(request, "verify"), property=wanted)
    holds = _ask_until(ask, "vqa", (image, Text(prompt)), parse_yes_or_no)
    return Observation("yes" if holds else "no", {"holds": holds})


def _detect(request: ToolRequest, ask: Ask, scale: str) -> Observation:
    """The model sees the image scaled down; its boxes are scaled back to the original."""
    picture = picture_of(request, "detect")
    wanted = "" if is_all(request.text) else request.text.strip()
    fitted = fit(picture, _LIMITS)
    width, height = fitted.picture.width, fitted.picture.height
    unit = render(
        f"tools/scale_{scale}.md", **({"width": width, "height": height} if scale == "pixels" else {})
    )
    if wanted:
        prompt = render("tools/detect.md", wanted=json.dumps(wanted, ensure_ascii=False), scale=unit)
    else:
        prompt = render("tools/detect_all.md", scale=unit)
    boxes = _ask_until(
        ask,
        "detect",
        (fitted.picture, Text(prompt)),
        lambda reply: parse_boxes(reply, scale, (width, height), wanted or "object"),
    )
    back = (_in_original(box, fitted.scale_x, fitted.scale_y) for box in boxes)
    return boxes_observation(back, picture, wanted)


def _in_original(box: Box, x: float, y: float) -> Box:
    return Box(box.left / x, box.top / y, box.right / x, box.bottom / y, box.score, box.label)


def _ask_role(ask: Ask, role: str, *parts: Part) -> str:
    """The reply of the model of a role to these parts, images first. Raises ToolError if it declines."""
    in_order = tuple(sorted(parts, key=lambda part: isinstance(part, Text)))
    return _reply_text(role, ask(role, (Message("user", in_order),)))


def _ask_until(ask: Ask, role: str, parts: tuple[Part, ...], parse: Callable[[str], Found]) -> Found:
    """What the reply of a role says; one that cannot be read is asked for again, with the reason.

    Raises ToolError if the second one cannot be read either, or if the model declines.
    """
    question = Message("user", parts)
    reply = _reply_text(role, ask(role, (question,)))
    try:
        return parse(reply)
    except FormatError as error:
        repair = Message("user", (Text(render("tools/again.md", why=error)),))
    earlier = Message("assistant", (Text(reply or "(empty)"),))
    try:
        return parse(_reply_text(role, ask(role, (question, earlier, repair))))
    except FormatError as error:
        raise ToolError(f"{role}: {error}") from error


def _reply_text(role: str, reply: Reply) -> str:
    """The text of a reply. Raises ToolError if the model declined: a refusal is not a value."""
    text = without_thinking(reply.text).strip()
    if reply.finish == "refusal" or declines(text):
        raise ToolError(f"{role}: the model declined to answer ({text:.120}); ask something else")
    return text


def parse_yes_or_no(text: str) -> bool:
    """Whether a reply says yes: by its first word, else by the only one of yes and no in it. Raises FormatError."""
    words = _YES_OR_NO.findall(text.lower())
    if _YES_OR_NO.match(text.lower().lstrip(" \t\n*_`\"'#>(")) or len(set(words)) == 1:
        return bool(words[0] == "yes")
    raise FormatError(f"the reply says neither yes nor no, or both: {text!r:.120}")


@dataclass(frozen=True, slots=True)
class _ReplyBox:
    """A box as a reply has it; numbers is x1, y1, x2, y2 on the scale of the reply."""

    numbers: tuple[float, float, float, float]
    label: str
    score: float
    in_thousandths: bool = False


def parse_boxes(text: str, scale: str, size: tuple[int, int], label: str) -> tuple[Box, ...]:
    """The boxes of a reply in pixels of an image of this width and height; none if it says `[]`.

    scale: of the coordinates, a key of SCALES; not used if all of them are fractions of 1. label: for boxes without
    one. Raises FormatError for a reply without boxes, and if no box lies on the scale.
    """
    values = list(values_in(text))
    found = _with_cut_last(values) or list(_find_in_prose(text))
    if not found:
        if any(_is_empty(value) for value in values):
            return ()
        raise FormatError(f"the reply contains no boxes: {text.strip()!r:.120}")
    found = found[:_MAX_BOXES]
    side = 1.0 if _are_fractions(found) else SCALES[scale]
    placed = [box for each in found if (box := _to_pixels(each, side, size, label))]
    if not placed:
        raise FormatError(
            f"no box of the reply lies on the scale {scale!r}, the first is {list(found[0].numbers)}; "
            f"choose another: --tool detect=model:{'|'.join(SCALES)}"
        )
    return tuple(placed)


def _with_cut_last(values: Sequence[Any]) -> list[_ReplyBox]:
    """The boxes of all values. A bare list beside objects is what a cut reply left of one: it comes last, scored 0."""
    found = [(isinstance(value, dict), each) for value in values for each in _find_boxes(value, 0)]
    if not any(is_object for is_object, _ in found):
        return [each for _, each in found]
    whole = [each for is_object, each in found if is_object]
    return whole + [replace(each, score=0.0) for is_object, each in found if not is_object]


def _find_boxes(value: Any, depth: int) -> Iterator[_ReplyBox]:
    """The boxes in a JSON value, those of an object with its label and score."""
    if depth > _MAX_DEPTH:
        return
    match value:
        case dict():
            if (box := _parse_object(value)) is not None:
                yield box
                return
            for inner in value.values():
                yield from _find_boxes(inner, depth + 1)
        case list():
            if (four := _four(value)) is not None:
                yield _ReplyBox(four, "", 1.0)
                return
            for inner in value:
                yield from _find_boxes(inner, depth + 1)


def _parse_object(value: Mapping[str, Any]) -> _ReplyBox | None:
    for key in _BOX_KEYS:
        inner = value.get(key)
        numbers = _four(inner) if isinstance(inner, list) else _edges(inner)
        if numbers is not None:
            y_first = key == _ROWS_FIRST
            in_order = (numbers[1], numbers[0], numbers[3], numbers[2]) if y_first else numbers
            return _ReplyBox(in_order, _label(value), _score(value), y_first)
    numbers = _edges(value)
    return None if numbers is None else _ReplyBox(numbers, _label(value), _score(value))


def _four(values: Sequence[Any]) -> tuple[float, float, float, float] | None:
    if len(values) == 2 and all(isinstance(corner, list) and len(corner) == 2 for corner in values):
        values = [*values[0], *values[1]]
    if len(values) != 4:
        return None
    a, b, c, d = (number_of(value) for value in values)
    return None if a is None or b is None or c is None or d is None else (a, b, c, d)


def _edges(value: Any) -> tuple[float, float, float, float] | None:
    if not isinstance(value, dict):
        return None
    for names in _EDGES:
        if all(name in value for name in names):
            return _four([value[name] for name in names])
    return None


def _label(value: Mapping[str, Any]) -> str:
    return next((text for key in _LABEL_KEYS if isinstance(text := value.get(key), str)), "")[:200]


def _score(value: Mapping[str, Any]) -> float:
    """1 if there is none; a number above 1 is a percentage."""
    score = next((n for key in _SCORE_KEYS if (n := number_of(value.get(key))) is not None), 1.0)
    return score / 100 if score > 1 else score


def _find_in_prose(text: str) -> Iterator[_ReplyBox]:
    for found in _FOUR.finditer(text[:MOST_CHARS]):
        a, b, c, d = (float(number) for number in found.groups())
        yield _ReplyBox((a, b, c, d), "", 1.0)


def _is_empty(value: Any) -> bool:
    return value in ([], {}) or (isinstance(value, dict) and any(inner == [] for inner in value.values()))


def _are_fractions(boxes: Sequence[_ReplyBox]) -> bool:
    """Coordinates that are all at most 1 are fractions, whatever the scale: no box is one pixel wide."""
    return all(0 <= number <= 1 for each in boxes for number in each.numbers)


def _to_pixels(box: _ReplyBox, side: float | None, size: tuple[int, int], label: str) -> Box | None:
    """The box in pixels, None if it lies off its scale. side: units of a full side, None for pixels."""
    if box.in_thousandths and side != 1:
        side = 1000.0
    across, down = (side, side) if side else size
    (left, right), (top, bottom) = sorted(box.numbers[::2]), sorted(box.numbers[1::2])
    if right > _SLACK * across or bottom > _SLACK * down or left < -0.05 * across or top < -0.05 * down:
        return None
    x, y = size[0] / across, size[1] / down
    return Box(left * x, top * y, right * x, bottom * y, box.score, box.label or label)


def parse_scores(text: str, texts: Sequence[str]) -> tuple[float, ...]:
    """One score from 0 to 1 per text, from the last list or object of the reply that has all of them.

    Scores are percentages, or fractions if all of them are at most 1. Raises FormatError.
    """
    found = [scores for value in values_in(text) if (scores := _scores(value, texts))]
    if not found:
        raise FormatError(f"the reply does not contain {len(texts)} scores: {text.strip()!r:.120}")
    scores = found[-1]
    if not all(0 <= score <= _FULL_SCORE for score in scores):
        raise FormatError(
            f"the scores must be from 0 to {_FULL_SCORE:.0f}, the reply has {list(scores)!r:.120}"
        )
    are_fractions = all(score <= 1 for score in scores) and any(0 < score < 1 for score in scores)
    return scores if are_fractions else tuple(score / _FULL_SCORE for score in scores)


def _scores(value: Any, texts: Sequence[str]) -> tuple[float, ...] | None:
    if isinstance(value, dict):
        if len(value) == 1 and isinstance(inner := next(iter(value.values())), list):
            return _scores(inner, texts)
        value = [value.get(text) for text in texts]
    if len(value) != len(texts):
        return None
    numbers = [number_of(each.get("score") if isinstance(each, dict) else each) for each in value]
    return tuple(number for number in numbers if number is not None) if None not in numbers else None
