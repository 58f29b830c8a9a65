from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pyvision.agent.task import Task
from pyvision.conversation import Conversation, _SharedSession
from pyvision.errors import ConfigError
from pyvision.events import CellRun, Event, ImageDefined, ModelCall, RunEnded, RunStarted
from pyvision.models.scripted import Scripted
from pyvision.solve import prepare
from pyvision.trajectory import read_trajectory
from pyvision.types import Answer, Message, Question, Reply, Restart, Sampling
from sandbox import CellResult, HostFunction, Policy, Sandbox, View
from tests.doubles import CannedSandbox, figure, picture, printed


def cell(code: str) -> str:
    return f"<code>\n```python\n{code}\n```\n</code>"


def boxed(answer: object) -> str:
    return f"<answer>\n\\boxed{{{answer}}}\n</answer>"


def a_task(*replies: str | Reply | Exception, **settings: Any) -> Task:
    return prepare("?", model=Scripted(replies), **settings)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Policy(cell_timeout_s=20, interrupt_grace_s=15)) as sandbox:
        yield sandbox


def end_of(events: Sequence[Event]) -> RunEnded:
    (end,) = (event for event in events if isinstance(event, RunEnded))
    return end


def results(events: Sequence[Event]) -> list[CellResult]:
    return [event.result for event in events if isinstance(event, CellRun)]


def test_a_second_question_finds_what_the_first_left_behind(sandbox: Sandbox) -> None:
    task = a_task(
        cell("found = image_clue_0.size"), boxed(1), cell("print(found, image_clue_1.size)"), boxed(2)
    )
    conversation = Conversation(task, sandbox)
    first = list(conversation.ask("How large?", [picture(40, 30)]))
    second = list(conversation.ask("And this?", [picture(7, 5)]))
    conversation.close()
    assert (end_of(first).outcome.answer, end_of(second).outcome.answer) == ("1", "2")
    assert results(second)[0].text == "(40, 30) (7, 5)\n"


def test_a_conversation_continues_where_it_ended() -> None:
    task = a_task(cell("1"), boxed(1), boxed(2))
    conversation = Conversation(task, CannedSandbox([printed("seen")]))
    first = list(conversation.ask("How large?", [picture()]))
    second = list(conversation.ask("What colour?"))
    last_of_first = [event for event in first if isinstance(event, ModelCall)][-1].messages
    (asked,) = (event for event in second if isinstance(event, ModelCall))
    assert asked.messages[: len(last_of_first)] == last_of_first
    assert [message.role for message in asked.messages[-2:]] == ["assistant", "user"]
    assert "What colour?" in asked.messages[-1].text


def test_a_new_picture_takes_the_next_free_name() -> None:
    sandbox = CannedSandbox([CellResult("ok", (figure(),))])
    conversation = Conversation(a_task(cell("1"), boxed(1), cell("2"), boxed(2)), sandbox)
    list(conversation.ask("?", [picture()]))
    second = list(conversation.ask("?", [picture(9, 9)]))
    assert [event.name for event in second if isinstance(event, ImageDefined)] == ["image_clue_3"]
    assert sorted(sandbox.images) == [f"image_clue_{k}" for k in range(4)]


class Announcing:
    """A sandbox with a session whose cells can say, by `host.begun()`, how far they are."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self.on_begun: Callable[[], None] = lambda: None

    def warm_up(self) -> None:
        self._sandbox.warm_up()

    def open(self, images: Mapping[str, bytes]) -> Announcing:
        self._session = self._sandbox.open(images)
        return self

    def run(
        self,
        code: str,
        *,
        trace: bool = False,
        functions: Mapping[str, HostFunction] | None = None,
        on_output: Callable[[str], None] | None = None,
    ) -> CellResult:
        return self._session.run(code, trace=trace, functions={"begun": self.on_begun}, on_output=on_output)

    def define(self, images: Mapping[str, bytes], views: Mapping[str, View] | None = None) -> None:
        self._session.define(images, views)

    def interrupt(self) -> None:
        self._session.interrupt()

    def close(self) -> None:
        self._session.close()


SLEEP = "print('seen', flush=True); host.begun(); import time; time.sleep(60)"


def test_a_stopped_cell_leaves_the_kernel_its_variables(sandbox: Sandbox) -> None:
    announcing = Announcing(sandbox)
    conversation = Conversation(
        a_task(cell("kept = 5"), cell(SLEEP), cell("print(kept)"), boxed(2)), announcing
    )
    announcing.on_begun = threading.Thread(target=conversation.stop).start
    assert end_of(list(conversation.ask("?"))).outcome.end_reason == "interrupted"
    assert results(list(conversation.ask("?")))[0].text == "5\n"
    conversation.close()


def test_what_a_stopped_cell_has_put_out_is_recorded(sandbox: Sandbox) -> None:
    announcing = Announcing(sandbox)
    conversation = Conversation(a_task(cell(SLEEP)), announcing)
    announcing.on_begun = threading.Thread(target=conversation.stop).start
    events = list(conversation.ask("?"))
    conversation.close()
    (result,) = results(events)
    assert result.text == "seen\n"
    assert end_of(events).outcome.error == "stopped while waiting for a cell"


class Interruptible(CannedSandbox):
    """Counts how often its session was interrupted."""

    interrupts = 0

    def interrupt(self) -> None:
        self.interrupts += 1


def test_an_episode_that_ends_late_interrupts_no_cell_of_the_next_question() -> None:
    sandbox = Interruptible()
    rest = _SharedSession(sandbox)
    earlier, now = rest.open({}), rest.open({})
    earlier.close()
    assert sandbox.interrupts == 0
    now.close()
    assert sandbox.interrupts == 1


class Hanging(Scripted):
    """Says nothing until it is let go."""

    def __init__(self) -> None:
        super().__init__([boxed(1)])
        self.go = threading.Event()

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Restart | Reply]:
        self.go.wait(60)
        yield from super().stream(messages, sampling)


def test_a_model_that_hangs_does_not_keep_a_stopped_question_alive() -> None:
    model = Hanging()
    conversation = Conversation(prepare("?", model=model), CannedSandbox())
    events: list[Event] = []
    for event in conversation.ask("?"):
        events.append(event)
        if isinstance(event, RunStarted):
            conversation.stop()
    assert end_of(events).outcome.end_reason == "interrupted"
    conversation.task = a_task(boxed(2))
    assert end_of(list(conversation.ask("And now?"))).outcome.answer == "2"
    model.go.set()


def test_a_question_is_resumed_with_an_edited_cell() -> None:
    sandbox = CannedSandbox([printed("a"), printed("b"), printed("c")])
    model = Scripted([cell("a = 1"), cell("b = 22"), boxed(1), boxed(2)])
    conversation = Conversation(prepare("?", model=model), sandbox)
    list(conversation.ask("How many?"))
    assert conversation.cells == ("a = 1", "b = 22")
    events = list(conversation.go_on("c = 3", cell=0))
    assert end_of(events).outcome.answer == "2"
    assert sandbox.cells == ["a = 1", "b = 22", "c = 3"]
    messages = "".join(message.text for message in model.requests[-1])
    assert "c = 3" in messages
    assert "b = 22" not in messages


def test_there_must_be_a_cell_to_go_on_from() -> None:
    with pytest.raises(ConfigError, match="no such cell"):
        list(Conversation(a_task(), CannedSandbox()).go_on("1"))


class Blank:
    """A strategy that reads no conversation."""

    roles = ()
    tools = ()
    needs = ()
    continues = False
    runs_code = False

    def __init__(self, solve: Callable[[Question], Answer]) -> None:
        self._solve = solve

    def solve(self, question: Question, episode: object) -> Answer:
        return self._solve(question)


def test_a_strategy_without_history_gets_every_image_again() -> None:
    seen: list[Question] = []

    def look(question: Question) -> Answer:
        seen.append(question)
        return Answer("yes")

    task = Task(Question("?"), Blank(look), {"default": Scripted([])})
    conversation = Conversation(task, CannedSandbox())
    list(conversation.ask("one", [picture()]))
    list(conversation.ask("two", [picture(9, 9)]))
    assert [image.width for image in seen[1].images] == [40, 9]
    assert seen[1].named_images[0][0] == "image_clue_0"


def test_a_bug_is_raised_where_it_was_asked() -> None:
    task = Task(Question("?"), Blank(lambda question: Answer(str(1 // 0))), {"default": Scripted([])})
    events: list[Event] = []
    with pytest.raises(ZeroDivisionError):
        events.extend(Conversation(task, CannedSandbox()).ask("?"))


def test_each_question_is_kept_in_a_folder_of_its_own(tmp_path: Path) -> None:
    conversation = Conversation(a_task(boxed(1), boxed(2)), CannedSandbox(), tmp_path)
    list(conversation.ask("one"))
    list(conversation.ask("two"))
    assert [read_trajectory(run).events[0].question.text for run in conversation.runs] == ["one", "two"]  # type: ignore[union-attr]


def test_a_closed_conversation_starts_no_kernel() -> None:
    sandbox = CannedSandbox([printed("")])
    conversation = Conversation(a_task(cell("1")), sandbox)
    conversation.close()
    assert end_of(list(conversation.ask("?"))).outcome.end_reason == "sandbox_error"
    assert sandbox.opened == 0


def test_a_question_that_is_asked_again_continues_what_came_before_it() -> None:
    model = Scripted([boxed(1), boxed(2), boxed(3)])
    conversation = Conversation(prepare("?", model=model), CannedSandbox())
    list(conversation.ask("First?", [picture()]))
    list(conversation.ask("Second?", [picture(9, 9)]))
    conversation.rewind(1)
    list(conversation.ask("Third?"))
    messages = "".join(message.text for message in model.requests[-1])
    assert ("First?" in messages, "Second?" in messages, "Third?" in messages) == (True, False, True)


def test_images_of_a_question_that_was_forgotten_are_named_again() -> None:
    conversation = Conversation(
        a_task(boxed(1), cell("1"), boxed(2)), sandbox := CannedSandbox([printed("")])
    )
    list(conversation.ask("?", [picture()]))
    conversation.rewind(0)
    list(conversation.ask("?", [picture(9, 9)]))
    assert list(sandbox.images) == ["image_clue_0"]


def test_an_edited_cell_of_an_earlier_question_forgets_the_later_ones() -> None:
    model = Scripted([cell("a = 1"), boxed(1), boxed(2), boxed(3), boxed(4)])
    conversation = Conversation(prepare("?", model=model), CannedSandbox([printed("a"), printed("b")]))
    list(conversation.ask("First?"))
    list(conversation.ask("Second?"))
    list(conversation.go_on("c = 3", cell=0))
    conversation.rewind(0)
    with pytest.raises(IndexError):
        conversation.rewind(1)


def test_a_kernel_that_is_started_again_gets_all_images() -> None:
    sandbox = CannedSandbox([CellResult("ok", (figure(),)), printed("")])
    conversation = Conversation(a_task(cell("1"), boxed(1), cell("2"), boxed(2)), sandbox)
    list(conversation.ask("?", [picture()]))
    conversation.release()
    sandbox.images.clear()
    list(conversation.ask("?", [picture(9, 9)]))
    assert sandbox.opened == 2
    assert sorted(sandbox.images) == ["image_clue_0", "image_clue_1", "image_clue_2"]


def test_a_strategy_without_history_leaves_the_conversation_unchanged() -> None:
    model = Scripted([boxed(1), boxed(2)])
    conversation = Conversation(prepare("?", model=model), CannedSandbox())
    list(conversation.ask("First?"))
    good, conversation.task = (
        conversation.task,
        Task(Question("?"), Blank(lambda question: Answer("yes")), {"default": Scripted([])}),
    )
    list(conversation.ask("Other?"))
    conversation.task = good
    list(conversation.ask("Second?"))
    assert "First?" in "".join(message.text for message in model.requests[-1])


def test_a_restored_conversation_runs_its_cells_with_all_images() -> None:
    first = Conversation(a_task(cell("kept = 1"), boxed(1)), CannedSandbox([CellResult("ok", (figure(),))]))
    recorded = list(first.ask("First?", (picture(),)))
    sandbox = CannedSandbox([printed("")])
    Conversation(a_task(), sandbox).restore(recorded)
    assert (sandbox.cells, sorted(sandbox.images)) == (["kept = 1"], ["image_clue_0", "image_clue_1"])


def test_a_restored_conversation_continues_its_messages() -> None:
    recorded = list(Conversation(a_task(boxed(1)), CannedSandbox()).ask("First?", (picture(),)))
    model = Scripted([boxed(2)])
    conversation = Conversation(prepare("?", model=model), CannedSandbox())
    conversation.restore(recorded)
    list(conversation.ask("Second?"))
    assert [("First?" in m.text, "Second?" in m.text) for m in model.requests[0] if m.role == "user"] == [
        (True, False),
        (False, True),
    ]
