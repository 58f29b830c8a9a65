from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pyvision.errors import ConfigError
from pyvision.experiments.avis_study.annotation import Task
from pyvision.experiments.avis_study.log import Attempt, Log, read_log
from pyvision.images.read import decode
from pyvision.types import Question
from tests.experiments.avis_study.doubles import FakeTool, a_desk, box, boxes


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with Log(tmp_path / "log.jsonl") as log:
        yield log


def logged(log: Log) -> Attempt:
    (attempt,) = read_log(log.path).attempts
    return attempt


TOWER = FakeTool("detect", data=boxes(box((60, 60, 90, 90), "bridge", 0.5), box((10, 10, 30, 40), "tower")))


def test_the_surest_object_is_the_first_and_lies_where_it_is(log: Log) -> None:
    session = a_desk(log, TOWER)
    assert [str(detection) for detection in session.detections] == [
        "Object #1: tower (Caption, upper left)",
        "Object #2: bridge (Caption, lower right)",
    ]
    assert logged(log).opened.context.splitlines() == [str(detection) for detection in session.detections]


def test_a_tool_is_given_the_crop_of_its_object(log: Log) -> None:
    entities = FakeTool("identical_image")
    session = a_desk(log, TOWER, entities)
    session.do("entities", detection=1)
    asked = entities.requests[0].picture
    assert asked is not None
    assert (asked.width, asked.height) == (20, 30)
    assert decode(asked.data, "crop").width == 20


def test_every_action_is_in_the_log_with_what_came_of_it(log: Log) -> None:
    session = a_desk(log, TOWER, FakeTool("vqa", "red"), FakeTool("similar_image", "Retrievals: [\n]"))
    session.do("vqa", " which colour? ")
    session.do("similar", detection=2)
    session.close("a red one")
    attempt = logged(log)
    assert [(u.step, u.action, u.tool, u.query, u.object, u.output) for u in attempt.used] == [
        (1, "vqa", "vqa", "which colour?", None, "red"),
        (2, "similar", "similar_image", "", 2, "Retrievals: [\n]"),
    ]
    assert attempt.closed is not None
    assert (attempt.closed.is_found, attempt.closed.answer) == (True, "a red one")
    assert attempt.used == session.used


def test_a_tool_that_fails_is_logged_with_its_reason(log: Log) -> None:
    session = a_desk(log, FakeTool("vqa", fails="the service is down"))
    assert session.do("vqa", "why?").error == "the service is down"
    assert logged(log).used[0].error == "the service is down"


def test_a_detector_that_fails_leaves_a_page_without_objects(log: Log) -> None:
    session = a_desk(log, FakeTool("detect", fails="no detector"))
    assert (session.detections, session.complaint) == ((), "no detector")


def test_a_box_outside_of_the_picture_is_left_out(log: Log) -> None:
    outside = FakeTool("detect", data=boxes(box((500, 500, 600, 600), "ghost"), box((0, 0, 9, 9), "dot")))
    assert [detection.label for detection in a_desk(log, outside).detections] == ["dot"]


def test_search_goes_to_the_documents_where_no_web_is_set_up(log: Log) -> None:
    assert a_desk(log, FakeTool("document")).do("search", "towers").tool == "document"
    assert (
        a_desk(log, FakeTool("document"), FakeTool("web_search")).do("search", "towers").tool == "web_search"
    )


def test_what_cannot_be_asked_is_one_line_and_not_in_the_log(log: Log) -> None:
    session = a_desk(log, TOWER, FakeTool("vqa"), FakeTool("identical_image"))
    for action, query, detection in (("vqa", "  ", None), ("search", "x", None), ("entities", "", 7)):
        with pytest.raises(ConfigError):
            session.do(action, query, detection)
    assert logged(log).used == ()


def test_a_question_without_a_picture_can_still_be_worked_on(log: Log) -> None:
    session = a_desk(
        log, TOWER, FakeTool("caption"), FakeTool("llm_qa", "yes"), task=Task("q", Question("Why?"))
    )
    with pytest.raises(ConfigError, match="no picture"):
        session.do("caption")
    assert session.do("llm_qa", "why?").output == "yes"


def test_an_answer_cannot_be_empty(log: Log) -> None:
    session = a_desk(log)
    with pytest.raises(ConfigError, match="the answer is empty"):
        session.close("  ")
    session.close(None)
    assert session.closed is not None
    assert not session.closed.is_found


def test_nothing_follows_the_end(log: Log) -> None:
    session = a_desk(log, FakeTool("vqa"))
    session.close(None)
    with pytest.raises(ConfigError, match="closed"):
        session.do("vqa", "more?")
    with pytest.raises(ConfigError, match="closed"):
        session.close("late")
