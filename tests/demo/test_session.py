from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from pyvision.agent.task import Task
from pyvision.demo.session import AnswerQueue, ChatSession, MarkedBox
from pyvision.errors import ConfigError
from pyvision.models.scripted import Scripted
from pyvision.solve import prepare
from sandbox import Sandbox
from tests.doubles import CannedSandbox, picture, printed
from tests.sandbox.processes import wait_until


def a_task(*replies: Any) -> Task:
    return prepare("?", model=Scripted(replies))


CELL = "<code>\n```python\n1\n```\n</code>"
TWO = "<code>\n```python\n2\n```\n</code>"


def a_chat(
    out: Path, task: Task, sandbox: CannedSandbox | None = None, queue: AnswerQueue | None = None
) -> ChatSession:
    return ChatSession(
        "c",
        sandbox=cast("Sandbox", sandbox or CannedSandbox([printed("seen")])),
        task=task,
        out=out,
        address=lambda file: f"/{file}",
        queue=queue or AnswerQueue(1),
    )


def wait(chat: ChatSession) -> str:
    """The HTML of the conversation, once no question is being answered."""
    assert wait_until(lambda: not chat.state["running"])
    return "".join("".join([each["head"], *each["steps"], each["tail"]]) for each in chat.state["exchanges"])


def answers(chat: ChatSession) -> list[str | None]:
    wait(chat)
    return [each["answer"] for each in chat.state["exchanges"]]


def test_earlier_questions_stay_in_a_conversation(tmp_path: Path) -> None:
    task = a_task(CELL, "\\boxed{1}", "\\boxed{2}")
    chat = a_chat(tmp_path, task)
    chat.ask(task, "First?", [picture()])
    wait(chat)
    chat.ask(task, "Second?")
    html = wait(chat)
    assert html.index("First?") < html.index("seen") < html.index("Second?")
    assert answers(chat) == ["1", "2"]
    assert chat.title == "First?"


def test_a_question_is_seen_as_soon_as_it_is_asked(tmp_path: Path) -> None:
    task = a_task("\\boxed{1}")
    chat = a_chat(tmp_path, task)
    chat.ask(task, "First?")
    assert "First?" in chat.state["exchanges"][0]["head"]
    wait(chat)


def test_images_have_addresses_that_lead_to_their_files(tmp_path: Path) -> None:
    task = a_task("\\boxed{1}")
    chat = a_chat(tmp_path, task)
    chat.ask(task, "First?", [picture()])
    url = wait(chat).partition('src="/')[2].partition('"')[0]
    file = chat.file(url)
    assert file is not None
    assert file.read_bytes() == picture().data


@pytest.mark.parametrize(
    "path", ["../secret.png", "0/../../secret.png", "0/trajectory.jsonl", "0/x.png", "9/report.html"]
)
def test_no_other_file_has_an_address(tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.png").write_bytes(b"x")
    task = a_task("\\boxed{1}")
    chat = a_chat(tmp_path / "chat", task)
    chat.ask(task, "?")
    wait(chat)
    assert chat.file(path) is None


@pytest.mark.parametrize("name", ["report.html", "notebook.zip", "trajectory.zip"])
def test_each_question_can_be_downloaded(tmp_path: Path, name: str) -> None:
    task = a_task("\\boxed{1}")
    chat = a_chat(tmp_path, task)
    chat.ask(task, "?")
    wait(chat)
    file = chat.file(f"0/{name}")
    assert file is not None
    assert file.stat().st_size > 100


def test_a_question_that_is_asked_again_replaces_what_followed(tmp_path: Path) -> None:
    task = a_task("\\boxed{1}", "\\boxed{2}", "\\boxed{3}")
    chat = a_chat(tmp_path, task)
    chat.ask(task, "First?", [picture()])
    wait(chat)
    chat.ask(task, "Second?")
    wait(chat)
    chat.retry(task, 1)
    assert answers(chat) == ["3"]
    assert "image_clue_0" in wait(chat)


def test_an_edited_question_keeps_its_images(tmp_path: Path) -> None:
    model = Scripted(["\\boxed{1}", "\\boxed{2}"])
    task = prepare("?", model=model)
    chat = a_chat(tmp_path, task)
    chat.ask(task, "Frist?", [picture()])
    wait(chat)
    chat.ask(task, "First?", replaces=1)
    wait(chat)
    text = "".join(message.text for message in model.requests[-1])
    assert ("Frist?" in text, "First?" in text) == (False, True)
    assert len(chat.state["exchanges"]) == 1
    assert "image_clue_0" in chat.state["exchanges"][0]["head"]


def test_an_edited_cell_replaces_what_came_after_it(tmp_path: Path) -> None:
    sandbox = CannedSandbox([printed("a"), printed("b"), printed("c")])
    task = a_task(CELL, TWO, "\\boxed{1}", "\\boxed{2}", "\\boxed{3}")
    chat = a_chat(tmp_path, task, sandbox)
    chat.ask(task, "First?", [picture()])
    wait(chat)
    chat.ask(task, "Second?")
    wait(chat)
    assert chat.code_of(1) == "2"
    chat.resume(task, "3", 1)
    html = wait(chat)
    assert answers(chat) == ["3"]
    assert sandbox.cells == ["1", "2", "3"]
    assert len(chat.state["exchanges"][0]["steps"]) == 3
    assert "image_clue_0" in html
    assert chat.code_of(1) == "3"


def test_an_edited_cell_can_be_edited_again(tmp_path: Path) -> None:
    sandbox = CannedSandbox([printed("a"), printed("b"), printed("c")])
    task = a_task(CELL, "\\boxed{1}", "\\boxed{2}", "\\boxed{3}")
    chat = a_chat(tmp_path, task, sandbox)
    chat.ask(task, "?")
    wait(chat)
    for code in ("2", "3"):
        chat.resume(task, code, 0)
        wait(chat)
    assert sandbox.cells == ["1", "2", "3"]


def test_a_cell_that_is_gone_cannot_be_edited(tmp_path: Path) -> None:
    task = a_task("\\boxed{1}")
    chat = a_chat(tmp_path, task)
    with pytest.raises(ConfigError, match="can no longer be edited"):
        chat.resume(task, "1", 0)


def test_only_a_strategy_of_cells_continues_from_one(tmp_path: Path) -> None:
    chat = a_chat(tmp_path, a_task())
    with pytest.raises(ConfigError, match="choose code_loop"):
        chat.resume(prepare("?", model=Scripted([]), strategy="direct"), "1", 0)


def test_a_marked_region_is_described_by_the_name_of_its_image(tmp_path: Path) -> None:
    task = a_task("\\boxed{1}", "\\boxed{2}")
    chat = a_chat(tmp_path, task)
    chat.ask(task, "What?", [picture()], [MarkedBox(0, (1, 2, 3, 4))])
    assert "region of image_clue_0 from (1, 2) to (3, 4)" in wait(chat)
    chat.ask(
        task, "And?", [picture(9, 9)], [MarkedBox(0, (5, 6, 7, 8)), MarkedBox("image_clue_0", (0, 0, 1, 1))]
    )
    html = wait(chat)
    assert "region of image_clue_1 from (5, 6) to (7, 8)" in html
    assert "region of image_clue_0 from (0, 0) to (1, 1)" in html


class Held(CannedSandbox):
    """Cells run until they are interrupted or let go."""

    def __init__(self) -> None:
        super().__init__([printed("seen")])
        self.running, self.go = threading.Event(), threading.Event()
        self.on_run = self._hold

    def _hold(self) -> None:
        self.running.set()
        assert self.go.wait(30)

    def interrupt(self) -> None:
        self.go.set()


def test_a_second_question_waits_for_the_end_of_the_first(tmp_path: Path) -> None:
    sandbox, task = Held(), a_task(CELL, "\\boxed{1}")
    chat = a_chat(tmp_path, task, sandbox)
    chat.ask(task, "First?")
    assert sandbox.running.wait(30)
    with pytest.raises(ConfigError, match="stop it first"):
        chat.ask(task, "Second?")
    sandbox.go.set()
    assert answers(chat) == ["1"]


def test_a_stopped_question_makes_room_for_the_next(tmp_path: Path) -> None:
    sandbox, task = Held(), a_task(CELL, "\\boxed{1}")
    chat = a_chat(tmp_path, task, sandbox)
    chat.ask(task, "First?")
    assert sandbox.running.wait(30)
    chat.stop()
    chat.ask(a_task("\\boxed{2}"), "Second?")
    assert answers(chat) == [None, "2"]


def test_a_question_in_the_queue_shows_its_place(tmp_path: Path) -> None:
    queue, task = AnswerQueue(1), a_task("\\boxed{1}")
    assert queue.enter(lambda: False, lambda place: None)
    chat = a_chat(tmp_path, task, queue=queue)
    chat.ask(task, "?")
    assert wait_until(lambda: chat.state["status"] == "Number 1 in the queue")
    queue.leave()
    assert answers(chat) == ["1"]


def test_a_question_stopped_in_the_queue_can_be_asked_again(tmp_path: Path) -> None:
    queue, task = AnswerQueue(1), a_task("\\boxed{1}")
    assert queue.enter(lambda: False, lambda place: None)
    chat = a_chat(tmp_path, task, queue=queue)
    chat.ask(task, "?")
    chat.stop()
    assert "stopped before it began" in wait(chat)
    queue.leave()
    chat.retry(task, 1)
    assert answers(chat) == ["1"]


def has_place(places: list[int], number: int) -> bool:
    return places[number] == number + 1


def test_questions_leave_the_queue_in_the_order_in_which_they_came() -> None:
    queue, order = AnswerQueue(1), list[int]()
    assert queue.enter(lambda: False, lambda place: None)
    places = [0, 0, 0]

    def wait_in_line(number: int) -> None:
        assert queue.enter(lambda: False, lambda place: places.__setitem__(number, place))
        order.append(number)
        queue.leave()

    threads = [threading.Thread(target=wait_in_line, args=(number,)) for number in range(3)]
    for number, thread in enumerate(threads):
        thread.start()
        assert wait_until(partial(has_place, places, number))
    queue.leave()
    for thread in threads:
        thread.join(30)
    assert order == [0, 1, 2]


def test_a_setting_that_fails_late_is_one_line_in_the_conversation(tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.json"
    prompts.write_text('{"own": "{query}"}', encoding="utf-8")
    task = prepare("?", model=Scripted([]), options={"prompt_file": str(prompts)})
    prompts.unlink()
    chat = a_chat(tmp_path / "out", task)
    chat.ask(task, "?")
    assert "prompts.json" in wait(chat)
    chat.ask(a_task("\\boxed{1}"), "Again?")
    assert answers(chat) == [None, "1"]
