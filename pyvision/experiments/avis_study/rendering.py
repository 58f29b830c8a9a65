"""The HTML of the study page: the question, the images, the objects and the tool outputs."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence

from pyvision.experiments.avis_study.annotation import Detection, StudyTask
from pyvision.experiments.avis_study.log import UsedTool
from pyvision.experiments.avis_study.sessions import StudyProgress
from pyvision.experiments.avis_study.toolbox import BUTTONS
from pyvision.images.fit import FitLimits, fit
from pyvision.pages.markup import Markup, element, join
from pyvision.types import Picture

_WHOLE, _CROP = FitLimits(side_px=1024), FitLimits(side_px=200)


def render_question(task: StudyTask, progress: StudyProgress) -> Markup:
    """The question, its number, and the questions that cannot be shown."""
    number = f"Question {progress.done + 1} of {progress.total}"
    broken = [element("p", f"skipped: {why}", class_="facts") for why in progress.broken]
    question = element("p", task.question.full_text, class_="question")
    return element("div", element("p", number, class_="facts"), *broken, question, class_="asked")


def render_images(task: StudyTask, detections: Sequence[Detection]) -> Markup:
    """The images of the question, with the objects drawn into the first one."""
    images = [
        _image(each, detections if index == 0 else ()) for index, each in enumerate(task.question.images)
    ]
    return join(*images) if images else element("p", "This question has no image.", class_="facts")


def render_detection(detection: Detection) -> Markup:
    """One object: its crop, its label, and its position."""
    caption = f"#{detection.number} {detection.label or 'object'}, {detection.place}"
    image = element("img", src=_data_url(detection.crop, _CROP), alt=caption)
    return element("figure", image, element("figcaption", caption), class_="detection")


def render_trail(used: Sequence[UsedTool]) -> Markup:
    """All tool calls, most recent first, so that the latest needs no scrolling."""
    if not used:
        return element("p", "The output of the tools will appear here.", class_="facts")
    return element("ol", *map(_step, reversed(used)), class_="trail", reversed=True)


def render_error(text: str) -> Markup:
    """A message about an error, or about what to do next."""
    return element("p", text, class_="bad", role="alert")


def _step(used: UsedTool) -> Markup:
    about = f" about #{used.object}" if used.object else ""
    query = f": {used.query}" if used.query else ""
    head = element("p", f"{BUTTONS[used.action].label}{about}{query}", class_="head")
    if used.error is not None:
        return element("li", head, render_error(used.error))
    return element("li", head, element("pre", used.output or "nothing found"))


def _image(picture: Picture, detections: Sequence[Detection]) -> Markup:
    image = element("img", src=_data_url(picture, _WHOLE), alt="the image of the question")
    size = f"0 0 {picture.width} {picture.height}"
    boxes = element(
        "svg", *_boxes(picture, detections), viewBox=size, preserveAspectRatio="none", aria_hidden="true"
    )
    return element("div", image, boxes if detections else None, class_="whole")


def _boxes(picture: Picture, detections: Sequence[Detection]) -> Iterator[Markup]:
    font_size = max(picture.width, picture.height) / 28
    for detection in detections:
        left, top, right, bottom = detection.box
        yield element("rect", x=left, y=top, width=right - left, height=bottom - top)
        x, y = left + font_size / 4, max(top, 0) + font_size
        yield element("text", detection.number, x=x, y=y, font_size=font_size)


def _data_url(picture: Picture, limits: FitLimits) -> str:
    sent = fit(picture, limits).picture
    return f"data:{sent.mime};base64,{b64encode(sent.data).decode('ascii')}"
