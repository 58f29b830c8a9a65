"""Tools as functions of a cell: arguments become a request, and the data of the tool comes back as plain values."""

from __future__ import annotations

from typing import Any

import pytest

from pyvision.errors import ImageError, ToolError
from pyvision.tools.cell_functions import CALLS, format_tool, host_function, usage
from pyvision.types import Observation, ToolRequest
from tests.doubles import figure, picture, png

SEEN = Observation("seen", {"seen": True})


class RecordingCall:
    """Records the requests, and returns the same observation every time."""

    def __init__(self, result: Observation | Exception = SEEN) -> None:
        self.requests: list[tuple[str, ToolRequest]] = []
        self._result = result

    def __call__(self, name: str, request: ToolRequest) -> Observation:
        self.requests.append((name, request))
        if isinstance(self._result, Exception):
            raise self._result
        return self._result


def request_of(name: str, *arguments: Any, **options: Any) -> ToolRequest:
    call_tool = RecordingCall()
    host_function(call_tool, name)(*arguments, **options)
    ((_, request),) = call_tool.requests
    return request


IMAGE = picture(40, 30, "red")


@pytest.mark.parametrize(
    ("name", "arguments", "options", "request_"),
    [
        ("caption", [figure()], {}, ToolRequest(picture=IMAGE)),
        ("vqa", [figure(), "why?"], {}, ToolRequest("why?", IMAGE)),
        ("vqa", [], {"question": "why?", "image": figure()}, ToolRequest("why?", IMAGE)),
        ("detect", [figure()], {}, ToolRequest("", IMAGE)),
        ("detect", [figure(), "cat"], {}, ToolRequest("cat", IMAGE)),
        ("match", [figure(), ["a", "b"]], {}, ToolRequest("", IMAGE, {"texts": ["a", "b"]})),
        ("llm_qa", ["when?"], {}, ToolRequest("when?", None, {"context": "", "long": False})),
        (
            "llm_qa",
            ["when?", "a text"],
            {"long": True},
            ToolRequest("when?", None, {"context": "a text", "long": True}),
        ),
        ("ocr", [png(40, 30, "red")], {}, ToolRequest(picture=IMAGE)),
        ("document", ["owls"], {}, ToolRequest("owls")),
        ("web_search", ["owls"], {}, ToolRequest("owls")),
        ("mine", ["owls", figure()], {"size": 3}, ToolRequest("owls", IMAGE, {"size": 3})),
    ],
)
def test_the_arguments_of_a_cell_become_a_request(
    name: str, arguments: list[Any], options: dict[str, Any], request_: ToolRequest
) -> None:
    assert request_of(name, *arguments, **options) == request_


@pytest.mark.parametrize(
    ("name", "arguments", "options", "why"),
    [
        (
            "vqa",
            [figure()],
            {},
            r"missing a required argument: 'question'; call it as host\.vqa\(image, question\)",
        ),
        ("caption", [figure(), "x"], {}, r"too many positional arguments; call it as host\.caption\(image\)"),
        ("ocr", [figure()], {"lang": "de"}, r"unexpected keyword argument 'lang'"),
        ("caption", ["photo.jpg"], {}, "expected an image, not a value of type str"),
        ("caption", [None], {}, "expected an image, not None"),
        ("vqa", [figure(), 3], {}, "question must be text, not a value of type int"),
        ("match", [figure(), "cat"], {}, "texts must be a list of texts, not a value of type str"),
        ("match", [figure(), ["cat", None]], {}, "each item of texts must be text, not None"),
        ("mine", ["a", "b"], {}, "more than one text"),
    ],
)
def test_wrong_arguments_raise_before_the_tool_is_called(
    name: str, arguments: list[Any], options: dict[str, Any], why: str
) -> None:
    call_tool = RecordingCall()
    with pytest.raises(ToolError, match=why):
        host_function(call_tool, name)(*arguments, **options)
    assert call_tool.requests == []


def test_a_broken_image_is_an_image_error() -> None:
    with pytest.raises(ImageError, match="given by the cell"):
        request_of("caption", b"no picture")


def test_a_function_returns_the_data_or_else_the_text() -> None:
    assert host_function(RecordingCall(), "caption")(figure()) == {"seen": True}
    assert host_function(RecordingCall(Observation("only text")), "caption")(figure()) == "only text"


def test_the_error_of_a_tool_is_an_exception_in_the_cell() -> None:
    with pytest.raises(ToolError, match="the service is down"):
        host_function(RecordingCall(Observation(error="the service is down")), "caption")(figure())


def test_a_prompt_line_says_how_to_call_a_tool() -> None:
    assert usage("llm_qa") == "host.llm_qa(question, context='', long=False)"
    assert format_tool("caption", "says what it shows") == (
        'host.caption(image): says what it shows. Returns {"caption": text}.'
    )
    assert format_tool("mine", "does something") == "host.mine(*values, **options): does something."


@pytest.mark.parametrize("name", CALLS)
def test_every_tool_has_a_prompt_line_with_its_result(name: str) -> None:
    assert format_tool(name, "…").startswith(f"host.{name}(")
    assert ". Returns {" in format_tool(name, "…")
