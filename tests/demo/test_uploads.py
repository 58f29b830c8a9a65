from __future__ import annotations

from pathlib import Path

import pytest

from pyvision.demo.settings import UploadLimits, read_images
from pyvision.errors import ImageError
from tests.doubles import png

LIMITS = UploadLimits(pictures=2, picture_bytes=5_000, picture_pixels=2_000)


def a_file(folder: Path, name: str = "photo.png", data: bytes | None = None) -> Path:
    path = folder / name
    path.write_bytes(png() if data is None else data)
    return path


def test_pictures_come_in_the_order_in_which_they_were_given(tmp_path: Path) -> None:
    files = [a_file(tmp_path, "b.png", png(9, 9)), a_file(tmp_path, "a.png", png(5, 5))]
    assert [picture.width for picture in read_images(files, LIMITS)] == [9, 5]


def test_too_many_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="the limit is 2"):
        read_images([a_file(tmp_path)] * 3, LIMITS)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"x" * 6_000, "the limit is"),
        (png(100, 100), "100 x 100"),
        (b"<svg onload=alert(1)>", "photo.png"),
        (b"", "empty"),
    ],
)
def test_what_is_no_small_picture_is_refused_by_its_own_name(
    tmp_path: Path, data: bytes, expected: str
) -> None:
    with pytest.raises(ImageError, match=expected) as caught:
        read_images([a_file(tmp_path, data=data)], LIMITS)
    assert str(tmp_path) not in str(caught.value)
    assert "\n" not in str(caught.value)
