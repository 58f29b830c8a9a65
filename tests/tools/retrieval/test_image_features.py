from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy import array, float16, frombuffer, full, int64, uint8
from numpy.linalg import norm
from numpy.typing import NDArray
from PIL import Image

from pyvision.tools.retrieval.image_features import (
    DESCRIPTOR_LENGTH,
    ImageFeatures,
    descriptor_of,
    features_of,
)
from pyvision.tools.retrieval.image_search import ImageMatch, ImageMatrix
from tests.tools.retrieval.collection import drawing, flag, picture


def compare(one: Image.Image, other: Image.Image, kind: str = "PNG", quality: int = 75) -> ImageMatch:
    """Search an index that holds the first image for the second."""
    stored = features_of(picture(one))
    hashes = frombuffer(stored.dhash + stored.phash, "u8").reshape(1, 2)
    descriptors = frombuffer(stored.descriptor, float16).astype("f4").reshape(1, DESCRIPTOR_LENGTH)
    pictures = ImageMatrix(0, array([7], int64), hashes, descriptors)
    (found,) = pictures.most_similar(features_of(picture(other, kind, quality)), 1)
    return found


def test_the_same_image_is_the_same() -> None:
    found = compare(drawing(1), drawing(1))
    assert (found.passage, found.bits) == (7, 0)
    assert found.copy_score == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize(
    "change",
    [
        lambda image: image.resize((160, 120)),
        lambda image: image.resize((640, 480)),
        lambda image: image.resize((330, 240)),
        lambda image: image.convert("RGBA"),
    ],
    ids=["half", "double", "stretched a little", "with an alpha channel"],
)
def test_a_copy_of_another_size_or_mode_is_a_copy(
    number: int, change: Callable[[Image.Image], Image.Image]
) -> None:
    assert compare(drawing(number), change(drawing(number))).is_copy


@pytest.mark.parametrize("number", range(4))
def test_a_copy_that_was_compressed_hard_is_a_copy(number: int) -> None:
    assert compare(drawing(number), drawing(number), "JPEG", 30).is_copy


def test_another_drawing_is_no_copy() -> None:
    assert not any(compare(drawing(0), drawing(number)).is_copy for number in range(1, 8))


def test_a_flag_in_other_colours_of_the_same_lightness_is_no_copy() -> None:
    found = compare(flag("#e00000", "white", "#e00000"), flag("#0050ff", "white", "#0050ff"))
    assert not found.is_copy


def test_a_drawing_is_like_its_crop() -> None:
    part = drawing(3).crop((20, 10, 300, 230))
    others = (compare(drawing(number), part).similarity for number in range(3))
    assert compare(drawing(3), part).similarity > max(others)


def test_an_even_image_has_a_descriptor_too() -> None:
    assert compare(flag("red"), flag("red").resize((50, 50))).is_copy
    assert compare(flag("red"), flag("blue")).similarity < 0.8


def test_looks_keep_to_their_sizes() -> None:
    features = features_of(picture(Image.new("L", (1, 1))))
    assert (features.width, features.height) == (1, 1)
    assert (len(features.dhash), len(features.phash), len(features.descriptor)) == (
        8,
        8,
        2 * DESCRIPTOR_LENGTH,
    )


@given(
    st.tuples(st.integers(1, 12), st.integers(1, 12), st.just(3)).flatmap(lambda shape: arrays(uint8, shape))
)
def test_any_pixels_have_a_descriptor_of_length_one(pixels: NDArray[uint8]) -> None:
    descriptor = descriptor_of(pixels)
    assert descriptor.shape == (DESCRIPTOR_LENGTH,)
    assert (descriptor >= 0).all()
    assert norm(descriptor) == pytest.approx(1, abs=1e-5)


def test_images_beyond_one_block_are_compared_too() -> None:
    features = features_of(picture(drawing(1)))
    count = 16_385
    descriptors = full((count, DESCRIPTOR_LENGTH), 0.01, "f4")
    descriptors[-1] = frombuffer(features.descriptor, float16)
    pictures = ImageMatrix(0, array(range(count), int64), full((count, 2), 0, "u8"), descriptors)
    assert [one.passage for one in pictures.most_similar(features, 1)] == [count - 1]


def test_an_index_without_images_finds_no_image() -> None:
    empty = ImageMatrix(0, array([], int64), full((0, 2), 0, "u8"), full((0, DESCRIPTOR_LENGTH), 0, "f4"))
    features = ImageFeatures("", 1, 1, bytes(8), bytes(8), bytes(2 * DESCRIPTOR_LENGTH))
    assert empty.most_similar(features, 5) == empty.copies(features, 5) == []
