from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from pyvision.errors import ImageError
from pyvision.images.objects import from_object, to_pil
from tests.doubles import png


def pixel(image: Any, x: int = 0, y: int = 0) -> Any:
    return to_pil(from_object(image, "it")).convert("RGB").getpixel((x, y))


@pytest.mark.parametrize(
    "image",
    [
        png(4, 3, "red"),
        bytearray(png(4, 3, "red")),
        memoryview(png(4, 3, "red")),
        io.BytesIO(png(4, 3, "red")),
    ],
)
def test_bytes_of_a_file_are_an_image(image: Any) -> None:
    assert pixel(image) == (255, 0, 0)


def test_an_open_file_is_an_image(tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(png(4, 3, "red"))
    with (tmp_path / "photo.png").open("rb") as file:
        assert pixel(file) == (255, 0, 0)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "CMYK", "I;16", "F"])
def test_a_pil_image_of_every_mode_keeps_its_size(mode: str) -> None:
    picture = from_object(Image.new(mode, (5, 4)), "it")
    assert (picture.width, picture.height) == (5, 4)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("uint8", 255), ("int64", 255), ("uint16", 65535), ("float32", 1.0), ("float64", 1.0), ("bool", True)],
)
def test_arrays_of_every_type_mean_the_same_white(dtype: str, value: float) -> None:
    assert pixel(numpy.full((3, 4), value, dtype)) == (255, 255, 255)


@given(st.integers(2, 9), st.integers(5, 9), st.sampled_from([1, 3, 4]))
def test_channels_may_come_first_or_last(height: int, width: int, channels: int) -> None:
    array = numpy.random.default_rng(0).integers(0, 256, (height + 3, width, channels), "uint8")
    assert from_object(array, "it") == from_object(array.transpose(2, 0, 1), "it")


def test_a_tensor_is_detached_before_it_is_read() -> None:
    plain = numpy.ones((3, 6, 5), "float32")
    moved = SimpleNamespace(cpu=lambda: SimpleNamespace(dtype="float32", numpy=lambda: plain))
    assert pixel(SimpleNamespace(shape=plain.shape, detach=lambda: moved)) == (255, 255, 255)


@pytest.mark.parametrize(
    ("image", "why"),
    [
        (numpy.full((3, 4), 200.0), "floats must be from 0 to 1, but are from 200 to 200; divide by 255"),
        (numpy.full((3, 4), numpy.nan), "floats must be from 0 to 1"),
        (numpy.full((3, 4), -1), "values must be from 0 to 255"),
        (numpy.zeros((5, 4, 2)), "its shape is 5 × 4 × 2"),
        (numpy.zeros((2, 3, 4, 3)), "pass several images as a list"),
        (numpy.zeros((0, 4)), "has no pixels"),
        (numpy.array(["a"]), "its shape is 1"),
        (io.StringIO("text"), "open as text"),
        (7, "a int is not an image"),
        (b"GIF8", "damaged"),
    ],
)
def test_what_is_no_image_is_refused_in_one_line(image: Any, why: str) -> None:
    with pytest.raises(ImageError, match=why) as caught:
        from_object(image, "array 0")
    assert "\n" not in str(caught.value)
