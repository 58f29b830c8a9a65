"""What is sent to a model keeps to the limits of every endpoint, and its points lead back to the original."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pyvision.images.fit import FitLimits, Fitted, fit
from pyvision.images.read import decode
from pyvision.types import Picture
from tests.pictures import BLUE, RED, WHITE, encoded, noise, opened, pixel

calm = settings(deadline=None, derandomize=True, max_examples=60)


def test_an_image_within_the_limits_is_sent_as_it_is() -> None:
    picture = decode(encoded(noise(300, 200), "PNG"), "picture")
    fitted = fit(picture)
    assert fitted.picture is picture
    assert fitted.to_original(7, 9) == (7, 9)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_large_image_is_scaled_down_with_its_transform(kind: str) -> None:
    image = Image.new("RGB", (4096, 1024), "white")
    image.paste(RED, (3000, 500, 3100, 600))
    fitted = fit(decode(encoded(image, kind), "picture"))
    assert (fitted.picture.width, fitted.picture.height) == (2048, 512)
    assert opened(fitted.picture).size == (2048, 512)
    assert fitted.to_original(1525, 275) == (3050, 550)
    assert pixel(fitted.picture, 1525, 275)[1] < 50


def test_one_pixel_grows_until_every_endpoint_takes_it() -> None:
    fitted = fit(decode(encoded(Image.new("RGB", (1, 1), RED), "PNG"), "picture"))
    assert (fitted.picture.width, fitted.picture.height) == (28, 28)
    assert pixel(fitted.picture, 27, 27) == RED
    assert fitted.to_original(14, 14) == (0.5, 0.5)


def fit_thin() -> Fitted:
    picture = decode(encoded(Image.new("RGB", (5, 5000), BLUE), "PNG"), "picture")
    return fit(picture, FitLimits(side_px=6000))


def test_a_thin_image_is_padded_to_a_hundredth_of_its_length() -> None:
    fitted = fit_thin()
    assert (fitted.picture.width, fitted.picture.height) == (50, 5000)


def test_padding_is_white_beside_the_image() -> None:
    fitted = fit_thin()
    assert (pixel(fitted.picture, 4, 4999), pixel(fitted.picture, 5, 0)) == (BLUE, WHITE)


def test_padding_moves_no_pixel() -> None:
    assert fit_thin().to_original(4, 4999) == (4, 4999)


def test_an_image_of_too_many_bytes_becomes_a_jpeg_that_is_small_enough() -> None:
    picture = decode(encoded(noise(700, 700), "PNG"), "picture")
    fitted = fit(picture, FitLimits(file_bytes=400_000))
    assert (fitted.picture.mime, fitted.picture.width) == ("image/jpeg", 700)
    assert len(fitted.picture.data) <= 400_000


def test_an_image_that_no_jpeg_makes_small_enough_is_scaled_down() -> None:
    picture = decode(encoded(noise(700, 700), "PNG"), "picture")
    fitted = fit(picture, FitLimits(side_px=700, file_bytes=40_000))
    assert len(fitted.picture.data) <= 40_000
    assert fitted.picture.width < 700
    assert fitted.to_original(fitted.picture.width, 0) == (700, 0)


def test_a_transparent_figure_is_sent_on_white() -> None:
    data = encoded(Image.new("RGBA", (3000, 100), (0, 0, 0, 0)), "PNG")
    fitted = fit(Picture(data, "image/png", 3000, 100))
    assert pixel(fitted.picture, 5, 5) == WHITE


def test_one_content_is_fitted_once() -> None:
    data = encoded(noise(30, 3000), "PNG")
    assert fit(decode(data, "one")) is fit(decode(bytes(bytearray(data)), "other"))


@calm
@given(
    width=st.integers(1, 700),
    height=st.integers(1, 700),
    limits=st.builds(
        FitLimits, st.integers(28, 400), st.just(28), st.integers(2, 100), st.integers(3_000, 50_000)
    ),
)
def test_whatever_is_sent_keeps_to_the_limits(width: int, height: int, limits: FitLimits) -> None:
    picture = decode(encoded(noise(8, 8).resize((width, height)), "PNG"), "picture")
    fitted = fit(picture, limits)
    short, long = sorted((fitted.picture.width, fitted.picture.height))
    assert opened(fitted.picture).size == (fitted.picture.width, fitted.picture.height)
    assert (long <= limits.side_px, short >= 28, long <= short * limits.aspect) == (True, True, True)
    assert len(fitted.picture.data) <= limits.file_bytes


def test_a_thin_image_grows_only_as_far_as_its_longest_side_may() -> None:
    fitted = fit(decode(encoded(noise(600, 30), "PNG"), "picture"), FitLimits(enlarge_px=160))
    assert (fitted.picture.width, fitted.picture.height) == (1800, 90)
