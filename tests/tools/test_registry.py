"""Tools are chosen by name, and what cannot be chosen is told in one line."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pyvision.errors import ConfigError
from pyvision.tools.registry import ROWS, build_tools, describe
from tests.tools.perception.pictures import FakeTool

PERCEPTION = ("caption", "vqa", "llm_qa", "detect", "match", "depth", "ocr")
BUILT = [(tool, provider) for tool in PERCEPTION for provider in ROWS[tool].providers]


@pytest.mark.parametrize(("tool", "provider"), BUILT)
def test_every_provider_of_perception_builds_a_tool_of_its_row(tool: str, provider: str) -> None:
    built = build_tools((tool,), {tool: provider}, is_offline=False)[tool]
    assert built.name == tool
    assert built.purpose
    assert "\n" not in built.purpose


@pytest.mark.parametrize(
    ("tool", "provider"),
    [("identical_image", "index"), ("similar_image", "index"), ("document", "index"), ("web_search", "ddgs")],
)
def test_every_provider_of_search_builds_a_tool_of_its_row(tool: str, provider: str) -> None:
    assert build_tools((tool,), {tool: provider}, is_offline=False)[tool].name == tool


def test_the_usual_providers_are_models_and_without_a_model_embedded_rules() -> None:
    told = describe(PERCEPTION, {}, is_offline=False)
    assert told["detect"] == "model"
    assert "ocr" not in told  # it needs an engine that somebody has to choose
    assert set(describe(PERCEPTION, {}, is_offline=True).values()) == {"offline"}


def test_the_web_is_left_alone_unless_somebody_chooses_it() -> None:
    assert describe(("web_search",), {}, is_offline=False) == {}
    assert describe(("web_search",), {"web_search": "ddgs"}, is_offline=False) == {"web_search": "ddgs"}


def test_a_tool_that_the_strategy_does_not_use_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"unknown tool 'radar'; the tools of this strategy are: caption, vqa"
    ):
        build_tools(("caption", "vqa"), {"radar": "model"}, is_offline=False)


def test_an_unknown_provider_is_refused_and_the_known_ones_are_told() -> None:
    with pytest.raises(
        ConfigError, match=r"--tool detect=magic:x: unknown provider 'magic'; it has: model, hf"
    ):
        build_tools(("detect",), {"detect": "magic:x"}, is_offline=False)


def test_an_unknown_scale_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"unknown scale 'miles'; known are: 1000, pixels, unit"):
        build_tools(("detect",), {"detect": "model:miles"}, is_offline=False)


@pytest.mark.parametrize("told", ["caption=model:x", "vqa=offline:x", "ocr=rapidocr:x"])
def test_what_a_provider_does_not_take_is_refused(told: str) -> None:
    tool, _, provider = told.partition("=")
    with pytest.raises(ConfigError, match=r":x: takes nothing behind the colon"):
        build_tools((tool,), {tool: provider}, is_offline=False)


def test_a_tool_that_is_given_as_an_object_is_used_as_it_is() -> None:
    given = FakeTool("caption")
    assert build_tools(("caption",), {"caption": given}, is_offline=False) == {"caption": given}
    assert describe(("caption",), {"caption": given}, is_offline=False) == {"caption": "FakeTool"}


def test_building_every_perception_tool_loads_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from pyvision.tools.registry import ROWS\n"
        f"for tool in {PERCEPTION}:\n"
        "    for build in ROWS[tool].providers.values(): build('')\n"
        "print(*sorted({'numpy', 'PIL', 'torch', 'transformers', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
