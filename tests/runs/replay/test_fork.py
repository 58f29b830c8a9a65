from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from pyvision.errors import ConfigError
from pyvision.events import CellRun, Event, ImageDefined, ModelCall, RunStarted
from pyvision.models.scripted import Scripted
from pyvision.runs.replay.fork import (
    Fork,
    fork_task,
    limits_of,
    options_of,
    policy_of,
    read_replies,
    read_tools,
    replace_code,
    tools_of,
    with_figures,
)
from pyvision.runs.run import Run
from pyvision.solve import solve
from pyvision.strategies.avis import Avis
from pyvision.text.replies import find_code
from pyvision.types import Question
from sandbox import CellResult, Stream
from tests.doubles import CannedSandbox, figure, picture
from tests.runs.runs import CODE, CONFIG, recorded, simple_events, tool_events

ANSWER = "<answer>\n\\boxed{7}\n</answer>"


def first_reply() -> ModelCall:
    asked = simple_events()[1]
    assert isinstance(asked, ModelCall)
    return asked


def test_the_edited_cell_is_in_the_reply_in_place_of_the_old_one() -> None:
    reply = replace_code(first_reply(), "print('new')")
    assert reply.text.startswith("I look closer.")
    assert find_code(reply.text) == "print('new')"


@settings(max_examples=40, deadline=None)
@given(
    some.lists(
        some.sampled_from(["x = 1", "", "    y", "```", "</code>", "'''", "# é", "\\boxed{3}"]), max_size=6
    )
)
def test_any_text_for_a_cell_is_run_as_it_is_or_refused(lines: list[str]) -> None:
    code = "\n".join(lines)
    try:
        reply = replace_code(first_reply(), code)
    except ConfigError:
        return
    assert (find_code(reply.text) or "").rstrip() == code.strip("\n").rstrip()


@pytest.mark.parametrize("turn", [0, 3, -1])
def test_a_turn_that_is_not_there_is_refused(tmp_path: Path, turn: int) -> None:
    with pytest.raises(ConfigError, match="has turns 1 to 2"):
        read_replies(recorded(tmp_path, simple_events()), Fork(turn))


def test_replies_to_tools_before_a_turn_are_replayed_too(tmp_path: Path) -> None:
    replies = read_replies(recorded(tmp_path, tool_events()), Fork(2))
    assert [reply.text for reply in replies][1:] == ["It is **grey**."]


def forked(
    folder: Path, fork: Fork, replies: list[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[list[Event], CannedSandbox]:
    """What happened when a run was gone on from by a model with these replies."""
    model, sandbox = Scripted(replies), CannedSandbox([CellResult("ok", (Stream("stdout", "now\n"),))])
    monkeypatch.setattr("pyvision.models.factory.build", lambda _: model)
    events: list[Event] = []
    solve(fork_task(recorded(folder, simple_events()), fork, model="offline"), events.append, sandbox)
    return events, sandbox


def test_an_edited_cell_runs_in_place_of_the_recorded_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, sandbox = forked(tmp_path, Fork(1, "print('new')"), [ANSWER], monkeypatch)
    assert sandbox.cells == ["print('new')"]


def test_the_model_continues_after_the_edited_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events, _ = forked(tmp_path, Fork(1, "print('new')"), [ANSWER], monkeypatch)
    asked = [event for event in events if isinstance(event, ModelCall)]
    assert [each.reply.text for each in asked] == [replace_code(first_reply(), "print('new')").text, ANSWER]


def test_the_model_sees_the_output_of_the_edited_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events, _ = forked(tmp_path, Fork(1, "print('new')"), [ANSWER], monkeypatch)
    asked = [event for event in events if isinstance(event, ModelCall)]
    assert "now" in asked[1].messages[-1].text


def test_without_an_edit_the_model_is_asked_at_the_turn_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events, sandbox = forked(tmp_path, Fork(2), [ANSWER], monkeypatch)
    assert sandbox.cells == [CODE]
    assert [event.code for event in events if isinstance(event, CellRun)] == [CODE]


def solve_with_another_figure(folder: Path) -> tuple[list[Event], CannedSandbox, Scripted]:
    """A run continued from its second turn with an image of 33 x 44 pixels in place of its figure."""
    run = recorded(folder, simple_events())
    fork = Fork(2, figures={"image_clue_1": picture(33, 44)})
    task = fork_task(run, fork, model="offline")
    model = Scripted([first_reply().reply.text, ANSWER])
    sandbox = CannedSandbox([CellResult("ok", (figure(),))])
    events: list[Event] = []
    solve(replace(task, models={"default": model}), events.append, with_figures(run, fork, sandbox))
    return events, sandbox, model


def test_another_figure_is_recorded_under_the_same_name(tmp_path: Path) -> None:
    events, _, _ = solve_with_another_figure(tmp_path)
    defined = [(event.name, event.picture.width) for event in events if isinstance(event, ImageDefined)]
    assert defined == [("image_clue_1", 33)]


def test_another_figure_is_seen_by_the_kernel(tmp_path: Path) -> None:
    _, sandbox, _ = solve_with_another_figure(tmp_path)
    assert sandbox.images["image_clue_1"] == picture(33, 44).data


def test_another_figure_is_seen_by_the_model(tmp_path: Path) -> None:
    _, _, model = solve_with_another_figure(tmp_path)
    assert picture(33, 44) in model.requests[1][-1].parts


def test_recorded_replies_cost_nothing_again(tmp_path: Path) -> None:
    run = recorded(tmp_path, simple_events())
    task = fork_task(run, Fork(2), model="offline")
    assert task.models["default"].complete((), None).usage.total == 0  # type: ignore[arg-type]  # it is not looked at


@pytest.fixture
def run_with_a_policy(tmp_path: Path) -> Run:
    """A run whose record asks for another interpreter without isolation."""
    policy = {"isolation": "none", "python": "/evil", "cell_timeout_s": 7, "unknown": 1}
    return recorded(tmp_path, simple_events(), {**CONFIG, "policy": policy})


def test_the_recorded_limits_hold(run_with_a_policy: Run) -> None:
    assert policy_of(run_with_a_policy).cell_timeout_s == 7
    assert limits_of(run_with_a_policy).max_turns == 20


def test_the_record_does_not_decide_where_cells_run(run_with_a_policy: Run) -> None:
    policy = policy_of(run_with_a_policy)
    assert (policy.isolation, policy.python) == ("auto", None)


def test_the_recorded_options_of_the_strategy_hold(run_with_a_policy: Run) -> None:
    assert options_of(run_with_a_policy) == {"repairs": "3"}


TOOLS = {
    "caption": "offline",  # the usual one beside the offline model
    "ocr": "tesseract:deu",
    "document": "index:/mine.sqlite",
    "vqa": "Captioner",  # an object of a program
    "radar": "magic",
}


def walked(folder: Path, tools: Mapping[str, str] = TOOLS) -> Run:
    config = {"model": {"wire": "offline"}, "tools": tools}
    return recorded(
        folder, [RunStarted(Question("?"), "avis", {"default": "offline"}), *simple_events()[1:]], config
    )


def test_only_the_tools_that_were_chosen_are_taken_over(tmp_path: Path) -> None:
    assert tools_of(walked(tmp_path)) == {"ocr": "tesseract:deu", "document": "index:/mine.sqlite"}


def test_what_is_usual_beside_a_model_is_chosen_beside_the_offline_one(tmp_path: Path) -> None:
    config = {"model": {"wire": "openai"}, "tools": {"detect": "offline", "caption": "model"}}
    assert tools_of(recorded(tmp_path, simple_events(), config)) == {"detect": "offline"}


def test_the_tools_of_the_fork_stand_over_those_on_record(tmp_path: Path) -> None:
    fork = Fork(1, tools={"document": "index:/other.sqlite"})
    assert read_tools(walked(tmp_path), fork) == {"ocr": "tesseract:deu"}


def test_a_search_continues_with_the_recorded_tools(tmp_path: Path) -> None:
    (tmp_path / "mine.sqlite").touch()
    tools = {"document": f"index:{tmp_path}/mine.sqlite"}
    task = fork_task(walked(tmp_path, tools), Fork(1), model="offline")
    assert task.config.tools["document"] == tools["document"]


@pytest.mark.parametrize(("recorded_as", "saves"), [({}, False), ({"saves_calls": True}, True)])
def test_a_search_continues_as_the_release_that_recorded_it(
    tmp_path: Path, recorded_as: dict[str, object], *, saves: bool
) -> None:
    events = [RunStarted(Question("?"), "avis", {"default": "offline"}), *simple_events()[1:]]
    run = recorded(tmp_path, events, {"model": {"wire": "offline"}, "options": recorded_as})
    assert fork_task(run, Fork(1), model="offline").strategy == Avis(saves_calls=saves)


def test_a_tool_that_the_fork_no_longer_has_is_left_aside(tmp_path: Path) -> None:
    config = {**CONFIG, "options": {"tools": "ocr"}, "tools": {"ocr": "tesseract"}}
    run = recorded(tmp_path, simple_events(), config)
    assert read_tools(run, Fork(1)) == {"ocr": "tesseract"}
    assert read_tools(run, Fork(1, settings={"tools": "caption"})) == {}


def test_a_network_of_the_hub_is_loaded_only_when_its_user_says_so(tmp_path: Path) -> None:
    run = walked(tmp_path, {"detect": "hf:their/network", "vqa": f"hf:{tmp_path}"})
    with pytest.raises(
        ConfigError, match="'their/network'; pass --tool detect=hf:their/network to allow it, or"
    ):
        read_tools(run, Fork(1))
    assert read_tools(run, Fork(1, tools={"detect": "hf:their/network"})) == {"vqa": f"hf:{tmp_path}"}


@pytest.mark.parametrize("policy", [[1], {"memory_bytes": "much"}])
def test_the_error_about_invalid_settings_names_them(tmp_path: Path, policy: object) -> None:
    with pytest.raises(ConfigError, match=r"config\.json: policy"):
        policy_of(recorded(tmp_path, simple_events(), {"policy": policy}))


def test_a_fork_has_the_images_under_the_names_of_their_files(tmp_path: Path) -> None:
    began = simple_events()[0]
    assert isinstance(began, RunStarted)
    (first, *rest) = began.question.images
    question = replace(began.question, images=(replace(first, file_name="lake.png"), *rest))
    run = recorded(tmp_path / "run", (replace(began, question=question), *simple_events()[1:]))
    task = fork_task(run, Fork(1), model="offline")
    assert task.question.images[0].file_name == "lake.png"
