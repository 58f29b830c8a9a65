from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import pytest

from pyvision.agent.strategy import with_options
from pyvision.errors import ConfigError
from pyvision.strategies.avis import Avis
from pyvision.strategies.bdog import Bdog
from pyvision.strategies.code_loop import CodeLoop
from pyvision.strategies.vdebugger import VDebugger


@dataclass(frozen=True, slots=True)
class Options:
    steps: int = 3
    stride: float = 0.5
    loud: bool = False
    greeting: str = "hello"
    shoes: Path | None = None
    speed: Literal["slow", "fast"] = "slow"


def test_options_become_values_of_their_types() -> None:
    options = {"steps": "5", "stride": "1", "loud": "true", "greeting": "5", "shoes": "a/b", "speed": "fast"}
    assert with_options(Options(), options) == Options(
        5, 1.0, loud=True, greeting="5", shoes=Path("a/b"), speed="fast"
    )


def test_options_may_be_values() -> None:
    options = {"steps": 5, "stride": 1, "loud": True, "shoes": None, "speed": "fast"}
    assert with_options(Options(shoes=Path("a")), options) == Options(5, 1.0, loud=True, speed="fast")


def test_a_class_starts_from_its_defaults() -> None:
    assert with_options(Options, {"steps": "5"}) == Options(steps=5)


def test_none_unsets_an_optional_option() -> None:
    assert with_options(Options(shoes=Path("a")), {"shoes": "none"}).shoes is None


def test_none_is_text_for_an_option_of_text() -> None:
    assert with_options(Options(), {"greeting": "none"}).greeting == "none"


def test_no_options_change_nothing() -> None:
    assert asdict(with_options(Options(steps=9), {})) == asdict(Options(steps=9))


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("steps", "many", "option steps is 'many'; it takes an integer"),
        ("steps", "1.5", "it takes an integer"),
        ("loud", "perhaps", "it takes true or false"),
        ("speed", "medium", "it takes 'slow' or 'fast'"),
        ("strides", "1", "the strategy has no option 'strides'; did you mean 'stride'?"),
        (
            "other",
            "1",
            "no option 'other'; its options are steps (an integer), stride (a number), loud (true or false)",
        ),
        ("other", "1", "shoes (a path or none), speed ('slow' or 'fast')"),
    ],
)
def test_an_option_that_cannot_be_used_says_what_can(key: str, value: str, expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        with_options(Options(), {key: value})
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("strategy", "option", "least"),
    [
        (CodeLoop, "repairs", 0),
        (CodeLoop, "output_chars", 0),
        (VDebugger, "rounds", 1),
        (Bdog, "debaters", 1),
        (Avis, "calls", 1),
    ],
)
def test_an_option_below_its_least_value_is_refused(strategy: type, option: str, least: int) -> None:
    with pytest.raises(ConfigError, match=f"option {option} is {least - 1}; it must be {least} or more"):
        with_options(strategy, {option: least - 1})
