"""What a visitor hands in: few, small, real pictures; anything else is one line that says what is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyvision.errors import ImageError
from pyvision.images.read import decode
from pyvision.types import Picture


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """The most that one question may bring; bytes and pixels for each picture."""

    pictures: int = 8
    picture_bytes: int = 20 * 2**20
    picture_pixels: int = 50_000_000


def pictures_of(files: Sequence[Path], limits: UploadLimits) -> tuple[Picture, ...]:
    """The pictures in these files. Raises ImageError, which names the file as its visitor called it."""
    if len(files) > limits.pictures:
        raise ImageError(
            f"{len(files)} pictures are too many for one question; give at most {limits.pictures}"
        )
    return tuple(_picture(file, limits) for file in files)


def _picture(file: Path, limits: UploadLimits) -> Picture:
    size = file.stat().st_size
    if size > limits.picture_bytes:
        most = limits.picture_bytes // 2**20
        raise ImageError(f"{file.name!r} has {size / 2**20:.1f} MB; a picture may have {most} MB")
    picture = decode(file.read_bytes(), file.name)
    if picture.width * picture.height > limits.picture_pixels:
        most = limits.picture_pixels // 10**6
        raise ImageError(
            f"{file.name!r} is {picture.width} x {picture.height}; a picture may have {most} million pixels"
        )
    return picture
