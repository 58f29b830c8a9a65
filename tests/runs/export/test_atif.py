"""ATIF 1.6 by the rules of harbor's RFC 0001 and the models built on it: field names, types, references, numbering."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict

from pyvision import types
from pyvision.events import CellRun, Event, ModelCall, ToolRun
from pyvision.runs.export import export
from sandbox import CellResult, Stream
from tests.doubles import picture
from tests.runs.runs import eventful_events, recorded, simple_events, tool_events


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ImageSource(Strict):
    media_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"]
    path: str


class ContentPart(Strict):
    type: Literal["text", "image"]
    text: str | None = None
    source: ImageSource | None = None


class ToolCall(Strict):
    tool_call_id: str
    function_name: str
    arguments: dict[str, Any]


class Result(Strict):
    source_call_id: str | None = None
    content: str | list[ContentPart] | None = None


class Observation(Strict):
    results: list[Result]


class Metrics(Strict):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    logprobs: list[float] | None = None
    prompt_token_ids: list[int] | None = None
    completion_token_ids: list[int] | None = None
    extra: dict[str, Any] | None = None


class Step(Strict):
    step_id: int
    source: Literal["system", "user", "agent"]
    message: str | list[ContentPart]
    model_name: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[ToolCall] | None = None
    observation: Observation | None = None
    metrics: Metrics | None = None
    extra: dict[str, Any] | None = None


class Agent(Strict):
    name: str
    version: str
    model_name: str | None = None


class FinalMetrics(Strict):
    total_prompt_tokens: int | None = None
    total_completion_tokens: int | None = None
    total_cached_tokens: int | None = None
    total_cost_usd: float | None = None
    total_steps: int
    extra: dict[str, Any] | None = None


class Trajectory(Strict):
    schema_version: Literal["ATIF-v1.6"]
    session_id: str
    agent: Agent
    steps: list[Step]
    final_metrics: FinalMetrics | None = None
    extra: dict[str, Any] | None = None


def exported(folder: Path, events: tuple[Event, ...]) -> tuple[Path, Trajectory]:
    path = export(recorded(folder / "run", events), "atif", folder / "out")
    return path.parent, Trajectory.model_validate(json.loads(path.read_text()))


@pytest.mark.parametrize(
    "events", [simple_events(), eventful_events(), tool_events()], ids=["simple", "eventful", "tool"]
)
def test_it_keeps_to_the_schema(tmp_path: Path, events: tuple[Event, ...]) -> None:
    folder, trajectory = exported(tmp_path, events)
    assert [step.step_id for step in trajectory.steps] == list(range(1, len(trajectory.steps) + 1))
    for step in trajectory.steps:
        calls = {call.tool_call_id for call in step.tool_calls or []}
        results = step.observation.results if step.observation else []
        assert {result.source_call_id for result in results} == calls
        assert step.source == "agent" or not (
            calls or step.metrics or step.reasoning_content or step.model_name
        )
        for content in [step.message, *(result.content for result in results)]:
            for part in content if isinstance(content, list) else []:
                assert (part.text is None) == (part.type == "image")
                assert part.source is None or (folder / part.source.path).is_file()


def test_an_interpreter_turn_is_no_step(tmp_path: Path) -> None:
    _, trajectory = exported(tmp_path, simple_events())
    assert [step.source for step in trajectory.steps] == ["system", "user", "agent", "agent"]


def test_an_interpreter_turn_is_the_observation_of_its_cell(tmp_path: Path) -> None:
    _, trajectory = exported(tmp_path, simple_events())
    observation = trajectory.steps[2].observation
    assert observation is not None
    content = observation.results[0].content
    assert isinstance(content, list)
    assert [part.type for part in content] == ["text", "image"]


def test_a_model_call_by_a_tool_is_a_step_that_says_so(tmp_path: Path) -> None:
    _, trajectory = exported(tmp_path, tool_events())
    (step,) = (step for step in trajectory.steps if step.extra and step.extra.get("for_tool"))
    assert (step.message, step.tool_calls) == ("It is **grey**.", None)


def test_token_ids_are_exported_where_the_endpoint_gave_them(tmp_path: Path) -> None:
    began, asked, *rest = simple_events()
    assert isinstance(asked, ModelCall)
    with_ids = replace(asked, reply=replace(asked.reply, prompt_ids=(1, 2), token_ids=(7,)))
    _, trajectory = exported(tmp_path, (began, with_ids, *rest))
    first, last = (step.metrics for step in trajectory.steps if step.metrics)
    assert (first.prompt_token_ids, first.completion_token_ids) == ([1, 2], [7])
    assert (last.prompt_token_ids, last.completion_token_ids) == (None, None)


@pytest.mark.parametrize(("key", "value"), [("end_reason", "turn_limit"), ("fault", "limit")])
def test_it_says_how_the_run_ended(tmp_path: Path, key: str, value: str) -> None:
    _, trajectory = exported(tmp_path, eventful_events())
    assert trajectory.extra is not None
    assert trajectory.extra[key] == value


def test_a_cell_that_failed_says_so_in_its_observation(tmp_path: Path) -> None:
    _, trajectory = exported(tmp_path, eventful_events())
    results = [str(step.observation.results[0].content) for step in trajectory.steps if step.observation]
    assert any("[error] NameError: name 'x' is not defined" in text for text in results)
    assert any("[timeout]" in text for text in results)


def test_cells_before_any_reply_are_a_step_of_the_agent(tmp_path: Path) -> None:
    began, *rest = simple_events()
    ran = CellRun("1", CellResult("ok", (Stream("result", "1"),)))
    _, trajectory = exported(tmp_path, (began, ran, *rest))
    assert trajectory.steps[0].source == "agent"
    assert trajectory.steps[0].tool_calls is not None


def called(folder: Path, calls: tuple[types.ToolCall, ...]) -> list[tuple[str, dict[str, Any]]]:
    """What the export has of a reply with these calls, after which one cell ran."""
    began, asked, *rest = simple_events()
    assert isinstance(asked, ModelCall)
    _, trajectory = exported(folder, (began, replace(asked, reply=replace(asked.reply, calls=calls)), *rest))
    return [(c.function_name, c.arguments) for step in trajectory.steps for c in step.tool_calls or ()]


def test_a_call_before_the_cell_is_not_taken_for_it(tmp_path: Path) -> None:
    ran = next(event for event in simple_events() if isinstance(event, CellRun))
    search = types.ToolCall("a", "web_search", '{"query": NaN}')
    run = types.ToolCall("b", "run_python", json.dumps({"code": ran.code}))
    assert called(tmp_path, (search, run)) == [
        ("web_search", {"query": "NaN"}),
        ("python", {"code": ran.code}),
    ]


@pytest.mark.parametrize("arguments", ['{"code": "x', "[1]", "", "x = 1"])
def test_arguments_that_are_no_object_are_exported_as_text(tmp_path: Path, arguments: str) -> None:
    ran = next(event for event in simple_events() if isinstance(event, CellRun))
    run = types.ToolCall("b", "run_python", json.dumps({"code": ran.code}))
    (_, cell), (name, given) = called(tmp_path, (run, types.ToolCall("a", "look", arguments)))
    assert cell == {"code": ran.code}
    assert (name, given) == ("look", {"input": arguments})


def test_a_tool_that_the_strategy_used_is_a_call_with_its_observation(tmp_path: Path) -> None:
    began, asked, *rest = simple_events()
    used = ToolRun(
        "vqa", types.ToolRequest("which bird?", picture(), {"count": 1}), types.Observation("a crow"), 0.5
    )
    folder, trajectory = exported(tmp_path, (began, asked, *rest[:-1], used, rest[-1]))
    step = trajectory.steps[-1]
    assert step.tool_calls
    assert step.observation
    call, result = step.tool_calls[-1], step.observation.results[-1]
    assert (call.function_name, result.content) == ("vqa", "a crow")
    assert call.arguments.keys() == {"text", "image", "count"}
    assert (folder / call.arguments["image"]).read_bytes() == picture().data


def test_a_tool_that_a_cell_used_is_part_of_the_cell(tmp_path: Path) -> None:
    events = list(simple_events())
    at = next(at for at, event in enumerate(events) if isinstance(event, CellRun))
    used = ToolRun("vqa", types.ToolRequest("which bird?"), types.Observation("a crow"), 0.5)
    _, trajectory = exported(tmp_path, (*events[:at], used, *events[at:]))
    names = {call.function_name for step in trajectory.steps for call in step.tool_calls or ()}
    assert names == {"python"}
