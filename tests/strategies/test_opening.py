from __future__ import annotations

import json
from pathlib import Path

import pytest

from pyvision.errors import ConfigError
from pyvision.strategies.code_loop import CodeLoop
from pyvision.text.native_tool_calls import text_of
from pyvision.types import Picture, Question
from tests.doubles import EpisodeHarness, picture

TEMPLATES = {
    "one": "Use {{braces}}. Image Width: {width}; Image Height: {height}\n**Question:** {query}",
    "many": "{image_information}\n{query}",
}


@pytest.fixture
def prompt_file(tmp_path: Path) -> Path:
    file = tmp_path / "prompts.json"
    file.write_text(json.dumps(TEMPLATES), encoding="utf-8")
    return file


def opening(strategy: CodeLoop, question: Question) -> EpisodeHarness:
    scripted = EpisodeHarness(["\\boxed{1}"], question=question)
    scripted.solve(strategy)
    return scripted


def test_an_upstream_prompt_is_one_user_message_with_its_places_filled(prompt_file: Path) -> None:
    scripted = opening(CodeLoop(prompt_file=prompt_file, prompt="one"), Question("How?", (picture(40, 30),)))
    (message,) = scripted.model.requests[0]
    assert message.role == "user"
    assert message.text.endswith("Use {braces}. Image Width: 40; Image Height: 30\n**Question:** How?")


def test_an_upstream_prompt_states_the_sizes_of_several_images(prompt_file: Path) -> None:
    question = Question("Which?", (picture(40, 30), picture(50, 60)))
    scripted = opening(CodeLoop(prompt_file=prompt_file, prompt="many"), question)
    assert "width of image_clue_1: 50, height of image_clue_1: 60" in scripted.request_text(0)


def test_a_place_holder_in_the_question_is_where_its_image_goes(prompt_file: Path) -> None:
    question = Question(
        "Is <IMAGE_PLACE_HOLDER_0> like <IMAGE_PLACE_HOLDER_1>?", (picture(), picture(50, 60))
    )
    scripted = opening(CodeLoop(prompt_file=prompt_file, prompt="many"), question)
    parts = scripted.model.requests[0][0].parts
    kinds = ["picture" if isinstance(part, Picture) else text_of(part).strip() for part in parts]
    where = kinds.index("picture")
    assert kinds[where - 2].endswith("Is")
    assert kinds[where + 2] == "like"
    assert "PLACE_HOLDER" not in scripted.request_text(0)


def test_the_only_prompt_of_a_file_needs_no_key(tmp_path: Path) -> None:
    file = tmp_path / "prompts.json"
    file.write_text('{"vistool": "{query}"}', encoding="utf-8")
    assert opening(CodeLoop(prompt_file=file), Question("How?")).request_text(0) == "How?"


@pytest.mark.parametrize(
    ("content", "key", "expected"),
    [
        ("{", None, "not JSON"),
        ("[1]", None, "must be a JSON object"),
        ('{"a": "{query}", "b": ""}', None, "--prompt: a, b"),
        ('{"a": "{query}"}', "c", "no prompt 'c'"),
        ('{"a": "{unknown}"}', "a", "cannot be filled"),
        ('{"a": "{query"}', "a", "cannot be filled"),
    ],
)
def test_a_prompt_file_that_cannot_be_used_is_one_clear_line(
    tmp_path: Path, content: str, key: str | None, expected: str
) -> None:
    file = tmp_path / "prompts.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        opening(CodeLoop(prompt_file=file, prompt=key), Question("How?"))
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_prompt_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.json: the prompt file cannot be read"):
        opening(CodeLoop(prompt_file=tmp_path / "nowhere.json"), Question("How?"))


def test_a_prompt_key_without_a_file_is_refused() -> None:
    with pytest.raises(ConfigError, match="--prompt-file"):
        opening(CodeLoop(prompt="one"), Question("How?"))


def test_our_prompt_names_the_libraries_that_were_found() -> None:
    scripted = EpisodeHarness(["\\boxed{1}"])
    scripted.sandbox.libraries = ("cv2", "rapidocr")
    scripted.solve(CodeLoop())
    system = scripted.model.requests[0][0].text
    assert "No import is needed for np, plt, Image, cv2, rapidocr and the usual modules of Python." in system
