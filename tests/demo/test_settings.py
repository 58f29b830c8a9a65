from __future__ import annotations

from pathlib import Path

import pytest

from pyvision.agent.budget import Limits
from pyvision.demo.serve import Demo, DemoOptions
from pyvision.demo.settings import ChatOptions, Settings
from pyvision.errors import ConfigError
from sandbox import Policy


def some_settings() -> Settings:
    return Settings(("offline",), None, Limits())


def test_a_choice_is_prepared_once_for_all() -> None:
    settings = some_settings()
    assert settings.task(ChatOptions(model="offline")) is settings.default_task()


def test_settings_reach_the_task() -> None:
    task = some_settings().task(
        ChatOptions(model="offline", options="repairs=7  output_chars=100", max_turns=3)
    )
    assert task.limits.max_turns == 3
    assert (task.config.options["repairs"], task.config.options["output_chars"]) == (7, 100)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (ChatOptions(model="openai"), "not offered"),
        (ChatOptions(model="offline", strategy="magic"), "unknown strategy"),
        (ChatOptions(model="offline", options="repairs"), "KEY=VALUE"),
        (ChatOptions(model="offline", options="depth=3"), "depth"),
        (ChatOptions(model="offline", options="prompt_file=/etc/passwd"), "names a file"),
        (ChatOptions(model="offline", strategy="avis", options="graph=/etc/passwd"), "names a file"),
        (ChatOptions(model="offline", strategy="avis", options="examples=/etc"), "names a file"),
    ],
)
def test_what_is_not_on_offer_is_one_line(choice: ChatOptions, expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        some_settings().task(choice)


def test_it_is_not_served_without_isolation(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="without isolation"):
        Demo(DemoOptions(out=tmp_path, policy=Policy(isolation="none")))
