from __future__ import annotations

import pytest

from pyvision.errors import ConfigError
from pyvision.experiments.avis_study.toolbox import StudyToolbox, find_toolbox
from pyvision.types import ToolRequest
from tests.experiments.avis_study.doubles import FakeTool


def test_the_output_of_a_tool_is_returned() -> None:
    observation = StudyToolbox({"vqa": FakeTool("vqa", "red")}).call_tool("vqa", ToolRequest("which colour?"))
    assert (observation.text, observation.error) == ("red", None)


def test_the_error_of_a_tool_is_returned_not_raised() -> None:
    toolbox = StudyToolbox({"vqa": FakeTool("vqa", fails="it is down")})
    assert toolbox.call_tool("vqa", ToolRequest("?")).error == "it is down"
    assert "no tool 'ocr'" in str(toolbox.call_tool("ocr", ToolRequest()).error)


def test_a_button_uses_the_first_available_tool() -> None:
    assert StudyToolbox({"document": FakeTool("document")}).tool_of("search") == "document"
    assert StudyToolbox({}).tool_of("search") is None


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ConfigError, match="unknown tool 'dance'"):
        find_toolbox("offline", None, {}, {"dance": "model"})
    with pytest.raises(ConfigError, match="unknown provider 'magic'"):
        find_toolbox("offline", None, {}, {"vqa": "magic"})
