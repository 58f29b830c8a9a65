"""Tools are chosen by name; an invalid choice is an error of one line."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.agent.strategy import with_options
from pyvision.errors import ConfigError
from pyvision.strategies.code_loop import CodeLoop
from pyvision.tools.registry import ROWS, ToolNames, build_tools, describe
from tests.tools.perception.pictures import FakeTool

PERCEPTION = ("caption", "vqa", "llm_qa", "detect", "match", "verify", "depth", "ocr")
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


def test_the_default_providers_are_models_or_the_offline_rules() -> None:
    providers = describe(PERCEPTION, {}, is_offline=False)
    assert providers["detect"] == "model"
    assert "ocr" not in providers  # it needs an engine that the user has to choose
    assert set(describe(PERCEPTION, {}, is_offline=True).values()) == {"offline"}


def test_web_search_is_off_by_default() -> None:
    assert describe(("web_search",), {}, is_offline=False) == {}
    assert describe(("web_search",), {"web_search": "ddgs"}, is_offline=False) == {"web_search": "ddgs"}


def test_a_tool_that_the_strategy_does_not_use_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"unknown tool 'radar'; the tools of this strategy are: caption, vqa"
    ):
        build_tools(("caption", "vqa"), {"radar": "model"}, is_offline=False)


def test_a_mistyped_tool_gets_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match=r"unknown tool 'detct'; did you mean 'detect'\? the tools"):
        build_tools((), {"detct": "model"}, is_offline=False)


def test_an_unknown_provider_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"--tool detect=magic:x: unknown provider 'magic'; known providers: model, hf"
    ):
        build_tools(("detect",), {"detect": "magic:x"}, is_offline=False)


def test_an_unknown_scale_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"unknown scale 'miles'; known scales: 1000, pixels, unit"):
        build_tools(("detect",), {"detect": "model:miles"}, is_offline=False)


@pytest.mark.parametrize("choice", ["caption=model:x", "vqa=offline:x", "ocr=rapidocr:x"])
def test_an_unexpected_setting_is_refused(choice: str) -> None:
    tool, _, provider = choice.partition("=")
    with pytest.raises(ConfigError, match=r":x: takes nothing (after|behind) the colon"):
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
def test_the_option_takes_names_between_commas(text: str, names: tuple[str, ...]) -> None:
    assert with_options(CodeLoop(), {"tools": text}).tools == names


def test_the_option_survives_being_recorded() -> None:
    chosen = with_options(CodeLoop(), {"tools": "caption,ocr"})
    recorded = {key: str(value) for key, value in asdict(chosen).items() if value is not None}
    assert with_options(CodeLoop(), recorded) == chosen


def test_an_invalid_name_is_refused() -> None:
    with pytest.raises(ConfigError, match="'o c r' is not the name of a tool"):
        with_options(CodeLoop(), {"tools": "caption,o c r"})


@given(st.text())
def test_any_text_is_names_or_a_config_error(text: str) -> None:
    try:
        names = ToolNames.parse(text)
    except ConfigError:
        return
    assert all(name.isidentifier() for name in names)
    assert ToolNames.parse(str(list(names))) == names
