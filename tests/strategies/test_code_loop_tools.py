"""Tools inside the cells of the code loop: told of, called from a real kernel, budgeted and recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pyvision.agent.budget import Limits
from pyvision.errors import ConfigError, ToolError
from pyvision.events import CellRun, Event, ModelCall, ToolRun
from pyvision.models.scripted import Scripted
from pyvision.solve import prepare, solve
from pyvision.types import Ask, Message, Observation, Outcome, Text, ToolRequest
from sandbox import Policy, Sandbox
from tests.doubles import png

ANSWER = "<answer>\n\\boxed{done}\n</answer>"


@dataclass
class Reader:
    """A tool `ocr` that reads the size of a picture; in a cell it is `host.ocr`."""

    name: str = "ocr"
    purpose: str = "reads the text in a picture"
    requests: list[ToolRequest] = field(default_factory=list)

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        self.requests.append(request)
        if request.picture is None or request.picture.width > 1000:
            raise ToolError("the picture is too large to read")
        size = f"{request.picture.width} x {request.picture.height}"
        return Observation(size, {"lines": [{"text": size}]})


@dataclass
class Captioner:
    """A tool `caption` that asks a model in the role of its name."""

    name: str = "caption"
    purpose: str = "says what a picture shows"

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        assert request.picture is not None
        reply = ask("caption", (Message("user", (Text("what is this?"), request.picture)),))
        return Observation(reply.text, {"caption": reply.text})


@pytest.fixture(scope="session")
def sandbox(sandbox_of: Callable[[Policy], Sandbox]) -> Sandbox:
    return sandbox_of(Policy(cell_timeout_s=20))


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.png"
    path.write_bytes(png(40, 30))
    return path


def cell(code: str) -> str:
    return f"<code>\n```python\n{code}\n```\n</code>"


def solved(
    photo: Path, sandbox: Sandbox, cells: Sequence[str], tools: dict[str, Any], **settings: Any
) -> tuple[Outcome, list[Event]]:
    model = Scripted([*map(cell, cells), ANSWER])
    options = {"tools": ",".join(tools)}
    task = prepare("What?", [photo], model=model, tools=tools, options=options, **settings)
    events: list[Event] = []
    return solve(task, events.append, sandbox), events


def results(events: Sequence[Event]) -> list[str]:
    return [event.result.text or str(event.result.error) for event in events if isinstance(event, CellRun)]


def test_a_cell_gets_the_data_of_a_tool_for_its_crop(photo: Path, sandbox: Sandbox) -> None:
    code = "lines = host.ocr(image_clue_0.crop((0, 0, 12, 9)))['lines']\nprint(lines[0]['text'])"
    outcome, events = solved(photo, sandbox, [code], {"ocr": Reader()})
    assert outcome.answer == "done"
    assert results(events) == ["12 x 9\n"]


def test_each_call_is_recorded_before_its_cell(photo: Path, sandbox: Sandbox) -> None:
    _, events = solved(photo, sandbox, ["for _ in range(2): host.ocr(image_clue_0)"], {"ocr": Reader()})
    kinds = [type(event) for event in events if isinstance(event, ToolRun | CellRun)]
    assert kinds == [ToolRun, ToolRun, CellRun]
    (used, _) = (event for event in events if isinstance(event, ToolRun))
    assert (used.tool, used.observation.text) == ("ocr", "40 x 30")


def test_what_a_tool_cannot_do_is_an_error_of_the_cell_that_the_model_reads(
    photo: Path, sandbox: Sandbox
) -> None:
    code = "host.ocr(image_clue_0.resize((2000, 10)))"
    outcome, events = solved(photo, sandbox, [code], {"ocr": Reader()})
    assert outcome.answer == "done"
    asked = [event for event in events if isinstance(event, ModelCall)]
    assert "the picture is too large to read" in asked[1].messages[-1].text


def test_the_model_learns_of_the_chosen_tools_alone(photo: Path, sandbox: Sandbox) -> None:
    _, events = solved(photo, sandbox, [], {"ocr": Reader()})
    system = next(event.messages[0].text for event in events if isinstance(event, ModelCall))
    assert "- host.ocr(image): reads the text in a picture. Returns " in system
    assert "host.caption" not in system


def test_without_the_option_the_model_hears_of_no_functions(photo: Path, sandbox: Sandbox) -> None:
    outcome, events = solved(photo, sandbox, ["print(dir(host))"], {})
    system = next(event.messages[0].text for event in events if isinstance(event, ModelCall))
    assert outcome.answer == "done"
    assert "host" not in system


def test_a_tool_asks_a_model_in_its_own_role(photo: Path, sandbox: Sandbox) -> None:
    captions = Scripted(["a white wall", "a door"], name="captions")
    code = "print(host.caption(image_clue_0)['caption'])"
    outcome, events = solved(
        photo,
        sandbox,
        [code],
        {"caption": Captioner()},
        roles={"caption": captions},
        limits=Limits(max_turns=3),
    )
    assert outcome.answer == "done"
    assert results(events) == ["a white wall\n"]
    assert [event.role for event in events if isinstance(event, ModelCall)] == ["solver", "caption", "solver"]


def test_a_budget_that_a_cell_spends_ends_the_question_though_the_cell_catches_it(
    photo: Path, sandbox: Sandbox
) -> None:
    captions = Scripted(["a"] * 9, name="captions")
    code = "for _ in range(9):\n    try:\n        host.caption(image_clue_0)\n    except Exception:\n        pass"
    outcome, _ = solved(
        photo,
        sandbox,
        [code],
        {"caption": Captioner()},
        roles={"caption": captions},
        limits=Limits(max_uses=2),
    )
    assert (outcome.answer, outcome.end_reason) == (None, "tool_limit")
    assert len(captions.requests) == 2


def test_an_unknown_tool_is_reported_before_anything_starts(photo: Path) -> None:
    with pytest.raises(
        ConfigError, match="no provider is set for the tool 'crystal_ball'; choose one: --tool crystal_ball="
    ):
        prepare("What?", [photo], model=Scripted([ANSWER]), options={"tools": "crystal_ball"})
