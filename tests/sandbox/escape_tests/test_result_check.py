"""What of a figure or an error is judged wrong, whatever the sandbox itself makes of it."""

from __future__ import annotations

import io
import struct
import zlib
from dataclasses import replace

import pytest
from PIL import Image

from sandbox import CellError, Figure
from sandbox.escape_tests.runner import find_flaw
from tests.sandbox.conftest import png
from tests.sandbox.protocol.png_files import chunk, png_file

GOOD = Figure(png(), "image/png", 40, 30)


def jpeg(**options: object) -> bytes:
    sink = io.BytesIO()
    Image.new("RGB", (40, 30)).save(sink, "JPEG", **options)
    return sink.getvalue()


@pytest.mark.parametrize("figure", [GOOD, Figure(jpeg(), "image/jpeg", 40, 30)])
def test_a_whole_figure_has_no_flaw(figure: Figure) -> None:
    assert find_flaw([figure], CellError("ValueError", "x" * 4000)) is None


@pytest.mark.parametrize(
    ("figure", "why"),
    [
        (replace(GOOD, width=41), "which Pillow takes for"),
        (replace(GOOD, mime="image/jpeg"), "which Pillow takes for"),
        (replace(GOOD, data=b"nonsense"), "which Pillow cannot decode"),
        (replace(GOOD, data=png()[:-12]), "does not stop at its end"),
        (replace(GOOD, data=png() + b"more"), "does not stop at its end"),
        (replace(GOOD, width=1, height=201), "a figure of 1x201 pixels"),
        (Figure(png_file(40, 30, chunk(b"tEXt", b"a\0b")), "image/png", 40, 30), "with 1 kinds of text"),
        (
            Figure(png_file(40, 30, pixels=zlib.compress(bytes(9999))), "image/png", 40, 30),
            "more or fewer pixels",
        ),
    ],
)
def test_a_figure_that_is_not_what_it_claims_is_named(figure: Figure, why: str) -> None:
    assert why in str(find_flaw([GOOD, figure], None))


def test_an_error_without_an_end_is_a_flaw() -> None:
    assert find_flaw([], CellError("E" * 200_000, "")) == "it was handed an error of 200,000 characters"


def test_an_animation_is_a_flaw() -> None:
    frames = chunk(b"acTL", struct.pack(">II", 2, 0)) + chunk(
        b"fcTL", struct.pack(">IIIIIHHBB", 0, 4, 3, 0, 0, 1, 1, 0, 0)
    )
    assert find_flaw([Figure(png_file(4, 3, frames), "image/png", 4, 3)], None) is not None
