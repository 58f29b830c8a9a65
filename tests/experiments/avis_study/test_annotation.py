from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pyvision.errors import ConfigError
from pyvision.experiments.avis_study.annotation import Posed
from pyvision.experiments.avis_study.log import Log
from pyvision.experiments.avis_study.log_reader import Attempt, read_log
from pyvision.images.read import decode
from pyvision.types import Question
from tests.experiments.avis_study.doubles import Told, a_desk, box, boxes


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with Log(tmp_path / "log.jsonl") as log:
        yield log


def logged(log: Log) -> Attempt:
    (attempt,) = read_log(log.path).attempts
    return attempt


TOWER = Told("detect", data=boxes(box((60, 60, 90, 90), "bridge", 0.5), box((10, 10, 30, 40), "tower")))


def test_the_surest_object_is_the_first_and_lies_where_it_is(log: Log) -> None:
    desk = a_desk(log, TOWER)
    assert [str(thing) for thing in desk.things] == [
        "Object #1: tower (Caption, upper left)",
        "Object #2: bridge (Caption, lower right)",
    ]
    assert logged(log).opened.context.splitlines() == [str(thing) for thing in desk.things]


def test_a_tool_is_given_the_crop_of_its_object(log: Log) -> None:
    entities = Told("identical_image")
    desk = a_desk(log, TOWER, entities)
    desk.do("entities", thing=1)
    asked = entities.requests[0].picture
    assert asked is not None
    assert (asked.width, asked.height) == (20, 30)
    assert decode(asked.data, "crop").width == 20


def test_every_action_is_in_the_log_with_what_came_of_it(log: Log) -> None:
    desk = a_desk(log, TOWER, Told("vqa", "red"), Told("similar_image", "Retrievals: [\n]"))
    desk.do("vqa", " which colour? ")
    desk.do("similar", thing=2)
    desk.close("a red one")
    attempt = logged(log)
    assert [(u.step, u.deed, u.tool, u.query, u.object, u.output) for u in attempt.used] == [
        (1, "vqa", "vqa", "which colour?", None, "red"),
        (2, "similar", "similar_image", "", 2, "Retrievals: [\n]"),
    ]
    assert attempt.closed is not None
    assert (attempt.closed.is_found, attempt.closed.answer) == (True, "a red one")
    assert attempt.used == desk.used


def test_a_tool_that_fails_is_logged_with_its_reason(log: Log) -> None:
    desk = a_desk(log, Told("vqa", fails="the service is down"))
    assert desk.do("vqa", "why?").error == "the service is down"
    assert logged(log).used[0].error == "the service is down"


def test_a_detector_that_fails_leaves_a_page_without_objects(log: Log) -> None:
    desk = a_desk(log, Told("detect", fails="no detector"))
    assert (desk.things, desk.complaint) == ((), "no detector")


def test_a_box_outside_of_the_picture_is_left_out(log: Log) -> None:
    outside = Told("detect", data=boxes(box((500, 500, 600, 600), "ghost"), box((0, 0, 9, 9), "dot")))
    assert [thing.label for thing in a_desk(log, outside).things] == ["dot"]


def test_search_goes_to_the_documents_where_no_web_is_set_up(log: Log) -> None:
    assert a_desk(log, Told("document")).do("search", "towers").tool == "document"
    assert a_desk(log, Told("document"), Told("web_search")).do("search", "towers").tool == "web_search"


def test_what_cannot_be_asked_is_one_line_and_not_in_the_log(log: Log) -> None:
    desk = a_desk(log, TOWER, Told("vqa"), Told("identical_image"))
    for deed, query, thing in (("vqa", "  ", None), ("search", "x", None), ("entities", "", 7)):
        with pytest.raises(ConfigError):
            desk.do(deed, query, thing)
    assert logged(log).used == ()


def test_a_question_without_a_picture_can_still_be_worked_on(log: Log) -> None:
    desk = a_desk(log, TOWER, Told("caption"), Told("llm_qa", "yes"), posed=Posed("q", Question("Why?")))
    with pytest.raises(ConfigError, match="no picture"):
        desk.do("caption")
    assert desk.do("llm_qa", "why?").output == "yes"


def test_an_answer_cannot_be_empty(log: Log) -> None:
    desk = a_desk(log)
    with pytest.raises(ConfigError, match="the answer is empty"):
        desk.close("  ")
    desk.close(None)
    assert desk.closed is not None
    assert not desk.closed.is_found


def test_nothing_follows_the_end(log: Log) -> None:
    desk = a_desk(log, Told("vqa"))
    desk.close(None)
    with pytest.raises(ConfigError, match="closed"):
        desk.do("vqa", "more?")
    with pytest.raises(ConfigError, match="closed"):
        desk.close("late")
