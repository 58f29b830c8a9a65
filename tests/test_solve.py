from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

import pyvision
from pyvision.agent.budget import Limits
from pyvision.agent.strategy import Strategy
from pyvision.agent.task import Task
from pyvision.config.endpoints import EndpointLimits
from pyvision.errors import ConfigError, EndReason, ImageError, ModelError
from pyvision.events import CellRun, Event, ModelCall, ReplyRestarted, RunEnded, RunStarted, TextDelta
from pyvision.models.factory import ResolvedModel
from pyvision.models.scripted import Scripted
from pyvision.solve import prepare, solve
from pyvision.strategies.code_loop import CodeLoop
from pyvision.trajectory import read_trajectory
from pyvision.types import Answer, Model, Question, Reply, Usage
from sandbox import CellResult, IsolationError
from tests.doubles import CannedSandbox, picture, png

ANSWER = "<answer>\\boxed{7}</answer>"


def a_task(replies: list[str | Exception], strategy: Strategy | None = None, max_turns: int = 20) -> Task:
    models: dict[str, Model] = {"default": Scripted(replies)}
    return Task(
        Question("How many?", (picture(),)), strategy or CodeLoop(), models, Limits(max_turns=max_turns)
    )


def recorded(events: Iterable[Event]) -> tuple[Event, ...]:
    """Without those that only pass by."""
    return tuple(event for event in events if not isinstance(event, TextDelta | ReplyRestarted))


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.png"
    path.write_bytes(png())
    return path


def test_a_run_is_recorded_from_its_start_to_its_end() -> None:
    events: list[Event] = []
    outcome = solve(a_task([ANSWER]), events.append, CannedSandbox())
    assert outcome.answer == "7"
    assert [type(event) for event in recorded(events)] == [RunStarted, ModelCall, RunEnded]
    assert isinstance(events[-1], RunEnded)
    assert events[-1].outcome == outcome


@pytest.mark.parametrize(
    ("replies", "max_turns", "reason"),
    [
        (["<code>\n```python\n1\n```\n"], 1, "turn_limit"),
        ([ModelError("no route to the endpoint")], 20, "model_error"),
        (["Hm."] * 9, 20, "no_answer"),
    ],
)
def test_what_keeps_a_model_from_answering_is_the_end_reason(
    replies: list[str | Exception], max_turns: int, reason: EndReason
) -> None:
    outcome = solve(
        a_task(replies, max_turns=max_turns), lambda event: None, CannedSandbox([CellResult("ok")])
    )
    assert (outcome.answer, outcome.end_reason) == (None, reason)
    assert outcome.error


class NoRoom:
    """A sandbox on a machine without isolation."""

    def warm_up(self) -> None:
        raise IsolationError("bubblewrap is missing; apt install bubblewrap")

    def open(self, images: object) -> CannedSandbox:
        raise AssertionError("it was told before")


def test_a_machine_without_isolation_ends_as_sandbox_error_before_a_model_is_asked() -> None:
    events: list[Event] = []
    outcome = solve(a_task(["<code>\n```python\n1\n```\n"]), events.append, NoRoom())
    assert outcome.end_reason == "sandbox_error"
    assert not [event for event in events if isinstance(event, ModelCall)]
    assert outcome.error == "bubblewrap is missing; apt install bubblewrap"


class Broken:
    """A strategy with a bug."""

    roles = ()
    tools = ()
    needs = ()
    continues = False
    runs_code = False

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def solve(self, question: Question, episode: object) -> Answer:
        raise self.error("broken")


@pytest.mark.parametrize(
    ("error", "reason"), [(ZeroDivisionError, "error"), (KeyboardInterrupt, "interrupted")]
)
def test_a_bug_or_an_interrupt_is_recorded_before_it_is_raised(
    error: type[BaseException], reason: str
) -> None:
    events: list[Event] = []
    with pytest.raises(error):
        solve(a_task([], Broken(error)), events.append, CannedSandbox())
    assert isinstance(events[-1], RunEnded)
    assert events[-1].outcome.end_reason == reason


def test_the_kernel_is_closed_however_the_question_ends() -> None:
    sandbox = CannedSandbox([CellResult("ok")])
    solve(a_task(["<code>\n```python\n1\n```\n", ANSWER]), lambda event: None, sandbox)
    assert (sandbox.opened, sandbox.closed) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"text": "  "}, "--question"),
        ({"text": "?", "strategy": "magic"}, "code_loop, direct"),
        ({"text": "?", "options": {"depth": "3"}}, "repairs"),
        ({"text": "?", "options": {"repairs": "many"}}, "repairs"),
        ({"text": "?", "model": "nonesuch"}, "offline"),
        ({"text": "?", "roles": {"critic": "offline"}}, "unknown role 'critic'.*solver"),
        ({"text": "?", "roles": {"solver": "nonesuch"}}, "offline"),
    ],
)
def test_what_cannot_be_used_is_one_line_that_names_the_way_out(
    arguments: dict[str, object], expected: str
) -> None:
    with pytest.raises(ConfigError, match=expected) as caught:
        prepare(**arguments)  # type: ignore[arg-type]  # the table holds texts and one dictionary
    assert "\n" not in str(caught.value)


class Closing(Scripted):
    """Counts how often it was closed."""

    closed = 0

    def close(self) -> None:
        self.closed += 1


def task_of(model: Closing) -> Task:
    """A task whose model was built for it."""
    return Task(
        Question("?", (picture(),)),
        CodeLoop(),
        {"default": model},
        resolved_models=(ResolvedModel(model, {}, is_ours=True),),
    )


@pytest.mark.parametrize(("options", "offered"), [({}, ("detect", "ocr")), ({"tools": "ocr"}, ("ocr",))])
def test_cells_may_call_the_tools_whose_provider_was_chosen(
    options: dict[str, str], offered: tuple[str, ...]
) -> None:
    chosen = dict.fromkeys(offered, "offline")
    with prepare("?", model="offline", tools=chosen, options=options) as task:
        assert tuple(task.tools) == offered


def test_models_that_were_built_for_a_task_are_closed_with_it() -> None:
    model = Closing([])
    with task_of(model):
        assert model.closed == 0
    assert model.closed == 1


def test_answering_a_task_leaves_its_models_open() -> None:
    model = Closing([ANSWER])
    solve(task_of(model), lambda event: None, CannedSandbox())
    assert model.closed == 0


def test_a_model_of_the_callers_stays_open(photo: Path) -> None:
    model = Closing([ANSWER])
    pyvision.answer("How many?", [photo], model=model)
    assert model.closed == 0


def test_prepare_owns_what_it_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    assert [resolved.is_ours for resolved in prepare("?", model="openai").resolved_models] == [True]


def test_prepare_knows_what_the_endpoint_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # no profile of the doctor's is there
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    assert prepare("?", model="openai").accepts["default"].pictures == 500
    assert replace(prepare("?", model="offline").accepts["default"], reads=None) == EndpointLimits()


def test_a_role_is_played_by_a_model_of_its_own(photo: Path) -> None:
    common, own = Scripted([]), Scripted([ANSWER], name="own")
    task = prepare("How many?", [photo], model=common, roles={"solver": own}, strategy="direct")
    assert solve(task, lambda event: None, CannedSandbox()).answer == "7"
    assert (len(common.requests), len(own.requests)) == (0, 1)
    assert task.config.roles == {"solver": {"name": "own"}}


PRICES = json.dumps({"script*": {"input": 1.0, "cached": 0.1, "output": 4.0}})


def test_prepare_accepts_a_strategy_object_with_options(photo: Path) -> None:
    task = prepare(
        "?", [photo], strategy=CodeLoop(repairs=1), options={"output_chars": "100"}, model="offline"
    )

    assert task.strategy == CodeLoop(repairs=1, output_chars=100)
    assert task.strategy_name == "CodeLoop"


def ended_by_its_cost(photo: Path, tmp_path: Path) -> RunEnded:
    """A run of replies that cost 0.95 each, with a limit of 1.5."""
    (tmp_path / "prices.json").write_text(PRICES, encoding="utf-8")
    dear = Reply("<code>\n```python\n1\n```\n", Usage(1_000_000, 100_000, 500_000))
    task = prepare(
        "?",
        [photo],
        model=Scripted([dear] * 9),
        prices=tmp_path / "prices.json",
        limits=Limits(max_tokens=None, max_cost=1.5),
    )
    events: list[Event] = []
    solve(task, events.append, CannedSandbox([CellResult("ok")]))
    assert isinstance(events[-1], RunEnded)
    return events[-1]


def test_the_cost_of_a_run_is_counted_by_the_users_prices(photo: Path, tmp_path: Path) -> None:
    assert ended_by_its_cost(photo, tmp_path).cost == pytest.approx(2 * 0.95)


def test_the_cost_of_a_run_is_limited_by_the_users_prices(photo: Path, tmp_path: Path) -> None:
    outcome = ended_by_its_cost(photo, tmp_path).outcome
    assert (outcome.answer, outcome.end_reason) == (None, "cost_limit")


def test_the_environment_names_a_price_table_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "prices.json").write_text(PRICES, encoding="utf-8")
    monkeypatch.setenv("PYVISION_PRICES", str(tmp_path / "prices.json"))
    assert prepare("?", model=Scripted([])).prices["scripted"].output == 4.0


def test_a_limit_on_the_cost_needs_the_price_of_the_model() -> None:
    with pytest.raises(ConfigError, match=r"price of 'scripted'.*--prices"):
        prepare("?", model=Scripted([]), limits=Limits(max_cost=1.0))


def test_a_missing_image_is_refused_before_a_model_is_asked(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"nowhere\.png"):
        prepare("?", [tmp_path / "nowhere.png"], model="offline")


def test_answer_keeps_the_run_in_a_folder(photo: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    outcome = pyvision.answer("How many?", [photo], model=Scripted([ANSWER]), out=out)
    assert outcome.answer == "7"
    assert json.loads((out / "summary.json").read_text(encoding="utf-8"))["answer"] == "7"


def test_answer_without_a_folder_writes_nothing(
    photo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert pyvision.answer("How many?", [photo], model=Scripted([ANSWER])).answer == "7"
    assert list(here.iterdir()) == []


def test_stream_gives_the_events_of_a_run(photo: Path) -> None:
    events = pyvision.stream("How many?", [photo], model=Scripted([ANSWER]))
    assert [type(event) for event in recorded(events)] == [RunStarted, ModelCall, RunEnded]


def test_a_stream_can_be_kept_in_a_folder(photo: Path, tmp_path: Path) -> None:
    events = tuple(pyvision.stream("How many?", [photo], model=Scripted([ANSWER]), out=tmp_path / "run"))
    assert read_trajectory(tmp_path / "run").events == recorded(events)


def test_closing_a_stream_ends_the_running_cell(photo: Path) -> None:
    endless = Scripted(["<code>\n```python\nwhile True: pass\n```\n"])
    events = pyvision.stream("How many?", [photo], model=endless)
    for event in events:
        if isinstance(event, ModelCall):
            break
    events.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ThreadPoolExecutor")]


def test_a_bug_in_a_stream_reaches_the_reader(photo: Path) -> None:
    class Rude(Scripted):
        def complete(self, messages: object, sampling: object) -> Reply:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(pyvision.stream("How many?", [photo], model=Rude([])))


def test_a_scripted_run_in_a_real_kernel_reads_the_picture(photo: Path) -> None:
    look = "<code>\n```python\nprint(image_clue_0.size)\n```\n"
    events = list(pyvision.stream("How wide?", [photo], model=Scripted([look, ANSWER])))
    (ran,) = (event for event in events if isinstance(event, CellRun))
    assert ran.result.text == "(40, 30)\n"


def test_a_cell_finds_an_image_under_the_name_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "lake.png").write_bytes(png())
    replies = ["<code>\n```python\nprint(Image.open('lake.png').size)\n```\n</code>", "\\boxed{1}"]
    task = prepare("?", [tmp_path / "lake.png"], model=Scripted(replies))
    events: list[Event] = []
    solve(task, events.append)
    (ran,) = (event for event in events if isinstance(event, CellRun))
    assert ran.result.text == "(40, 30)\n"


def test_the_prompt_names_what_cells_can_import(tmp_path: Path) -> None:
    model = Scripted(["\\boxed{1}"])
    solve(prepare("?", model=model), lambda event: None)
    assert "np, plt, Image, numpy, PIL, matplotlib" in model.requests[0][0].text
