from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from pyvision.errors import ImageError
from pyvision.runs.report.crops import pixels_of
from pyvision.types import Picture
from tests.runs.runs import noise, picture


@pytest.mark.parametrize("mode", ["RGB", "L", "1", "P"])
def test_the_pixels_of_a_png_are_exact(mode: str) -> None:
    image = noise().convert(mode)
    assert np.array_equal(pixels_of(picture(image)), np.asarray(image.convert("RGB")))


@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_the_pixels_of_a_jpeg_are_those_that_pillow_sees(mode: str) -> None:
    file = BytesIO()
    noise().convert(mode).save(file, "JPEG")
    seen = np.asarray(Image.open(BytesIO(file.getvalue())).convert("RGB"))
    assert np.array_equal(pixels_of(Picture(file.getvalue(), "image/jpeg", 120, 90)), seen)


def test_transparent_pixels_become_white() -> None:
    assert pixels_of(picture(Image.new("RGBA", (3, 2), (9, 9, 9, 0)))).tolist() == [[[255] * 3] * 3] * 2


def test_what_is_no_image_is_an_error() -> None:
    with pytest.raises(ImageError):
        pixels_of(Picture(b"no", "image/png", 1, 1))
