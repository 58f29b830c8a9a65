"""Two full turns with a real model: it asks for a cell, sees the figure, and says what only the figure shows."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import pyvision
from pyvision.config.model_config import ModelConfig
from pyvision.events import ImageDefined, ModelCall, RunEnded
from pyvision.models.factory import ResolvedModel, build, endpoint_limits
from pyvision.types import Message, Sampling, Text
from tests.real.conversation import COLOURS, QUESTION, photo, prompt_file
from tests.real.forward import Forward
from tests.servers.server import ModelServer
from tests.servers.wires import WIRES, configured

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]


def converse(folder: Path, colour: str, config: ModelConfig, *, protocol: str = "text") -> list[Any]:
    """The events of one question, asked of a model behind this configuration in this protocol."""
    is_text = protocol == "text"
    settings = {"prompt_file": str(prompt_file(folder))} if is_text else {"protocol": protocol}
    with closing(build(config)) as model:
        resolved: Any = ResolvedModel(model, {"name": model.name}, accepts=endpoint_limits(config, None))
        return list(pyvision.stream(QUESTION, [photo(folder, colour)], model=resolved, options=settings))


def check(events: list[Any], colour: str) -> None:
    ended = events[-1]
    assert isinstance(ended, RunEnded)
    assert (ended.outcome.answer, ended.turns, ended.cells) == (colour, 2, 1), ended.outcome
    assert [event.name for event in events if isinstance(event, ImageDefined)] == ["image_clue_1"]


@pytest.mark.parametrize("colour", COLOURS)
def test_transformers_serve_answers_from_the_figure(
    colour: str, transformers_serve: str, tmp_path: Path
) -> None:
    config = ModelConfig("openai", model="model", base_url=transformers_serve, max_tokens=200, retry_s=5.0)
    events = converse(tmp_path, colour, config)
    check(events, colour)
    assert all(event.reply.text for event in events if isinstance(event, ModelCall))


@pytest.mark.parametrize("place", ["in_result", "after_result"])
@pytest.mark.parametrize("colour", COLOURS)
def test_transformers_serve_answers_from_the_figure_of_a_tool_call(
    colour: str, place: Any, transformers_serve: str, tmp_path: Path
) -> None:
    config = ModelConfig(
        "openai", "model", transformers_serve, max_tokens=200, retry_s=5.0, image_placement=place
    )
    events = converse(tmp_path, colour, config, protocol="tools")
    check(events, colour)
    first, last = (event for event in events if isinstance(event, ModelCall))
    assert [call.name for call in first.reply.calls] == ["run_python"]
    assert [sent.place for sent in last.sent] == ["turn", place]


@pytest.mark.parametrize("wire", list(WIRES))
@pytest.mark.parametrize("colour", COLOURS)
def test_every_wire_carries_the_same_conversation(
    wire: str, colour: str, transformers_serve: str, tmp_path: Path
) -> None:
    """A server of our own speaks the wire, Anthropic's too, and asks the real model for each reply."""
    with ModelServer(Forward(transformers_serve, "model")) as proxy:
        events = converse(tmp_path, colour, configured(wire, proxy, max_tokens=200, retry_s=5.0))
        figures = [len(request.pictures) for request in proxy.requests]
    check(events, colour)
    assert figures == [1, 2]


def test_a_connection_that_is_closed_in_mid_stream_leaves_the_server_well(transformers_serve: str) -> None:
    """The loop closes a stream as soon as it has its cell."""
    config = ModelConfig("openai", model="model", base_url=transformers_serve, max_tokens=200, retry_s=5.0)
    hello = (Message("user", (Text(QUESTION),)),)
    model: Any = build(config)
    for _ in range(3):
        pieces = model.stream(hello, Sampling())
        next(pieces)
        pieces.close()
    assert model.complete(hello, Sampling()).text
    model.close()
