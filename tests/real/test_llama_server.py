"""llama-server with the tiny model: both protocols, with the figure in the result of a call and after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pyvision.config.model_config import ModelConfig
from pyvision.events import ModelCall
from tests.real.conversation import COLOURS
from tests.real.test_transformers import check, converse

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]


def configured(address: str, **settings: Any) -> ModelConfig:
    return ModelConfig("openai", "model", address, max_tokens=200, temperature=0.0, retry_s=5.0, **settings)


@pytest.mark.parametrize("colour", COLOURS)
def test_it_answers_from_the_figure_in_text(colour: str, llama_server: str, tmp_path: Path) -> None:
    check(converse(tmp_path, colour, configured(llama_server)), colour)


@pytest.mark.parametrize("place", ["in_result", "after_result"])
@pytest.mark.parametrize("colour", COLOURS)
def test_it_answers_from_the_figure_of_a_tool_call(
    colour: str, place: Any, llama_server: str, tmp_path: Path
) -> None:
    config = configured(llama_server, image_placement=place)
    events = converse(tmp_path, colour, config, protocol="tools")
    check(events, colour)
    first, last = (event for event in events if isinstance(event, ModelCall))
    assert [call.name for call in first.reply.calls] == ["run_python"]
    assert [sent.place for sent in last.sent] == ["turn", place]
