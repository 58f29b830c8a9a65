"""Size questions, answered in the form in which they were asked."""

from __future__ import annotations

import pytest
from PIL import Image

from tests.offline.loop import ask


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the size of the image?", "640 x 480"),
        ("How wide is the image?", "640"),
        ("What is the height of the picture in pixels?", "480"),
        ("What is the aspect ratio of the image?", "4:3"),
        ("Is the image portrait or landscape?", "landscape"),
        ("Is the image in portrait orientation?", "No"),
        ("How many pixels does the image have?", "307200"),
        ("How many megapixels does the image have?", "0.31"),
    ],
)
def test_the_size_is_measured(question: str, answer: str) -> None:
    assert ask(question, Image.new("RGB", (640, 480), "navy")).answer == answer


def test_the_second_image_is_measured_when_it_is_meant() -> None:
    pictures = Image.new("RGB", (30, 40)), Image.new("RGB", (50, 60))
    assert ask("What is the size of the second image?", *pictures).answer == "50 x 60"
