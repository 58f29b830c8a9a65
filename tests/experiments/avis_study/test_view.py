from __future__ import annotations

import re
from html import unescape

import pytest

from pyvision.experiments.avis_study.annotation import Task, detections_in
from pyvision.experiments.avis_study.page import complaint, detection_block, pictures, render_question, trail
from pyvision.experiments.avis_study.sessions import Progress
from pyvision.types import Question
from tests.doubles import picture
from tests.experiments.avis_study.doubles import box, boxes, used
from tests.payloads import PAYLOADS

_OURS = re.compile(
    r"</?(?:p|div|img|svg|rect|text|figure|figcaption|ol|li|pre)(?: [a-zA-Z-]+(?:=\"[^\"<>]*\")?)*/?>"
)


def everything(text: str) -> str:
    whole = picture(90, 60)
    detections = detections_in(whole, boxes(box((5, 5, 30, 30), text)))
    task = Task(text, Question(text, (whole,), (text,), text))
    one = used("search", text)
    failed = used("vqa", error=text)
    parts = (
        render_question(task, Progress(0, 2, (text,))),
        pictures(task, detections),
        detection_block(detections[0]),
    )
    return "".join([*parts, trail((one, failed)), complaint(text)])


@pytest.mark.parametrize("payload", PAYLOADS)
def test_whatever_anybody_wrote_is_text(payload: str) -> None:
    assert "<" not in _OURS.sub("", everything(payload))


def test_the_text_itself_is_seen() -> None:
    assert unescape(everything("a < b & c")).count("a < b & c") >= 6


def test_objects_are_drawn_where_they_lie() -> None:
    whole = picture(90, 60)
    html = pictures(Task("q", Question("?", (whole,))), detections_in(whole, boxes(box((5, 6, 30, 40), "a"))))
    assert 'viewBox="0 0 90 60"' in html
    assert '<rect x="5.0" y="6.0" width="25.0" height="34.0"/>' in html


def test_the_last_thing_done_is_the_first_to_be_read() -> None:
    html = trail((used("search", "first"), used("search", "second")))
    assert html.index("second") < html.index("first")
