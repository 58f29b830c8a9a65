from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pyvision.errors import ConfigError
from pyvision.experiments.avis_study.annotation import StudyTask
from pyvision.experiments.avis_study.log import Attempt, Log, read_log
from pyvision.images.read import decode
from pyvision.types import Question
from tests.experiments.avis_study.doubles import FakeTool, annotation_session, box, boxes


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with Log(tmp_path / "log.jsonl") as log:
        yield log


def read_attempt(log: Log) -> Attempt:
    (attempt,) = read_log(log.path).attempts
    return attempt


TOWER = FakeTool("detect", data=boxes(box((60, 60, 90, 90), "bridge", 0.5), box((10, 10, 30, 40), "tower")))


def test_objects_are_listed_by_score_with_their_positions(log: Log) -> None:
    session = annotation_session(log, TOWER)
    assert [str(detection) for detection in session.detections] == [
        "Object #1: tower (Caption, upper left)",
        "Object #2: bridge (Caption, lower right)",
    ]
    assert read_attempt(log).opened.context.splitlines() == [
        str(detection) for detection in session.detections
    ]


def test_a_tool_receives_the_crop_of_its_object(log: Log) -> None:
    entities = FakeTool("identical_image")
    session = annotation_session(log, TOWER, entities)
    session.do("entities", detection=1)
    picture = entities.requests[0].picture
    assert picture is not None
    assert (picture.width, picture.height) == (20, 30)
    assert decode(picture.data, "crop").width == 20


def test_every_action_is_logged_with_its_output(log: Log) -> None:
    session = annotation_session(
        log, TOWER, FakeTool("vqa", "red"), FakeTool("similar_image", "Retrievals: [\n]")
    )
    session.do("vqa", " which colour? ")
    session.do("similar", detection=2)
    session.close("a red one")
    attempt = read_attempt(log)
    assert [(u.step, u.action, u.tool, u.query, u.object, u.output) for u in attempt.used] == [
        (1, "vqa", "vqa", "which colour?", None, "red"),
        (2, "similar", "similar_image", "", 2, "Retrievals: [\n]"),
    ]
    assert attempt.closed is not None
    assert (attempt.closed.is_found, attempt.closed.answer) == (True, "a red one")
    assert attempt.used == session.used


def test_a_failing_tool_is_logged_with_its_error(log: Log) -> None:
    session = annotation_session(log, FakeTool("vqa", fails="the service is down"))
    assert session.do("vqa", "why?").error == "the service is down"
    assert read_attempt(log).used[0].error == "the service is down"


def test_a_failing_detector_leaves_no_objects(log: Log) -> None:
    session = annotation_session(log, FakeTool("detect", fails="no detector"))
    assert (session.detections, session.complaint) == ((), "no detector")


def test_a_box_outside_the_image_is_ignored(log: Log) -> None:
    outside = FakeTool("detect", data=boxes(box((500, 500, 600, 600), "ghost"), box((0, 0, 9, 9), "dot")))
    assert [detection.label for detection in annotation_session(log, outside).detections] == ["dot"]


def test_search_uses_documents_without_a_web_search(log: Log) -> None:
    assert annotation_session(log, FakeTool("document")).do("search", "towers").tool == "document"
    both = annotation_session(log, FakeTool("document"), FakeTool("web_search"))
    assert both.do("search", "towers").tool == "web_search"


def test_an_invalid_request_is_not_logged(log: Log) -> None:
    session = annotation_session(log, TOWER, FakeTool("vqa"), FakeTool("identical_image"))
    for action, query, detection in (("vqa", "  ", None), ("search", "x", None), ("entities", "", 7)):
        with pytest.raises(ConfigError):
            session.do(action, query, detection)
    assert read_attempt(log).used == ()


def test_a_question_without_an_image_can_use_text_tools(log: Log) -> None:
    session = annotation_session(
        log, TOWER, FakeTool("caption"), FakeTool("llm_qa", "yes"), task=StudyTask("q", Question("Why?"))
    )
    with pytest.raises(ConfigError, match="no image"):
        session.do("caption")
    assert session.do("llm_qa", "why?").output == "yes"


def test_an_answer_cannot_be_empty(log: Log) -> None:
    session = annotation_session(log)
    with pytest.raises(ConfigError, match="the answer is empty"):
        session.close("  ")
    session.close(None)
    assert session.closed is not None
    assert not session.closed.is_found


def test_a_closed_attempt_accepts_no_actions(log: Log) -> None:
    session = annotation_session(log, FakeTool("vqa"))
    session.close(None)
    with pytest.raises(ConfigError, match="closed"):
        session.do("vqa", "more?")
    with pytest.raises(ConfigError, match="closed"):
        session.close("late")
