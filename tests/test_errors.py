from __future__ import annotations

from pyvision.errors import ConfigError, MissingExtra


def test_a_missing_extra_is_one_line_that_names_the_command() -> None:
    error = MissingExtra("gradio", "demo")
    assert isinstance(error, ConfigError)
    assert str(error) == "gradio is not installed; pip install 'pyvision[demo]' brings it"
