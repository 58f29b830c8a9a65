"""Open the bytes of a picture with Pillow, and make of them an upright image of 8 bits: broken files end here.

Covered: files that are damaged, cut short, huge, rotated, transparent, of 16 bits or no picture at all.
Not covered: colour profiles are ignored, and only the first frame of an animation or document is read.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, cast

from pyvision.errors import ImageError

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS = 200_000_000  # the largest cameras of telephones; four bytes each while decoding
# Only decoders that work inside this process: EPS and PDF, for two, would start other programs.
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "PPM")  # MPO comes with JPEG
_STARTS = (b"\x89PNG", b"\xff\xd8\xff", b"RIFF", b"GIF8", b"BM", b"II*\0", b"MM\0*")  # of those formats
_LOOKS_LIKE = (
    (rb"%PDF", "a PDF document"),
    (rb"%!PS", "a PostScript document"),
    (rb"PK\x03\x04", "a ZIP archive or an office document"),
    (rb"\x1f\x8b", "a gzip archive"),
    (rb".{4}ftyp(heic|heix|mif1|msf1)", "a HEIC photo"),
    (rb".{4}ftypavi[fs]", "an AVIF picture"),
    (rb".{4}ftyp", "a video"),
    (rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)?(<!DOCTYPE svg[^>]*>\s*)?<svg", "an SVG drawing"),
    (rb"\s*<(!doctype html|html)", "a web page"),
)
_DECODING = Lock()


@contextmanager
def decoding(data: bytes, name: str) -> Iterator[Image]:
    """An opened image, whose pixels are not read yet: see `check_size`.

    Whatever a broken file leads Pillow into, in here, becomes an ImageError; `name` is for its message.
    """
    try:
        with _own_limits(), _open(data, _FORMATS) as image:
            yield image
    except ImageError:
        raise
    except MemoryError as error:
        raise ImageError(
            f"image {name}: there is no memory left to decode it; scale it down first"
        ) from error
    except Exception as error:  # the decoders raise anything at all on hostile files
        raise ImageError(f"image {name}: {_complaint(data, error)}") from error


def check_size(image: Image, name: str) -> None:
    """Stands between the header and the pixels: a decompression bomb gets no further. Raises ImageError."""
    width, height = image.size
    if width < 1 or height < 1:
        raise ImageError(f"image {name}: is {width}x{height} pixels; give a picture with pixels in it")
    if width * height > MAX_PIXELS:
        raise ImageError(
            f"image {name}: is {width}x{height} pixels, more than {MAX_PIXELS:,}; scale it down first"
        )


def orientation(image: Image) -> int:
    """How a camera was held, 1 to 8 as EXIF counts; 1 is upright, and where nothing sensible is said."""
    from PIL.ExifTags import Base

    turn = image.getexif().get(Base.Orientation, 1)
    return turn if turn in range(1, 9) else 1


def upright(image: Image) -> Image:
    """The image, turned as its EXIF says."""
    from PIL import ImageOps

    return ImageOps.exif_transpose(image) if orientation(image) != 1 else image


def as_rgb(image: Image) -> Image:
    """RGB of 8 bits: deep grey is scaled, what is transparent is laid on white."""
    from PIL import Image as PillowImage

    if image.mode == "F" or image.mode.startswith("I"):
        return _eight_bits(image).convert("RGB")
    if image.has_transparency_data:
        opaque = PillowImage.new("RGB", image.size, "white")
        see_through = image.convert("RGBA")
        opaque.paste(see_through, mask=see_through)
        return opaque
    return image.convert("RGB")


def _eight_bits(image: Image) -> Image:
    """Deep grey scaled to 8 bits: 16 bits by 257, all else so that it spans from black to white."""
    image.info.pop("transparency", None)  # one of 65,536 greys, which means nothing among 256
    low, high = cast("tuple[float, float]", image.getextrema())
    if image.mode != "F" and low >= 0 and high <= 65535:
        low, high = 0, 65535
    scale = 255 / ((high - low) or 1)
    return image.point(lambda value: value * scale + (0.5 - low * scale)).convert("L")


@contextmanager
def _own_limits() -> Iterator[None]:
    """Pillow warns at 89 megapixels, fails at 178 and warns of bad metadata: MAX_PIXELS decides instead.

    Both switches belong to the whole process, so one picture is decoded at a time, and they are put back.
    """
    from PIL import Image

    with _DECODING, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
        try:
            yield
        finally:
            Image.MAX_IMAGE_PIXELS = before


def _open(data: bytes, formats: tuple[str, ...]) -> Image:
    from io import BytesIO

    from PIL import Image

    return Image.open(BytesIO(data), formats=formats)


def _complaint(data: bytes, error: Exception) -> str:
    from PIL import UnidentifiedImageError

    if not isinstance(error, UnidentifiedImageError):
        return f"is damaged or cut short ({' '.join(str(error).split())}); get a whole copy"
    if data.startswith(_STARTS):
        return "is damaged or cut short; get a whole copy"
    return f"is no picture, it looks like {_looks_like(data[:4096])}; give a PNG or a JPEG"


def _looks_like(start: bytes) -> str:
    for pattern, what in _LOOKS_LIKE:
        if re.match(pattern, start, re.IGNORECASE | re.DOTALL):
            return what
    is_text = not re.search(rb"[\x00-\x08\x0e-\x1a]", start)
    return "text" if is_text else "data of another kind"
