from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyvision.errors import ConfigError, MissingExtra, reason, suggest

SOURCES = sorted((Path(__file__).parent.parent / "pyvision").rglob("*.py"))


def shown_whole(source: str) -> Iterator[int]:
    """The lines on which an error that may be one of the system stands in a text as it is, path and number with it."""
    for handler in ast.walk(ast.parse(source)):
        if isinstance(handler, ast.ExceptHandler) and handler.type and "OSError" in ast.unparse(handler.type):
            for inner in ast.walk(handler):
                if isinstance(inner, ast.FormattedValue) and ast.unparse(inner.value) == handler.name:
                    yield inner.lineno


def test_a_missing_extra_is_one_line_that_names_the_command() -> None:
    error = MissingExtra("gradio", "demo")
    assert isinstance(error, ConfigError)
    assert str(error) == "gradio is not installed; install it: pip install 'pyvision-agent[demo]'"


def test_the_reason_of_an_unusable_file_is_the_words_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Errno 2") as caught:
        (tmp_path / "none").read_text()
    assert reason(caught.value) == "No such file or directory"


def test_an_error_without_a_message_is_named_by_its_type() -> None:
    assert reason(OSError()) == "OSError"
    assert reason(ValueError("two\n lines")) == "two lines"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("ofline", "did you mean 'offline'?"),
        ("OpenAI", "did you mean 'openai'?"),
        ("zzz", "known names are offline, openai"),
        ("", "known names are offline, openai"),
        ("x" * 1_000_000, "known names are offline, openai"),
    ],
)
def test_a_mistyped_name_gets_the_nearest_known_one(word: str, expected: str) -> None:
    assert suggest(word, iter(["offline", "openai"]), "known names are") == expected


def test_no_message_shows_an_error_of_the_system_whole() -> None:
    found = [f"{path}, line {line}" for path in SOURCES for line in shown_whole(path.read_text("utf-8"))]
    assert found == []


def test_a_message_that_shows_one_whole_is_found() -> None:
    handler = "try: f()\nexcept (OSError, ValueError) as error:\n    raise E(f'no ({error})')"
    assert list(shown_whole(handler)) == [3]
    assert list(shown_whole(handler.replace("{error}", "{reason(error)}"))) == []
