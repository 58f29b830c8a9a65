from __future__ import annotations

import pytest

from pyvision.errors import ConfigError
from pyvision.experiments.avis_study.toolbox import Toolbox, find_toolbox
from pyvision.types import ToolRequest
from tests.experiments.avis_study.doubles import FakeTool


def test_what_a_tool_says_comes_back() -> None:
    seen = Toolbox({"vqa": FakeTool("vqa", "red")}).use("vqa", ToolRequest("which colour?"))
    assert (seen.text, seen.error) == ("red", None)


def test_a_tool_that_fails_and_one_that_is_not_there_are_told_not_raised() -> None:
    toolbox = Toolbox({"vqa": FakeTool("vqa", fails="it is down")})
    assert toolbox.use("vqa", ToolRequest("?")).error == "it is down"
    assert "no tool 'ocr'" in str(toolbox.use("ocr", ToolRequest()).error)


def test_a_button_uses_the_first_tool_that_is_set_up() -> None:
    assert Toolbox({"document": FakeTool("document")}).tool_of("search") == "document"
    assert Toolbox({}).tool_of("search") is None


def test_an_unknown_tool_and_an_unknown_provider_are_refused() -> None:
    with pytest.raises(ConfigError, match="unknown tool 'dance'"):
        find_toolbox("offline", None, {}, {"dance": "model"})
    with pytest.raises(ConfigError, match="unknown provider 'magic'"):
        find_toolbox("offline", None, {}, {"vqa": "magic"})
