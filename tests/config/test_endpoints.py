"""Each row of the table at its boundary, as a conversation meets it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pyvision.agent.context import ContextWindow, Request
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


CONFIG = ModelConfig("openai", model="m", base_url="http://127.0.0.1:8000/v1", api_key="sk-secret-0123456789")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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


def test_no_key_and_no_password_is_written(cache: Path) -> None:
    config = replace(CONFIG, base_url="http://ann:hunter22@127.0.0.1:8000/v1?token=abcdefgh")
    path = write_profile(profile(config))
    assert path is not None
    assert read_profile(config) == profile(config)
    written = "".join(file.read_text() for file in cache.rglob("*.json")) + str(path)
    assert not any(secret in written for secret in ("sk-secret", "hunter22", "abcdefgh"))


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", "7", '{"version": 1}', '{"version": 9, "refused": []}', "\0"]
)
def test_a_damaged_profile_is_as_good_as_none(damage: str) -> None:
    path = write_profile(profile())
    assert path is not None
    path.write_text(damage)
    assert read_profile(CONFIG) is None


def test_a_newer_profile_takes_the_place_of_the_older_one(cache: Path) -> None:
    write_profile(profile())
    write_profile(replace(profile(), refused=()))
    assert read_profile(CONFIG) == replace(profile(), refused=())
    assert len([path for path in cache.rglob("*") if path.is_file()]) == 1


def test_a_cache_that_cannot_be_written_is_told_by_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert write_profile(profile()) is None


def test_what_was_refused_is_not_sent_and_what_was_ignored_is_not_relied_on() -> None:
    config = apply_profile(replace(CONFIG, refused=("seed", "stop")), profile())
    assert config.refused == ("seed", "stop", "temperature")
    assert (config.stream, config.stop) == (True, False)


def test_a_profile_turns_nothing_on_and_none_changes_nothing() -> None:
    config = replace(CONFIG, stream=False, stop=False)
    assert apply_profile(config, replace(profile(), honours_stop=True)).stream is False
    assert apply_profile(config, replace(profile(), honours_stop=True)).stop is False
    assert apply_profile(CONFIG, None) == CONFIG
