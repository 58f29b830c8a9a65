"""Engines read text; tesseract's table is understood, whatever is in it."""

from __future__ import annotations

import importlib.util
from shutil import which

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.errors import ConfigError, MissingExtra, ToolError
from pyvision.tools.perception.ocr import parse_tsv, rapidocr, tesseract
from pyvision.types import ToolRequest
from tests.tools.perception.pictures import nobody, two_circles_and_a_square, written

HEAD = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"
needs_tesseract = pytest.mark.skipif(which("tesseract") is None, reason="no tesseract on this machine")


def row(line: int, left: int, text: str, confidence: float = 90.0, level: int = 5) -> str:
    return f"{level}\t1\t1\t1\t{line}\t1\t{left}\t20\t30\t10\t{confidence}\t{text}\n"


def test_words_of_a_line_are_joined() -> None:
    table = HEAD + row(1, 10, "", -1, 4) + row(1, 10, "MAIN") + row(1, 50, "STREET", 70) + row(2, 10, "7")
    first, second = parse_tsv(table)
    assert (first.text, first.left, first.right, first.bottom, first.score) == (
        "MAIN STREET",
        10,
        80,
        30,
        0.8,
    )
    assert second.text == "7"


def test_words_that_tesseract_does_not_trust_are_left_out() -> None:
    assert list(parse_tsv(HEAD + row(1, 10, "eo", 14.2) + row(2, 10, " ", 95))) == []


@given(st.text(st.sampled_from("5-1.09\t\nax")) | st.text())
def test_any_table_is_read(table: str) -> None:
    for line in parse_tsv(HEAD + table):
        assert line.text
        assert line.score >= 0.5


@needs_tesseract
def test_tesseract_reads_a_line_of_small_print() -> None:
    (line,) = tesseract("")(ToolRequest(picture=written("Total 1234")), nobody).data["lines"]
    assert line["text"] == "Total 1234"
    assert 10 < line["left"] < 30 < line["right"]


@needs_tesseract
def test_an_image_without_text_has_no_lines() -> None:
    observation = tesseract("")(ToolRequest(picture=two_circles_and_a_square()), nobody)
    assert observation.data == {"lines": []}
    assert observation.text == "No text was found."


@needs_tesseract
def test_a_language_that_is_not_installed_is_a_tool_error() -> None:
    with pytest.raises(ToolError, match="ocr: tesseract failed: "):
        tesseract("xyz")(ToolRequest(picture=written("EXIT")), nobody)


def test_the_error_about_a_missing_program_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ConfigError, match="sudo apt-get install tesseract-ocr"):
        tesseract("")(ToolRequest(picture=written("EXIT")), nobody)


@pytest.mark.parametrize("where", ["--version", "eng;ls", "eng deu", "../x", "eng+"])
def test_only_names_of_languages_go_to_tesseract(where: str) -> None:
    with pytest.raises(ConfigError, match="give languages joined by"):
        tesseract(where)


@pytest.mark.skipif(importlib.util.find_spec("rapidocr") is not None, reason="rapidocr is installed")
def test_without_rapidocr_the_extra_is_named() -> None:
    with pytest.raises(MissingExtra, match=r"pip install 'pyvision-agent\[ocr\]'"):
        rapidocr("")(ToolRequest(picture=written("EXIT")), nobody)


@pytest.mark.vision
def test_rapidocr_reads_a_line_of_small_print() -> None:
    (line,) = rapidocr("")(ToolRequest(picture=written("Total 1234")), nobody).data["lines"]
    assert line["text"].replace(" ", "") == "Total1234"
