"""A run with native tool calls is replayed, exported, reported and resumed like any other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pyvision.agent.episode import Sandbox as AnySandbox
from pyvision.conversation import Conversation
from pyvision.events import CellRun, Event, ModelCall, Note, RunEnded
from pyvision.runs.export import export
from pyvision.runs.export.messages import read_messages
from pyvision.runs.export.training import verl_rows
from pyvision.runs.replay import Fork, fork_task, rerun
from pyvision.runs.report import report
from pyvision.runs.run import Run, read_run
from pyvision.solve import configure, open_recorder, prepare, solve
from pyvision.types import Outcome
from sandbox import CellError, CellResult
from tests.doubles import CannedSandbox, figure, picture, printed
from tests.runs.export.test_atif import Trajectory
from tests.servers.conversation import Brain, ServedCall, ServedReply, WireName
from tests.servers.conversations import CONVERSATIONS, Actor, DrawingSandbox, Plot
from tests.servers.server import ModelServer
from tests.servers.strict import Strictness
from tests.servers.wires import WIRES, address_of

PLOT = Plot(
    3, ("plain", "parallel", "unknown tool"), ("1234", None, None), reasons=True, in_results=None, busy=()
)
ANSWER = "<answer>\\boxed{1234}</answer>"
CELLS = ("cell(0)", "cell(1)", "more()")
OTHER: dict[WireName, WireName] = dict(
    zip(CONVERSATIONS, (*CONVERSATIONS[1:], CONVERSATIONS[0]), strict=True)
)


def configuration(folder: Path, wire: WireName, server: ModelServer) -> Path:
    path = folder / f"{wire}.json"
    path.write_text(json.dumps({"wire": WIRES[wire], "model": "m", "base_url": address_of(wire, server)}))
    return path


def record(
    folder: Path,
    wire: WireName,
    brain: Brain | Sequence[ServedReply],
    sandbox: AnySandbox,
) -> Run:
    """A run over a wire, recorded in the folder `run`."""
    strict = Strictness()
    with ModelServer(brain, strict=strict) as server:
        config = configuration(folder, wire, server)
        settings: dict[str, Any] = {"config": config, "options": {"protocol": "tools"}}
        with (
            prepare("Which numbers are in the figures?", picture(), **settings) as task,
            open_recorder(task, folder / "run") as keep,
        ):
            outcome = solve(task, keep, sandbox)
    assert outcome.answer is not None, (outcome, strict.rejected)
    return read_run(folder / "run")


def recorded(folder: Path, wire: WireName = "messages") -> Run:
    """A run with a figure, parallel calls, a failed cell and a call of an unknown tool."""
    return record(folder, wire, Actor(PLOT, "tools", wire), DrawingSandbox(PLOT))


def resumed(folder: Path, run: Run, fork: Fork, wire: WireName) -> tuple[Outcome, list[Event], list[str]]:
    """The run, resumed over a wire: how it ended, what happened, and what the server rejected."""
    strict, events = Strictness(), list[Event]()
    with (
        ModelServer([ANSWER], strict=strict) as server,
        fork_task(run, fork, config=configuration(folder, wire, server)) as task,
    ):
        outcome = solve(task, events.append, DrawingSandbox(PLOT))
    return outcome, events, strict.rejected


@pytest.mark.usefixtures("needs_isolation")
def test_its_cells_show_the_same_again(tmp_path: Path) -> None:
    codes = ("display(image_clue_0.crop((0, 0, 9, 9)))", "print(image_clue_1.size)", "1 / 0")
    first, second, third = (
        ServedCall(f"call_{at}", json.dumps({"code": code})) for at, code in enumerate(codes)
    )
    replies = [
        ServedReply("", reasoning="hm", calls=(first,)),
        ServedReply("", calls=(second, third)),
        ServedReply("<answer>\\boxed{7}</answer>"),
    ]
    error = CellError("ZeroDivisionError", "division by zero", 1)
    results = (
        CellResult("ok", (figure(9, 9, "white"),)),
        printed("(9, 9)\n"),
        CellResult("error", error=error),
    )
    again = list(rerun(record(tmp_path, "messages", replies, CannedSandbox(results))))
    assert [(each.turn, each.cell, each.difference) for each in again] == [
        (1, 1, None),
        (2, 2, None),
        (2, 3, None),
    ]


@pytest.mark.parametrize("wire", CONVERSATIONS)
def test_it_resumes_over_another_wire_with_a_note_that_sealed_parts_were_dropped(
    tmp_path: Path, wire: WireName
) -> None:
    outcome, events, rejected = resumed(tmp_path, recorded(tmp_path, wire), Fork(4), OTHER[wire])
    notes = [event.data for event in events if isinstance(event, Note) and event.label == "opaque_dropped"]
    assert (outcome.answer, rejected, len(notes)) == ("1234", [], 1)
    assert notes[0]["sources"] == [f"{WIRES[wire]}:m"]


@pytest.mark.parametrize("wire", CONVERSATIONS)
def test_it_resumes_over_its_own_wire_with_all_sealed_parts(tmp_path: Path, wire: WireName) -> None:
    run = recorded(tmp_path, wire)
    outcome, events, rejected = resumed(tmp_path, run, Fork(4), wire)
    last = [event for event in events if isinstance(event, ModelCall)][-1]
    sealed = [message.opaque for message in last.messages if message.role == "assistant"]
    assert (outcome.answer, rejected) == ("1234", [])
    assert sealed == [turn.asked.reply.opaque for turn in run.turns[:3] if turn.asked]


def test_a_chat_continues_it_over_another_wire(tmp_path: Path) -> None:
    strict, earlier = Strictness(), recorded(tmp_path, "responses").events
    with (
        ModelServer([ANSWER], strict=strict) as server,
        configure(config=configuration(tmp_path, "gemini", server), options={"protocol": "tools"}) as task,
    ):
        chat = Conversation(task, DrawingSandbox(PLOT))
        chat.restore(earlier)
        events = list(chat.ask("And now?"))
        chat.close()
    labels = [event.label for event in events if isinstance(event, Note)]
    ended = [event.outcome.answer for event in events if isinstance(event, RunEnded)]
    assert (ended, strict.rejected, labels) == (["1234"], [], ["opaque_dropped"])


def test_a_cell_of_it_can_be_replaced(tmp_path: Path) -> None:
    run = recorded(tmp_path)
    outcome, events, rejected = resumed(tmp_path, run, Fork(2, "cell(2)"), "messages")
    assert [event.code for event in events if isinstance(event, CellRun)] == ["cell(0)", "cell(2)"]
    assert (outcome.answer, rejected) == ("1234", [])


@pytest.mark.parametrize("wire", CONVERSATIONS)
def test_its_events_are_restored_from_exported_messages(tmp_path: Path, wire: WireName) -> None:
    run = recorded(tmp_path, wire)
    path = export(run, "messages", tmp_path / "out")
    assert read_messages(path.parent) == run.events
    (row,) = [json.loads(line) for line in path.read_text().splitlines()]
    called = [call["id"] for message in row["messages"] for call in message.get("tool_calls", ())]
    answered = [message["tool_call_id"] for message in row["messages"] if message["role"] == "tool"]
    assert len(called) == 4
    assert called == answered


def test_its_notebook_holds_every_cell(tmp_path: Path) -> None:
    notebook = json.loads(export(recorded(tmp_path), "ipynb", tmp_path / "out").read_text())
    code = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [source for source in code if source in CELLS] == list(CELLS)


@pytest.mark.parametrize("form", ["sharegpt", "swift", "verl", "pyvision"])
def test_training_data_has_it_in_the_text_protocol(tmp_path: Path, form: str) -> None:
    conversation = training_turns(recorded(tmp_path), form, tmp_path / "out")
    said = "".join(text for role, text in conversation if role == "assistant")
    assert [f"```python\n{code}\n```" in said for code in CELLS] == [True] * 3
    assert sum(text.count("<interpreter>\n") for _, text in conversation) == 4
    assert {role for role, _ in conversation} <= {"system", "user", "assistant"}


def atif(tmp_path: Path) -> Trajectory:
    path = export(recorded(tmp_path), "atif", tmp_path / "out")
    return Trajectory.model_validate(json.loads(path.read_text()))


def test_its_cells_are_calls_of_atif(tmp_path: Path) -> None:
    calls = [call for step in atif(tmp_path).steps for call in step.tool_calls or ()]
    assert [call.arguments["code"] for call in calls if call.function_name == "python"] == list(CELLS)


def test_a_call_that_ran_no_cell_is_in_atif_with_what_the_model_was_sent_for_it(tmp_path: Path) -> None:
    (step,) = [
        step
        for step in atif(tmp_path).steps
        for call in step.tool_calls or ()
        if call.function_name != "python"
    ]
    assert step.tool_calls
    assert step.observation
    (call,), (result,) = step.tool_calls, step.observation.results
    assert (call.function_name, call.arguments) == ("web_search", {"query": "cats"})
    assert result.source_call_id == call.tool_call_id
    assert "run_python" in str(result.content)


def test_its_report_shows_every_cell(tmp_path: Path) -> None:
    page = report(recorded(tmp_path))
    assert all(code.partition("(")[0] in page for code in CELLS)
    assert "seal-3" not in page


def training_turns(run: Run, form: str, folder: Path) -> list[tuple[str, str]]:
    """Role and text of each message of the only row."""
    if form == "verl":
        (row,) = verl_rows(run)
        return [(message["role"], message["content"]) for message in row["messages"]]
    text = export(run, form, folder).read_text()
    if form == "pyvision":
        return [(m["role"], "".join(p.get("text", "") for p in m["content"])) for m in json.loads(text)]
    if form == "swift":
        (line,) = text.splitlines()
        return [(message["role"], message["content"]) for message in json.loads(line)["messages"]]
    (row,) = json.loads(text)
    roles = {"human": "user", "gpt": "assistant"}
    return [(roles[turn["from"]], turn["value"]) for turn in row["conversations"]]
