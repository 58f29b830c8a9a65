"""What a participant sees, as HTML: the question, its picture with numbered objects, and all that tools have said."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence

from pyvision.experiments.avis_study.actions import ACTIONS
from pyvision.experiments.avis_study.annotation import Task
from pyvision.experiments.avis_study.detections import Detection
from pyvision.experiments.avis_study.log import UsedTool
from pyvision.experiments.avis_study.queue import Progress
from pyvision.images.fit import FitLimits, fit
from pyvision.runs.report.markup import Markup, element, join
from pyvision.types import Picture

_WHOLE, _CROP = FitLimits(side_px=1024), FitLimits(side_px=200)


def render_question(task: Task, progress: Progress) -> Markup:
    """The question, and how many there are."""
    told = f"Question {progress.done + 1} of {progress.total}"
    broken = [element("p", f"left out: {why}", class_="facts") for why in progress.broken]
    question = element("p", task.question.full_text, class_="question")
    return element("div", element("p", told, class_="facts"), *broken, question, class_="asked")


def pictures(task: Task, detections: Sequence[Detection]) -> Markup:
    """The pictures of the question, with the objects drawn into the first one."""
    shown = [_picture(each, detections if at == 0 else ()) for at, each in enumerate(task.question.images)]
    return join(*shown) if shown else element("p", "This question has no picture.", class_="facts")


def detection_block(detection: Detection) -> Markup:
    """One object: its crop, what the detector calls it, and where it lies."""
    words = f"#{detection.number} {detection.label or 'object'}, {detection.place}"
    image = element("img", src=_address(detection.crop, _CROP), alt=words)
    return element("figure", image, element("figcaption", words), class_="thing")


def trail(used: Sequence[UsedTool]) -> Markup:
    """Everything that was done, the last first: nobody has to scroll for it."""
    if not used:
        return element("p", "What the tools say will be written here.", class_="facts")
    return element("ol", *map(_step, reversed(used)), class_="trail", reversed=True)


def complaint(text: str) -> Markup:
    """What went wrong, or what is still to be done."""
    return element("p", text, class_="bad", role="alert")


def _step(used: UsedTool) -> Markup:
    about = f" about #{used.object}" if used.object else ""
    asked_ = f": {used.query}" if used.query else ""
    head = element("p", f"{ACTIONS[used.action].label}{about}{asked_}", class_="head")
    if used.error is not None:
        return element("li", head, complaint(used.error))
    return element("li", head, element("pre", used.output or "nothing found"))


def _picture(picture: Picture, detections: Sequence[Detection]) -> Markup:
    image = element("img", src=_address(picture, _WHOLE), alt="the picture of the question")
    size = f"0 0 {picture.width} {picture.height}"
    boxes = element(
        "svg", *_boxes(picture, detections), viewBox=size, preserveAspectRatio="none", aria_hidden="true"
    )
    return element("div", image, boxes if detections else None, class_="whole")


def _boxes(picture: Picture, detections: Sequence[Detection]) -> Iterator[Markup]:
    letter = max(picture.width, picture.height) / 28
    for detection in detections:
        left, top, right, bottom = detection.box
        yield element("rect", x=left, y=top, width=right - left, height=bottom - top)
        at = {"x": left + letter / 4, "y": max(top, 0) + letter, "font-size": letter}
        yield element("text", detection.number, x=at["x"], y=at["y"], font_size=at["font-size"])


def _address(picture: Picture, limits: FitLimits) -> str:
    sent = fit(picture, limits).picture
    return f"data:{sent.mime};base64,{b64encode(sent.data).decode('ascii')}"
