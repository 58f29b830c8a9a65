from __future__ import annotations

from pyvision.runs.report.figures import PageImages, reduce_image
from pyvision.types import Picture
from tests.runs.runs import noise, picture, random_picture


def test_an_image_that_fits_is_shown_with_its_own_bytes() -> None:
    own = picture(noise())
    image = PageImages([own])[own]
    assert image is not None
    assert image.file.data == own.data
    assert not image.is_reduced


def test_images_that_are_too_many_bytes_are_all_made_smaller() -> None:
    pictures = [random_picture(300) for _ in range(6)]
    gallery = PageImages(pictures, page_bytes=400_000)
    image = [each for each in map(gallery.__getitem__, pictures) if each]
    assert len(image) == 6
    assert sum(len(each.file.data) for each in image) <= 400_000


def test_what_is_no_image_is_not_shown() -> None:
    broken = Picture(b"no", "image/png", 9000, 9000)
    assert PageImages([broken])[broken] is None
    assert reduce_image(broken) is None


def test_a_thumbnail_is_small() -> None:
    small = reduce_image(random_picture(800))
    assert small is not None
    assert max(small.width, small.height) <= 360
    assert len(small.data) <= 60_000
