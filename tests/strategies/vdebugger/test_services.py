"""What a program asks of the host is answered by tools, and checked on its way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pyvision.agent.budget import Limits
from pyvision.agent.episode import Episode
from pyvision.errors import ToolError
from pyvision.runs.replay.rerun import RecordedTools
from pyvision.strategies.vdebugger.execution import Services
from pyvision.types import Ask, Observation, Question, Tool, ToolRequest
from tests.doubles import CannedSandbox, figure


class Gives:
    """A tool with a canned observation."""

    purpose = "gives"

    def __init__(self, name: str, data: Any) -> None:
        self.name = name
        self.data = data
        self.requests: list[ToolRequest] = []

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        self.requests.append(request)
        return Observation(data=self.data)


def services(tool: Tool) -> Services:
    return Services(
        Episode(Question("?"), {}, Limits(), CannedSandbox(), lambda event: None, tools={tool.name: tool})
    )


def box(left: float, top: float, right: float, bottom: float, score: float) -> dict[str, float]:
    return {"left": left, "top": top, "right": right, "bottom": bottom, "score": score}


def test_boxes_are_turned_to_the_bottom_left_the_surest_first() -> None:
    tool = Gives("detect", {"boxes": [box(1, 2, 3, 4, 0.2), box(5, 6, 7, 8, 0.9)]})
    assert services(tool).find(figure(40, 30), "cup") == [[5, 22, 7, 24, 0.9], [1, 26, 3, 28, 0.2]]
    assert tool.requests[0].text == "cup"
    assert tool.requests[0].picture is not None


def test_a_language_model_gets_the_options_of_its_query() -> None:
    tool = Gives("llm_qa", {"answer": "Paris"})
    assert services(tool).llm_query("Which city?", "France", long_answer=False) == "Paris"
    assert tool.requests[0].options == {"context": "France", "long": False}


ODD: dict[str, tuple[str, Any]] = {
    "nothing": ("detect", None),
    "another key": ("vqa", {"text": "a"}),
    "half a box": ("detect", {"boxes": [{"left": 1}]}),
    "no boxes": ("detect", {"boxes": 3}),
    "a box of words": ("detect", {"boxes": [box("a", 1, 2, 3, 4)]}),  # type: ignore[arg-type]
    "too few scores": ("match", {"scores": [1.0]}),
    "no depth": ("depth", {"depth": []}),
}


@pytest.mark.parametrize("kind", ODD)
def test_what_a_tool_gives_in_another_form_is_an_error_of_the_service(kind: str) -> None:
    tool, data = ODD[kind]
    asked = services(Gives(tool, data))
    calls: dict[str, Callable[[], object]] = {
        "detect": lambda: asked.find(figure(), "cup"),
        "vqa": lambda: asked.simple_query(figure(), "what?"),
        "match": lambda: asked.match(figure(), ["a", "b"]),
        "depth": lambda: asked.depth(figure()),
    }
    with pytest.raises(ToolError, match=f"^{tool}: "):
        calls[tool]()


@pytest.mark.parametrize("image", [None, "a picture", 3, [figure()]])
def test_what_is_no_image_is_refused(image: Any) -> None:
    with pytest.raises(ToolError, match="an image was expected, not a "):
        services(Gives("detect", {"boxes": []})).find(image, "cup")


def test_what_a_record_no_longer_holds_is_an_error_of_the_service() -> None:
    asked = Services(RecordedTools([]))
    for _ in range(2):
        with pytest.raises(ToolError, match="detect: the recording has no further call"):
            asked.find(figure(), "cup")
