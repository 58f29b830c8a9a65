"""Pictures: read from files and bytes, fitted to what an endpoint takes, cut, and given as pixels.

Covered: whatever `decoding` covers, and files that are no files, too large, tiny, or may not be read.
Not covered: colour profiles are ignored, and only the first frame of an animation or document is read.
"""

from __future__ import annotations

import math
import re
import stat
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal

from pyvision.decoding import as_rgb, check_size, decoding, upright
from pyvision.encoding import encoded, is_plain, jpeg, png, without_metadata
from pyvision.errors import ImageError
from pyvision.types import Picture

if TYPE_CHECKING:
    from numpy import uint8
    from numpy.typing import NDArray
    from PIL.Image import Image

MAX_FILE_BYTES = 256 * 2**20
NAME_CHARS = 300  # of a file name in an error message

_URL = re.compile(r"(https?|ftp|s3|gs|file|data):", re.IGNORECASE)
_REMEMBERED = 64  # fitted pictures, each within FitLimits.file_bytes


@dataclass(frozen=True, slots=True)
class FitLimits:
    """What a picture must keep to so that every endpoint takes it."""

    side_px: int = 2048  # longest side
    least_px: int = 28  # shortest side: one patch of the common vision encoders; 1x1 crashes some servers
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


def read(source: str | Path) -> Picture:
    """The picture in a file, upright, RGB or grey, every pixel kept. Raises ImageError."""
    name = shown_name(str(source))
    if _URL.match(str(source)):
        raise ImageError(f"image {name}: a URL is not fetched; download it first and give the file")
    if not str(source):
        raise ImageError("image '': the path is empty; give the path of a picture")
    return decode(_file_bytes(Path(source), name), str(source))


def decode(data: bytes, name: str) -> Picture:
    """The picture in these bytes; `name` is for messages only. Raises ImageError.

    A PNG or JPEG that is upright, opaque and of 8 bits keeps its own bytes but for metadata: where a photo was
    taken is not for a model. A JPEG that has to be turned or converted stays one, all else becomes a PNG.
    """
    name = shown_name(name)
    if not data:
        raise ImageError(f"image {name}: the file is empty; give a picture")
    if len(data) > MAX_FILE_BYTES:
        raise ImageError(f"image {name}: larger than {MAX_FILE_BYTES:,} bytes; scale it down first")
    with decoding(data, name) as image:
        check_size(image, name)
        image.load()
        if is_plain(image, data):
            mime: Literal["image/png", "image/jpeg"] = "image/png" if image.format == "PNG" else "image/jpeg"
            own = data if mime == "image/png" else without_metadata(data)
            return Picture(own, mime, image.width, image.height)
        turned = as_rgb(upright(image))
        if image.format in ("JPEG", "MPO"):  # as a PNG a photo would be six times as large
            own = without_metadata(jpeg(turned, 95, "4:4:4"))
            return Picture(own, "image/jpeg", turned.width, turned.height)
        return Picture(png(turned, 1), "image/png", turned.width, turned.height)


def fit(picture: Picture, limits: FitLimits = FitLimits()) -> Fitted:
    """The picture within the limits, with its scale to the original; its own bytes where they already are.

    Larger ones are scaled down, tiny ones up by a whole factor, thin ones padded with white, and what has
    too many bytes becomes a JPEG. The work is done once for one content. Raises ImageError.
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


def crop(picture: Picture, box: tuple[float, float, float, float]) -> Picture:
    """The part in a box: left, top, right, bottom in pixels from the top left, every touched pixel with it.

    What lies outside of the picture is cut off. Raises ImageError when nothing is left.
    """
    if not all(map(math.isfinite, box)):
        raise ImageError(f"box {box}: has an edge that is no number; give pixels")
    left, top = max(0, math.floor(box[0])), max(0, math.floor(box[1]))
    right, bottom = min(picture.width, math.ceil(box[2])), min(picture.height, math.ceil(box[3]))
    if right <= left or bottom <= top:
        size = f"{picture.width}x{picture.height}"
        raise ImageError(
            f"box {box}: has no pixel in a picture of {size}; give left < right and top < bottom"
        )
    part = opened(picture).crop((left, top, right, bottom))
    if picture.mime == "image/png":
        return Picture(png(part, 1), "image/png", part.width, part.height)
    return Picture(jpeg(part, 95, "4:4:4"), "image/jpeg", part.width, part.height)


def pixels(picture: Picture, side_px: int | None = None) -> NDArray[uint8]:
    """Rows from the top, columns from the left, RGB of 8 bits. side_px: scaled down until no side is longer.

    Raises ImageError.
    """
    import numpy

    size = picture.width, picture.height
    longest = max(size)
    if side_px is not None and longest > side_px:
        size = max(1, round(size[0] * side_px / longest)), max(1, round(size[1] * side_px / longest))
    return numpy.asarray(_resized(picture, size).convert("RGB"))


def opened(picture: Picture) -> Image:
    """The picture as Pillow knows it, RGB or grey, decoded: for libraries that take nothing else. Raises ImageError."""
    return _resized(picture, (picture.width, picture.height))


def file_hash(picture: Picture) -> str:
    """The SHA-256 of the encoded file, in hexadecimal: the name under which it is stored."""
    from hashlib import sha256

    return sha256(picture.data).hexdigest()


def suffix(picture: Picture) -> Literal[".png", ".jpg"]:
    """The ending of the name of its file."""
    return ".png" if picture.mime == "image/png" else ".jpg"


def shown_name(name: str) -> str:
    """A file name quoted for a message: one line whatever it holds, long ones cut in the middle."""
    if len(name) > NAME_CHARS:
        name = f"{name[: NAME_CHARS // 2]}…{name[-NAME_CHARS // 2 :]}"
    return repr(name)


def _file_bytes(path: Path, name: str) -> bytes:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise ImageError(f"image {name}: is a folder; give the pictures in it one by one")
        if not stat.S_ISREG(status.st_mode):  # reading a pipe or a device might never end
            raise ImageError(f"image {name}: is not a regular file; save it to one first")
        if status.st_size > MAX_FILE_BYTES:
            raise ImageError(f"image {name}: larger than {MAX_FILE_BYTES:,} bytes; scale it down first")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise ImageError(f"image {name}: there is no such file; check the path") from error
    except PermissionError as error:
        raise ImageError(f"image {name}: may not be read; allow it with chmod +r") from error
    except OSError as error:
        raise ImageError(f"image {name}: cannot be read ({error.strerror}); check the path") from error
    except ValueError as error:  # a NUL in the name
        raise ImageError(f"image {name}: no file can have this name; check the path") from error


def _fits(picture: Picture, limits: FitLimits) -> bool:
    short, long = sorted((picture.width, picture.height))
    return (
        long <= limits.side_px
        and short >= limits.least_px
        and long <= short * limits.aspect
        and len(picture.data) <= limits.file_bytes
    )


def _refit(picture: Picture, limits: FitLimits) -> Fitted:
    side_px = limits.side_px
    while True:
        image = _resized(picture, _sent_size(picture, side_px, limits.least_px))
        scale_x, scale_y = image.width / picture.width, image.height / picture.height
        sent = encoded(_padded(image, limits), picture.mime, limits.file_bytes)
        if len(sent.data) <= limits.file_bytes or side_px <= limits.least_px:
            return Fitted(sent, scale_x, scale_y)
        side_px //= 2


def _sent_size(picture: Picture, side_px: int, least_px: int) -> tuple[int, int]:
    """The size without padding. Small ones grow by a whole factor, so that their pixels stay sharp."""
    width, height = picture.width, picture.height
    short, long = sorted((width, height))
    if long > side_px:
        return max(1, round(width * side_px / long)), max(1, round(height * side_px / long))
    factor = max(1, min(-(-least_px // short), side_px // long))
    return width * factor, height * factor


def _resized(picture: Picture, size: tuple[int, int]) -> Image:
    from PIL.Image import Resampling

    with decoding(picture.data, "to send") as image:
        image.draft(image.mode, size)  # a large JPEG is decoded at a fraction of its size
        image.load()
        plain = image if image.mode == "L" and not image.has_transparency_data else as_rgb(image)
        if size == (picture.width, picture.height):
            return plain.copy()
        grows = size[0] > picture.width
        return plain.resize(size, Resampling.NEAREST if grows else Resampling.LANCZOS)


def _padded(image: Image, limits: FitLimits) -> Image:
    from PIL import Image as PillowImage

    least = max(limits.least_px, -(-max(image.size) // limits.aspect))
    size = max(image.width, least), max(image.height, least)
    if size == image.size:
        return image
    padded = PillowImage.new(image.mode, size, "white")
    padded.paste(image, (0, 0))
    return padded
