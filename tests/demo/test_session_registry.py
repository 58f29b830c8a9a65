from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from pyvision.agent.task import Task
from pyvision.demo.session import ChatSession
from pyvision.demo.session_registry import SessionRegistry
from pyvision.errors import ConfigError
from pyvision.models.scripted import Scripted
from pyvision.solve import prepare
from sandbox import Sandbox
from tests.doubles import CannedSandbox, picture, printed
from tests.sandbox.processes import wait_until

CELL = "<code>\n```python\n1\n```\n</code>"
ANN, BOB = "a" * 32, "b" * 32


def a_task(*replies: Any) -> Task:
    return prepare("?", model=Scripted(replies))


class Rooms:
    """Makes registries of visitors, whose kernels are canned; and closes them."""

    def __init__(self, out: Path) -> None:
        self.sandbox = CannedSandbox([printed("seen")])
        self._out = out
        self._made: list[SessionRegistry] = []

    def visitors(self, *, idle_s: float = 60, grace_s: float = 60, keep: bool = False) -> SessionRegistry:
        made = SessionRegistry(
            cast("Sandbox", self.sandbox),
            self._out,
            str,
            idle_s=idle_s,
            at_once=2,
            keep=keep,
            grace_s=grace_s,
        )
        self._made.append(made)
        return made

    def close(self) -> None:
        for visitors in self._made:
            visitors.close()


@pytest.fixture
def rooms(tmp_path: Path) -> Iterator[Rooms]:
    rooms = Rooms(tmp_path / "out")
    yield rooms
    rooms.close()


def asked(visitors: SessionRegistry, secret: str, text: str = "?") -> ChatSession:
    task = a_task(CELL, "\\boxed{1}")
    chat = visitors.start(secret, task)
    chat.ask(task, text, [picture()])
    assert wait_until(lambda: not chat.state["running"])
    return chat


def test_a_visitor_finds_only_its_own_conversations(rooms: Rooms) -> None:
    visitors = rooms.visitors()
    mine, yours = asked(visitors, ANN, "Mine?"), asked(visitors, BOB, "Yours?")
    assert visitors.find(ANN, mine.name) is mine
    assert visitors.find(ANN, yours.name) is None
    assert [each["title"] for each in visitors.list_chats(ANN)] == ["Mine?"]


def test_conversations_are_listed_with_the_newest_first(rooms: Rooms) -> None:
    visitors = rooms.visitors()
    asked(visitors, ANN, "One?")
    asked(visitors, ANN, "Two?")
    assert [each["title"] for each in visitors.list_chats(ANN)] == ["Two?", "One?"]


@pytest.mark.parametrize("secret", ["", "a", "A" * 32, "../" + "a" * 29, "a" * 33])
def test_a_secret_that_can_be_guessed_is_refused(rooms: Rooms, secret: str) -> None:
    with pytest.raises(ConfigError, match="reload"):
        rooms.visitors().start(secret, a_task())


def test_a_kernel_ends_soon_after_the_last_tab(rooms: Rooms) -> None:
    visitors = rooms.visitors(grace_s=0.2)
    visitors.enter(ANN, "tab")
    chat = asked(visitors, ANN)
    visitors.leave("tab")
    assert wait_until(lambda: rooms.sandbox.closed == 1)
    assert visitors.find(ANN, chat.name) is chat


def test_a_reload_keeps_the_kernel(rooms: Rooms) -> None:
    visitors = rooms.visitors(grace_s=30)
    visitors.enter(ANN, "before")
    chat = asked(visitors, ANN)
    visitors.leave("before")
    visitors.enter(ANN, "after")
    task = a_task(CELL, "\\boxed{1}")
    chat.ask(task, "Again?")
    assert wait_until(lambda: not chat.state["running"])
    assert (rooms.sandbox.opened, rooms.sandbox.closed) == (1, 0)


def test_a_conversation_whose_kernel_has_ended_continues_with_its_images(rooms: Rooms) -> None:
    visitors = rooms.visitors()
    chat = asked(visitors, ANN)
    chat.release()
    rooms.sandbox.images.clear()
    task = a_task(CELL, "\\boxed{2}")
    chat.ask(task, "Again?")
    assert wait_until(lambda: not chat.state["running"])
    assert list(rooms.sandbox.images) == ["image_clue_0"]


def test_an_unused_kernel_ends_while_the_page_is_open(rooms: Rooms) -> None:
    visitors = rooms.visitors(idle_s=0.2)
    visitors.enter(ANN, "tab")
    asked(visitors, ANN)
    assert wait_until(lambda: rooms.sandbox.closed == 1)
    assert len(visitors) == 1


def test_the_recordings_of_a_departed_visitor_are_deleted(rooms: Rooms) -> None:
    visitors = rooms.visitors(idle_s=0.2, grace_s=0.1)
    folder = asked(visitors, ANN).out
    assert wait_until(lambda: not folder.exists())
    assert len(visitors) == 0


def test_what_is_to_be_kept_is_kept(rooms: Rooms) -> None:
    visitors = rooms.visitors(keep=True)
    folder = asked(visitors, ANN).out
    visitors.close()
    assert (folder / "0").is_dir()


def test_the_end_of_the_demo_deletes_what_is_not_to_be_kept(rooms: Rooms) -> None:
    visitors = rooms.visitors()
    folder = asked(visitors, ANN).out
    visitors.close()
    assert not folder.exists()


def test_a_deleted_conversation_is_gone(rooms: Rooms) -> None:
    visitors = rooms.visitors()
    chat = asked(visitors, ANN)
    visitors.delete(BOB, chat.name)
    assert chat.out.exists()
    visitors.delete(ANN, chat.name)
    assert visitors.find_any(chat.name) is None
    assert not chat.out.exists()


def test_visitors_without_a_question_are_evicted_first(rooms: Rooms) -> None:
    visitors = rooms.visitors()
    chat = asked(visitors, ANN)
    for number in range(1100):
        visitors.enter(f"{number:032x}", "tab")
    assert len(visitors) == 1000
    assert visitors.find(ANN, chat.name) is chat
