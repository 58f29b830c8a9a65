from __future__ import annotations

import re
from html import unescape

import pytest

from pyvision.experiments.avis_study.annotation import StudyTask, read_detections
from pyvision.experiments.avis_study.rendering import (
    render_detection,
    render_error,
    render_images,
    render_question,
    render_trail,
)
from pyvision.experiments.avis_study.sessions import StudyProgress
from pyvision.types import Question
from tests.doubles import picture
from tests.experiments.avis_study.doubles import box, boxes, make_used
from tests.payloads import PAYLOADS

_OURS = re.compile(
    r"</?(?:p|div|img|svg|rect|text|figure|figcaption|ol|li|pre)(?: [a-zA-Z-]+(?:=\"[^\"<>]*\")?)*/?>"
)


def render_everything(text: str) -> str:
    whole = picture(90, 60)
    detections = read_detections(whole, boxes(box((5, 5, 30, 30), text)))
    task = StudyTask(text, Question(text, (whole,), (text,), text))
    one = make_used("search", text)
    failed = make_used("vqa", error=text)
    parts = (
        render_question(task, StudyProgress(0, 2, (text,))),
        render_images(task, detections),
        render_detection(detections[0]),
    )
    return "".join([*parts, render_trail((one, failed)), render_error(text)])


@pytest.mark.parametrize("payload", PAYLOADS)
def test_all_text_is_escaped(payload: str) -> None:
    assert "<" not in _OURS.sub("", render_everything(payload))


def test_escaped_text_is_still_readable() -> None:
    assert unescape(render_everything("a < b & c")).count("a < b & c") >= 6


def test_objects_are_drawn_at_their_positions() -> None:
    whole = picture(90, 60)
    html = render_images(
        StudyTask("q", Question("?", (whole,))), read_detections(whole, boxes(box((5, 6, 30, 40), "a")))
    )
    assert 'viewBox="0 0 90 60"' in html
    assert '<rect x="5.0" y="6.0" width="25.0" height="34.0"/>' in html


def test_the_latest_tool_call_comes_first() -> None:
    html = render_trail((make_used("search", "first"), make_used("search", "second")))
    assert html.index("second") < html.index("first")
