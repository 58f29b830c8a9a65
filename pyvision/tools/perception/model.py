"""Perception by multimodal models in roles: `caption`, `vqa`, `detect`, `match` and `llm`; prompts/tools/ asks."""

from __future__ import annotations

import json

from pyvision.errors import ConfigError, FormatError, ToolError
from pyvision.images.fit import fit
from pyvision.text.prompts import load, render
from pyvision.text.replies import without_thinking
from pyvision.tools.perception.box_replies import SCALES, boxes_in
from pyvision.tools.perception.observations import (
    Box,
    answer_observation,
    boxes_observation,
    caption_observation,
    scores_observation,
)
from pyvision.tools.perception.score_replies import scores_in
from pyvision.tools.perception.service import (
    Service,
    context_of,
    is_all,
    picture_of,
    text_of,
    texts_of,
)
from pyvision.types import Ask, Message, Observation, Part, Text, Tool, ToolRequest


def caption(where: str) -> Tool:
    """Asks the role `caption`."""
    _takes_nothing("caption", where)
    return Service("caption", _caption)


def vqa(where: str) -> Tool:
    """Asks the role `vqa`."""
    _takes_nothing("vqa", where)
    return Service("vqa", _vqa)


def llm_qa(where: str) -> Tool:
    """Asks the role `llm`, with words alone."""
    _takes_nothing("llm_qa", where)
    return Service("llm_qa", _llm_qa)


def match(where: str) -> Tool:
    """Asks the role `match`. Its scores are what the model says: an opinion in per cent, no likelihood."""
    _takes_nothing("match", where)
    return Service("match", _match)


def detect(where: str) -> Tool:
    """Asks the role `detect`. where: what the model counts in, a key of SCALES; 1000 unless told."""
    scale = where or "1000"
    if scale not in SCALES:
        known = ", ".join(SCALES)
        raise ConfigError(f"--tool detect=model:{where}: unknown scale {where!r}; known are: {known}")
    return Service("detect", lambda request, ask: _detect(request, ask, scale))


def _takes_nothing(name: str, where: str) -> None:
    if where:
        raise ConfigError(
            f"--tool {name}=model:{where}: takes nothing behind the colon; "
            f"the model of a role is chosen where models are"
        )


def _caption(request: ToolRequest, ask: Ask) -> Observation:
    shown = fit(picture_of(request, "caption")).picture
    return caption_observation(_ask_role(ask, "caption", Text(load("tools/caption.md")), shown))


def _vqa(request: ToolRequest, ask: Ask) -> Observation:
    shown = fit(picture_of(request, "vqa")).picture
    prompt = render("tools/vqa.md", question=text_of(request, "vqa"))
    return answer_observation(_ask_role(ask, "vqa", Text(prompt), shown))


def _llm_qa(request: ToolRequest, ask: Ask) -> Observation:
    question, context = text_of(request, "llm_qa"), context_of(request, "llm_qa")
    form = load(f"tools/{'long' if request.options.get('long') else 'short'}_answer.md").strip()
    if context:
        prompt = render("tools/llm_context.md", question=question, context=context, form=form)
    else:
        prompt = render("tools/llm.md", question=question, form=form)
    return answer_observation(_ask_role(ask, "llm", Text(prompt)))


def _match(request: ToolRequest, ask: Ask) -> Observation:
    texts = texts_of(request, "match")
    shown = fit(picture_of(request, "match")).picture
    listed = "\n".join(
        f"{number}. {json.dumps(text, ensure_ascii=False)}" for number, text in enumerate(texts, 1)
    )
    prompt = render("tools/match.md", texts=listed, count=len(texts))
    said = _ask_role(ask, "match", Text(prompt), shown)
    try:
        return scores_observation(texts, scores_in(said, texts))
    except FormatError as error:
        raise ToolError(f"match: {error}") from error


def _detect(request: ToolRequest, ask: Ask, scale: str) -> Observation:
    """Coordinates are of the picture as it is sent, and are brought back to the one that was given."""
    picture = picture_of(request, "detect")
    wanted = "" if is_all(request.text) else request.text.strip()
    fitted = fit(picture)
    width, height = fitted.picture.width, fitted.picture.height
    counted = render(
        f"tools/scale_{scale}.md", **({"width": width, "height": height} if scale == "pixels" else {})
    )
    if wanted:
        prompt = render("tools/detect.md", wanted=json.dumps(wanted, ensure_ascii=False), scale=counted)
    else:
        prompt = render("tools/detect_all.md", scale=counted)
    said = _ask_role(ask, "detect", Text(prompt), fitted.picture)
    try:
        boxes = boxes_in(said, scale, (width, height), wanted or "object")
    except FormatError as error:
        raise ToolError(f"detect: {error}") from error
    back = (_in_original(box, fitted.scale_x, fitted.scale_y) for box in boxes)
    return boxes_observation(back, picture, wanted)


def _in_original(box: Box, x: float, y: float) -> Box:
    return Box(box.left / x, box.top / y, box.right / x, box.bottom / y, box.score, box.label)


def _ask_role(ask: Ask, role: str, *parts: Part) -> str:
    """What the model of a role says to these parts, pictures first. Raises ToolError when it declines."""
    in_order = tuple(sorted(parts, key=lambda part: isinstance(part, Text)))
    reply = ask(role, (Message("user", in_order),))
    if reply.finish == "refusal":
        raise ToolError(f"{role}: the model declined; ask something else")
    return without_thinking(reply.text).strip()
