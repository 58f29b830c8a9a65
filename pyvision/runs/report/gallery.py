"""Every picture of a run once, as the page shows it: smaller where the page would grow too large."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass

from pyvision.errors import ImageError
from pyvision.images.fit import FitLimits, fit
from pyvision.images.pixels import file_hash
from pyvision.types import Picture

PAGE_BYTES = 21_000_000  # of pictures on one page: 28 MB once they are base64
_STARTS = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
_THUMBNAIL = FitLimits(side_px=360, least_px=1, aspect=1_000_000, file_bytes=60_000)
# From the best to the smallest: the first of which the pictures fit on one page is taken for all.
_LEVELS = tuple(
    FitLimits(side_px=side, least_px=1, aspect=1_000_000, file_bytes=size)
    for side, size in (
        (4096, 4_000_000),
        (2048, 1_000_000),
        (1600, 400_000),
        (1024, 120_000),
        (512, 30_000),
        (256, 8_000),
    )
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture as it stands on the page: its own size in pixels, and the file that is shown for it."""

    picture: Picture
    file: Picture

    @property
    def is_reduced(self) -> bool:
        return (self.file.width, self.file.height) != (self.picture.width, self.picture.height)

    @property
    def url(self) -> str:
        return data_url(self.file)


class Gallery:
    """Holds the pictures of one page under the hashes of their bytes."""

    def __init__(self, pictures: Iterable[Picture], page_bytes: int = PAGE_BYTES) -> None:
        unique = {file_hash(picture): picture for picture in pictures}
        self._shown = _fitted(unique, page_bytes)
        self.is_reduced = any(shown.is_reduced for shown in self._shown.values())

    def __getitem__(self, picture: Picture) -> Shown | None:
        """None for what turned out to be no picture."""
        return self._shown.get(file_hash(picture))


def thumbnail(picture: Picture) -> Picture | None:
    """At most 360 pixels wide and high; None for what is no picture."""
    try:
        return fit(picture, _THUMBNAIL).picture
    except ImageError:
        return None


def data_url(picture: Picture) -> str:
    return f"data:{picture.mime};base64,{b64encode(picture.data).decode()}"


def _fitted(pictures: dict[str, Picture], page_bytes: int) -> dict[str, Shown]:
    for level in _LEVELS[:-1]:
        shown = _within(pictures, level, page_bytes)
        if shown is not None:
            return shown
    return {key: found for key, picture in pictures.items() if (found := _at(picture, _LEVELS[-1]))}


def _within(pictures: dict[str, Picture], level: FitLimits, page_bytes: int) -> dict[str, Shown] | None:
    """None as soon as they are too many bytes."""
    shown: dict[str, Shown] = {}
    for key, picture in pictures.items():
        found = _at(picture, level)
        if found:
            shown[key] = found
            page_bytes -= len(found.file.data)
        if page_bytes < 0:
            return None
    return shown


def _at(picture: Picture, level: FitLimits) -> Shown | None:
    if not picture.data.startswith(_STARTS[picture.mime]):
        return None
    try:
        return Shown(picture, fit(picture, level).picture)
    except ImageError:
        return None
