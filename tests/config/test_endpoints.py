"""Each row of the table at its boundary, as a conversation meets it."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from pyvision.agent.context import ContextWindow, PackedRequest
from pyvision.config.endpoints import (
    EndpointLimits,
    Profile,
    apply_profile,
    endpoint_of,
    limits_for,
    read_profile,
    write_profile,
)
from pyvision.config.files import data_folder
from pyvision.config.model_config import ModelConfig
from pyvision.types import Message, Part, Picture, Text
from tests.doubles import picture
from tests.pictures import encoded, noise

ROWS = sorted(json.loads((data_folder("api_configs") / "limits.json").read_bytes()))
SMALL = picture()


def row(name: str) -> EndpointLimits:
    table = json.loads((data_folder("api_configs") / "limits.json").read_bytes())
    return EndpointLimits(**table[name])


def conversation_of(count: int, each: Picture = SMALL) -> tuple[Message, ...]:
    """Figures of earlier turns, one a turn."""
    return tuple(Message("user", figure_parts(number, each)) for number in range(count))


def figure_parts(number: int, each: Picture) -> tuple[Part, ...]:
    name = f"image_clue_{number}"
    return (Text(f"<{name}>\n"), each, Text(f"\n</{name}>\n"))


def packed(limits: EndpointLimits, messages: tuple[Message, ...]) -> PackedRequest:
    return ContextWindow(limits, originals=()).pack(messages)


@pytest.mark.parametrize("name", ROWS)
def test_every_row_says_where_its_numbers_stand(name: str) -> None:
    assert len(row(name).source) > 40


def limits_named(name: str | None) -> EndpointLimits:
    """The row of this name, or the limits of an unknown endpoint."""
    return row(name) if name else EndpointLimits()


@pytest.mark.parametrize("name", [*ROWS, None])
def test_as_many_images_as_the_row_allows_are_sent(name: str | None) -> None:
    limits = limits_named(name)
    assert len(packed(limits, conversation_of(limits.pictures)).sent) == limits.pictures


@pytest.mark.parametrize("name", [*ROWS, None])
def test_one_image_more_evicts_the_older_half(name: str | None) -> None:
    limits = limits_named(name)
    request = packed(limits, conversation_of(limits.pictures + 1))
    assert len(request.sent) == limits.pictures // 2
    assert request.evicted[0] == "image_clue_0"


@cache
def send_one(limits: EndpointLimits, each: Picture) -> Picture:
    """The image as it is sent."""
    (message,) = packed(limits, conversation_of(1, each)).messages
    (sent,) = (part for part in message.parts if isinstance(part, Picture))
    return sent


@cache
def too_large(limits: EndpointLimits) -> tuple[Picture, Picture]:
    """An image with too long a side, and one with too many bytes."""
    heavy = Picture(encoded(noise(1400, 1000), "PNG"), "image/png", 1400, 1000)
    return picture(limits.side_px + 1, 90), heavy


@pytest.mark.parametrize("name", [*ROWS, None])
def test_no_side_is_sent_longer_than_the_row_allows(name: str | None) -> None:
    limits = limits_named(name)
    assert all(send_one(limits, each).width <= limits.side_px for each in too_large(limits))


@pytest.mark.parametrize("name", [*ROWS, None])
def test_no_file_is_sent_larger_than_the_row_allows(name: str | None) -> None:
    limits = limits_named(name)
    for each in too_large(limits):
        assert -(-len(send_one(limits, each).data) // 3) * 4 <= limits.picture_bytes


@pytest.mark.parametrize("name", [*ROWS, None])
def test_no_request_goes_out_with_more_bytes_than_the_row_says(name: str | None) -> None:
    limits = row(name) if name else EndpointLimits()
    text = Message("user", (Text("x" * (limits.request_bytes * 95 // 100 - 3_000)),))
    assert len(packed(limits, (*conversation_of(4), text)).sent) == 4
    longer = Message("user", (Text("x" * (limits.request_bytes * 95 // 100 - 1_500)),))
    request = packed(limits, (*conversation_of(4), longer))
    assert len(request.sent) < 4
    assert request.size_bytes <= limits.request_bytes


def pack_twenty_then_one_more() -> tuple[PackedRequest, PackedRequest]:
    """Requests to Anthropic, which allows a smaller side from the 21st image on."""
    context_window, messages = (
        ContextWindow(row("anthropic"), originals=()),
        conversation_of(21, picture(2100, 40)),
    )
    return context_window.pack(messages[:20]), context_window.pack(messages)


def test_anthropic_allows_a_side_of_2000_pixels_from_the_21st_image_on() -> None:
    limits = row("anthropic")
    assert (limits.many, limits.many_side_px) == (20, 2000)


def test_the_21st_image_is_within_the_limit_for_many_images() -> None:
    _, more = pack_twenty_then_one_more()
    assert {sent.width for sent in more.sent} == {2000}


def test_the_21st_image_changes_no_message_before_it() -> None:
    twenty, more = pack_twenty_then_one_more()
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


CONFIG = ModelConfig("openai", model="m", base_url="http://127.0.0.1:8000/v1", api_key="sk-secret-0123456789")


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def profile(config: ModelConfig = CONFIG) -> Profile:
    return Profile(
        config.wire,
        endpoint_of(config),
        config.model or "",
        ("stop", "temperature"),
        True,
        False,
        5,
        20,
        "0-1",
    )


def test_a_profile_comes_back_as_it_was() -> None:
    write_profile(profile())
    assert read_profile(CONFIG) == profile()


def test_nothing_is_known_of_an_endpoint_that_was_not_examined() -> None:
    write_profile(profile())
    assert read_profile(replace(CONFIG, model="another")) is None
    assert read_profile(replace(CONFIG, base_url="http://127.0.0.1:8001/v1")) is None


@pytest.fixture
def config_with_secrets() -> ModelConfig:
    return replace(CONFIG, base_url="http://ann:hunter22@127.0.0.1:8000/v1?token=abcdefgh")


def test_a_profile_is_found_for_an_address_with_secrets(
    cache_folder: Path, config_with_secrets: ModelConfig
) -> None:
    write_profile(profile(config_with_secrets))
    assert read_profile(config_with_secrets) == profile(config_with_secrets)


def test_no_secret_is_written_with_a_profile(cache_folder: Path, config_with_secrets: ModelConfig) -> None:
    path = write_profile(profile(config_with_secrets))
    assert path is not None
    written = "".join(file.read_text() for file in cache_folder.rglob("*.json")) + str(path)
    assert written != str(path)
    assert not any(secret in written for secret in ("sk-secret", "hunter22", "abcdefgh"))


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", "7", '{"version": 1}', '{"version": 9, "refused": []}', "\0"]
)
def test_a_damaged_profile_is_ignored(damage: str) -> None:
    path = write_profile(profile())
    assert path is not None
    path.write_text(damage)
    assert read_profile(CONFIG) is None


def test_a_newer_profile_takes_the_place_of_the_older_one(cache_folder: Path) -> None:
    write_profile(profile())
    write_profile(replace(profile(), refused=()))
    assert read_profile(CONFIG) == replace(profile(), refused=())
    assert len([path for path in cache_folder.rglob("*") if path.is_file()]) == 1


def test_a_profile_that_cannot_be_written_has_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert write_profile(profile()) is None


def apply_to_refusing() -> ModelConfig:
    return apply_profile(replace(CONFIG, refused=("seed", "stop")), profile())


def test_what_an_endpoint_refused_is_not_sent() -> None:
    assert apply_to_refusing().refused == ("seed", "stop", "temperature")


def test_what_an_endpoint_ignored_is_not_relied_on() -> None:
    config = apply_to_refusing()
    assert (config.stream, config.stop) == (True, False)


def test_a_profile_turns_nothing_on() -> None:
    config = replace(CONFIG, stream=False, stop=False)
    applied = apply_profile(config, replace(profile(), honours_stop=True))
    assert (applied.stream, applied.stop) == (False, False)


def test_no_profile_changes_nothing() -> None:
    assert apply_profile(CONFIG, None) == CONFIG
