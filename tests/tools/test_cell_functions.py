"""Tools as functions of a cell: what it hands over becomes a request, what the tool gave comes back as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.agent.strategy import with_options
from pyvision.errors import ConfigError, ImageError, ToolError
from pyvision.strategies.code_loop import CodeLoop
from pyvision.tools.cell_functions import CALLS, ToolNames, format_tool, host_function, usage
from pyvision.types import Observation, ToolRequest
from tests.doubles import figure, picture, png

SEEN = Observation("seen", {"seen": True})


class RecordingUse:
    """Keeps what tools were asked, and gives the same every time."""

    def __init__(self, gives: Observation | Exception = SEEN) -> None:
        self.requests: list[tuple[str, ToolRequest]] = []
        self._gives = gives

    def __call__(self, name: str, request: ToolRequest) -> Observation:
        self.requests.append((name, request))
        if isinstance(self._gives, Exception):
            raise self._gives
        return self._gives


def request_of(name: str, *arguments: Any, **options: Any) -> ToolRequest:
    used = RecordingUse()
    host_function(used, name)(*arguments, **options)
    ((_, request),) = used.requests
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
def test_what_a_cell_hands_over_becomes_a_request(
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
        ("caption", ["photo.jpg"], {}, "an image is needed here, not a value of type str"),
        ("caption", [None], {}, "an image is needed here, not nothing"),
        ("vqa", [figure(), 3], {}, "question has to be text, not a value of type int"),
        ("match", [figure(), "cat"], {}, "texts has to be a list of texts, not a value of type str"),
        ("match", [figure(), ["cat", None]], {}, "each of texts has to be text, not nothing"),
        ("mine", ["a", "b"], {}, "more than one text"),
    ],
)
def test_arguments_that_do_not_fit_are_told_and_no_tool_is_used(
    name: str, arguments: list[Any], options: dict[str, Any], why: str
) -> None:
    used = RecordingUse()
    with pytest.raises(ToolError, match=why):
        host_function(used, name)(*arguments, **options)
    assert used.requests == []


def test_a_broken_picture_is_an_image_error() -> None:
    with pytest.raises(ImageError, match="given by the cell"):
        request_of("caption", b"no picture")


def test_the_data_comes_back_and_the_text_where_there_is_none() -> None:
    assert host_function(RecordingUse(), "caption")(figure()) == {"seen": True}
    assert host_function(RecordingUse(Observation("only text")), "caption")(figure()) == "only text"


def test_what_a_tool_cannot_do_is_an_exception_of_the_cell() -> None:
    with pytest.raises(ToolError, match="the service is down"):
        host_function(RecordingUse(Observation(error="the service is down")), "caption")(figure())


def test_a_model_is_told_how_to_call_a_tool_and_what_comes_back() -> None:
    assert usage("llm_qa") == "host.llm_qa(question, context='', long=False)"
    assert format_tool("caption", "says what it shows") == (
        'host.caption(image): says what it shows. Returns {"caption": text}.'
    )
    assert format_tool("mine", "does something") == "host.mine(*values, **options): does something."


@pytest.mark.parametrize("name", CALLS)
def test_every_tool_tells_how_it_is_called_and_what_it_gives(name: str) -> None:
    assert format_tool(name, "…").startswith(f"host.{name}(")
    assert ". Returns {" in format_tool(name, "…")


# --- the option


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ()),
        ("ocr", ("ocr",)),
        ("caption, ocr ,caption", ("caption", "ocr")),
        ("['caption', 'ocr']", ("caption", "ocr")),
        ("('caption',)", ("caption",)),
        ("()", ()),
    ],
)
def test_names_stand_between_commas(text: str, names: tuple[str, ...]) -> None:
    assert with_options(CodeLoop(), {"tools": text}).tools == names


def test_the_option_survives_being_recorded() -> None:
    chosen = with_options(CodeLoop(), {"tools": "caption,ocr"})
    recorded = {key: str(value) for key, value in asdict(chosen).items() if value is not None}
    assert with_options(CodeLoop(), recorded) == chosen


def test_a_name_that_is_none_is_told() -> None:
    with pytest.raises(ConfigError, match="'o c r' is no name of a tool"):
        with_options(CodeLoop(), {"tools": "caption,o c r"})


@given(st.text())
def test_any_text_is_names_or_a_config_error(text: str) -> None:
    try:
        names = ToolNames.parsed(text)
    except ConfigError:
        return
    assert all(name.isidentifier() for name in names)
    assert ToolNames.parsed(str(list(names))) == names
