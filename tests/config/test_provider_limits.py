"""Each row of the table at its boundary, as a conversation meets it."""

from __future__ import annotations

import json

import pytest

from pyvision.agent.context import ContextWindow, Request
from pyvision.config.files import data_folder
from pyvision.config.model_config import ModelConfig
from pyvision.config.provider_limits import EndpointLimits, limits_for
from pyvision.types import Message, Part, Picture, Text
from tests.doubles import picture
from tests.pictures import encoded, noise

ROWS = sorted(json.loads((data_folder("api_configs") / "limits.json").read_bytes()))
SMALL = picture()


def row(name: str) -> EndpointLimits:
    table = json.loads((data_folder("api_configs") / "limits.json").read_bytes())
    return EndpointLimits(**table[name])


def talk_of(count: int, each: Picture = SMALL) -> tuple[Message, ...]:
    """Figures of earlier turns, one a turn."""
    return tuple(Message("user", figure_parts(number, each)) for number in range(count))


def figure_parts(number: int, each: Picture) -> tuple[Part, ...]:
    name = f"image_clue_{number}"
    return (Text(f"<{name}>\n"), each, Text(f"\n</{name}>\n"))


def packed(limits: EndpointLimits, messages: tuple[Message, ...]) -> Request:
    return ContextWindow(limits, originals=()).pack(messages)


@pytest.mark.parametrize("name", ROWS)
def test_every_row_says_where_its_numbers_stand(name: str) -> None:
    assert len(row(name).source) > 40


@pytest.mark.parametrize("name", [*ROWS, None])
def test_as_many_pictures_as_the_row_says_go_out_and_one_more_does_not(name: str | None) -> None:
    limits = row(name) if name else EndpointLimits()
    assert len(packed(limits, talk_of(limits.pictures)).sent) == limits.pictures
    request = packed(limits, talk_of(limits.pictures + 1))
    assert len(request.sent) == limits.pictures // 2
    assert request.evicted[0] == "image_clue_0"


@pytest.mark.parametrize("name", [*ROWS, None])
def test_no_side_and_no_file_goes_out_larger_than_the_row_says(name: str | None) -> None:
    limits = row(name) if name else EndpointLimits()
    heavy = Picture(encoded(noise(1400, 1000), "PNG"), "image/png", 1400, 1000)
    for each in (picture(limits.side_px + 1, 90), heavy):
        (message,) = packed(limits, talk_of(1, each)).messages
        (sent,) = (part for part in message.parts if isinstance(part, Picture))
        assert sent.width <= limits.side_px
        assert -(-len(sent.data) // 3) * 4 <= limits.picture_bytes


@pytest.mark.parametrize("name", [*ROWS, None])
def test_no_request_goes_out_with_more_bytes_than_the_row_says(name: str | None) -> None:
    limits = row(name) if name else EndpointLimits()
    text = Message("user", (Text("x" * (limits.request_bytes * 95 // 100 - 3_000)),))
    assert len(packed(limits, (*talk_of(4), text)).sent) == 4
    longer = Message("user", (Text("x" * (limits.request_bytes * 95 // 100 - 1_500)),))
    request = packed(limits, (*talk_of(4), longer))
    assert len(request.sent) < 4
    assert request.size_bytes <= limits.request_bytes


def test_the_twenty_first_picture_meets_no_rule_and_changes_none_before_it() -> None:
    limits = row("anthropic")
    assert (limits.many, limits.many_side_px) == (20, 2000)
    context_window, messages = ContextWindow(limits, originals=()), talk_of(21, picture(2100, 40))
    twenty, more = context_window.pack(messages[:20]), context_window.pack(messages)
    assert {sent.width for sent in more.sent} == {2000}
    assert more.messages[:20] == twenty.messages


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (ModelConfig("openai", model="m"), "openai"),
        (ModelConfig("openai", model="m", base_url="https://mine.openai.azure.com/openai/v1"), "openai"),
        (ModelConfig("openai", model="m", base_url="https://api.anthropic.com/v1"), "anthropic"),
    ],
)
def test_a_known_host_has_its_row(config: ModelConfig, name: str) -> None:
    assert limits_for(config) == row(name)


@pytest.mark.parametrize(
    "config",
    [
        ModelConfig("openai", model="m", base_url="http://127.0.0.1:8000/v1"),
        ModelConfig("openai", model="m", base_url="https://api.openai.com.example.org/v1"),
        ModelConfig("offline"),
    ],
)
def test_an_unknown_endpoint_is_taken_to_accept_what_all_accept(config: ModelConfig) -> None:
    assert limits_for(config) == EndpointLimits()


def test_what_all_accept_is_within_every_row() -> None:
    least = EndpointLimits()
    for name in ROWS:
        limits = row(name)
        assert least.pictures <= limits.pictures
        assert least.picture_bytes <= limits.picture_bytes
        assert least.request_bytes <= limits.request_bytes
