"""Reading text depends on an engine in the sandbox."""

from __future__ import annotations

import importlib.util
import shutil

import pytest
from PIL import Image, ImageDraw

from tests.offline.loop import ask

ENGINE = shutil.which("tesseract") or any(map(importlib.util.find_spec, ("rapidocr", "rapidocr_onnxruntime")))


def sign() -> Image.Image:
    picture = Image.new("RGB", (400, 120), "white")
    ImageDraw.Draw(picture).text((30, 30), "HELLO 42", fill="black", font_size=48)
    return picture


@pytest.mark.skipif(bool(ENGINE), reason="a text engine is installed")
def test_without_an_engine_it_says_what_to_install() -> None:
    run = ask("What text is in the image?", sign())
    assert run.answer is None
    assert "tesseract" in run.reply.text


@pytest.mark.skipif(not ENGINE, reason="no text engine is installed")
def test_with_an_engine_the_text_is_read() -> None:
    assert ask("What text is in the image?", sign()).answer == "HELLO 42"
