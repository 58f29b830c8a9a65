"""Fit an image to what an endpoint accepts: its side, its pixels, its bytes."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING

from pyvision.images.encode import encode_image
from pyvision.images.pixels import file_hash, resize
from pyvision.types import Picture

if TYPE_CHECKING:
    from PIL.Image import Image

_REMEMBERED = 64  # fitted pictures, each within FitLimits.file_bytes


@dataclass(frozen=True, slots=True)
class FitLimits:
    """The limits of an image that every endpoint accepts."""

    side_px: int = 2048  # longest side
    least_px: int = 28  # shortest side: one patch of the common vision encoders; 1x1 crashes some servers
    enlarge_px: int = (
        0  # a shorter side that a model is to see details in grows to it, if the longest side allows
    )
    aspect: int = 100  # longest to shortest side; some processors refuse 200
    file_bytes: int = 3_750_000  # 5 MB once it is base64


@dataclass(frozen=True, slots=True)
class Fitted:
    """A picture as it is sent. Coordinates count from the top left: original = sent / scale on each axis.

    What was padded lies at the right and at the bottom, so the origin never moves.
    """

    picture: Picture
    scale_x: float
    scale_y: float

    def to_original(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the sent picture lies in the original; padding lies outside of it."""
        return x / self.scale_x, y / self.scale_y


_FITTED: OrderedDict[tuple[str, FitLimits], Fitted] = OrderedDict()
_FITTED_LOCK = Lock()


def fit(picture: Picture, limits: FitLimits = FitLimits()) -> Fitted:
    """The picture within the limits, with its scale to the original; unchanged if it is within them already.

    Larger ones are scaled down, tiny ones up by a whole factor, thin ones padded with white, and what has
    too many bytes becomes a JPEG. Results are cached by content. Raises ImageError.
    """
    if _fits(picture, limits):
        return Fitted(picture, 1.0, 1.0)
    key = (file_hash(picture), limits)
    with _FITTED_LOCK:
        if key in _FITTED:
            _FITTED.move_to_end(key)
            return _FITTED[key]
    fitted = _refit(picture, limits)
    with _FITTED_LOCK:
        _FITTED[key] = fitted
        while len(_FITTED) > _REMEMBERED:
            _FITTED.popitem(last=False)
    return fitted


def _fits(picture: Picture, limits: FitLimits) -> bool:
    short, long = sorted((picture.width, picture.height))
    return (
        long <= limits.side_px
        and short >= limits.least_px
        and _growth(picture, limits) == 1
        and long <= short * limits.aspect
        and len(picture.data) <= limits.file_bytes
    )


def _refit(picture: Picture, limits: FitLimits) -> Fitted:
    side_px = limits.side_px
    while True:
        image = resize(picture, _target_size(picture, replace(limits, side_px=side_px)))
        scale_x, scale_y = image.width / picture.width, image.height / picture.height
        sent = encode_image(_pad(image, limits), picture.mime, limits.file_bytes)
        if len(sent.data) <= limits.file_bytes or side_px <= limits.least_px:
            return Fitted(sent, scale_x, scale_y)
        side_px //= 2


def _target_size(picture: Picture, limits: FitLimits) -> tuple[int, int]:
    """The size without padding."""
    width, height, side_px = picture.width, picture.height, limits.side_px
    long = max(width, height)
    if long > side_px:
        return max(1, round(width * side_px / long)), max(1, round(height * side_px / long))
    factor = _growth(picture, limits)
    return width * factor, height * factor


def _growth(picture: Picture, limits: FitLimits) -> int:
    """The whole factor by which a small picture grows, so that its pixels stay sharp; 1 for any other."""
    short, long = sorted((picture.width, picture.height))
    wanted = max(limits.least_px, limits.enlarge_px)
    return max(1, min(-(-wanted // short), limits.side_px // long))


def _pad(image: Image, limits: FitLimits) -> Image:
    from PIL import Image as PillowImage

    least = max(limits.least_px, -(-max(image.size) // limits.aspect))
    size = max(image.width, least), max(image.height, least)
    if size == image.size:
        return image
    padded = PillowImage.new(image.mode, size, "white")
    padded.paste(image, (0, 0))
    return padded
