from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from pyvision.demo.session import ChatSession, SessionRegistry
from pyvision.models.scripted import Scripted
from pyvision.solve import Task, prepare
from sandbox import Sandbox
from tests.doubles import CannedSandbox, picture, printed
from tests.sandbox.processes import wait_until


def a_task(*replies: Any) -> Task:
    return prepare("?", model=Scripted(replies))


CELL = "<code>\n```python\n1\n```\n</code>"


class Rooms:
    """Makes visitors, whose kernels are canned; and closes them."""

    def __init__(self, out: Path) -> None:
        self.sandbox = CannedSandbox([printed("seen")])
        self._out = out
        self._made: list[SessionRegistry] = []

    def sessions(self, idle_s: float = 60) -> SessionRegistry:
        self._made.append(SessionRegistry(cast("Sandbox", self.sandbox), self._out, str, idle_s))
        return self._made[-1]

    def close(self) -> None:
        for sessions in self._made:
            sessions.close()


@pytest.fixture
def rooms(tmp_path: Path) -> Iterator[Rooms]:
    rooms = Rooms(tmp_path)
    yield rooms
    rooms.close()


def last(session: ChatSession, task: Task, text: str) -> str:
    return "".join([*session.ask(task, text, [picture()])][-1])


def test_a_conversation_grows_and_each_question_stays(rooms: Rooms) -> None:
    task = a_task(CELL, "\\boxed{1}", "\\boxed{2}")
    session = rooms.sessions().session("a", task)
    last(session, task, "First?")
    html = last(session, task, "Second?")
    assert html.index("First?") < html.index("<strong>1") < html.index("Second?") < html.index("<strong>2")
    assert "seen" in html


def test_a_question_can_be_announced_before_it_is_asked(rooms: Rooms) -> None:
    task = a_task("\\boxed{1}")
    session = rooms.sessions().session("a", task)
    last(session, task, "First?")
    announced = "".join(session.preview("Second?"))
    assert announced.index("First?") < announced.index("<strong>1") < announced.index("Second?")
    assert 'id="question-2"' in announced
    assert "Second?" not in "".join(session.pieces)


def test_a_question_that_is_given_up_leaves_the_desk_free(rooms: Rooms) -> None:
    task = a_task(CELL, "\\boxed{1}", "\\boxed{2}")
    session = rooms.sessions().session("a", task)
    updates = session.ask(task, "First?", [])
    next(updates)
    next(updates)
    cast("Generator[object]", updates).close()
    assert not session.is_busy
    assert "Second?" in last(session, task, "Second?")


def test_visitors_sit_at_desks_and_in_folders_of_their_own(rooms: Rooms, tmp_path: Path) -> None:
    task = a_task("\\boxed{1}", "\\boxed{2}")
    sessions = rooms.sessions()
    last(sessions.session("a", task), task, "Mine?")
    html = last(sessions.session("b", task), task, "Yours?")
    assert "Mine?" not in html
    assert len(list(tmp_path.iterdir())) == 2


def test_who_leaves_takes_the_kernel_along(rooms: Rooms) -> None:
    task = a_task(CELL, "\\boxed{1}")
    sessions = rooms.sessions()
    last(sessions.session("a", task), task, "?")
    assert rooms.sandbox.closed == 0
    sessions.leave("a")
    assert (rooms.sandbox.closed, len(sessions)) == (1, 0)


def test_who_is_silent_for_long_has_left(rooms: Rooms) -> None:
    task = a_task(CELL, "\\boxed{1}")
    sessions = rooms.sessions(idle_s=0.2)
    last(sessions.session("a", task), task, "?")
    assert wait_until(lambda: (rooms.sandbox.closed, len(sessions)) == (1, 0))


def test_a_setting_that_turns_out_bad_is_one_line_in_the_talk(rooms: Rooms, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.json"
    prompts.write_text('{"own": "{query}"}', encoding="utf-8")
    task = prepare("?", model=Scripted([]), options={"prompt_file": str(prompts)})
    prompts.unlink()
    session = rooms.sessions().session("a", task)
    assert "prompts.json" in last(session, task, "?")
    good = a_task("\\boxed{1}")
    assert "<strong>1" in last(session, good, "Again?")
