"""Read images from files and bytes: upright, RGB or grey, 8 bits. Broken files end here, as an ImageError.

Covered: files that are damaged, cut short, huge, tiny, rotated, transparent, of 16 bits, unreadable, or no images.
Not covered: colour profiles are ignored, and only the first frame of an animation or document is read.
"""

from __future__ import annotations

import re
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal, cast

from pyvision.errors import ImageError
from pyvision.images.encode import jpeg, png, without_metadata
from pyvision.types import Picture

if TYPE_CHECKING:
    from PIL.Image import Image


MAX_FILE_BYTES = 256 * 2**20
NAME_CHARS = 300  # of a file name in an error message

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
_URL = re.compile(r"(https?|ftp|s3|gs|file|data):", re.IGNORECASE)


def read(source: str | Path) -> Picture:
    """The picture in a file, upright, RGB or grey, every pixel kept. Raises ImageError."""
    name = format_name(str(source))
    if _URL.match(str(source)):
        raise ImageError(f"image {name}: URLs are not fetched; download the image and give its path")
    if not str(source):
        raise ImageError("image '': the path is empty; give the path of a picture")
    return decode(_file_bytes(Path(source), name), str(source))


def decode(data: bytes, name: str) -> Picture:
    """The picture in these bytes; `name` is for messages only. Raises ImageError.

    A PNG or JPEG that is upright, opaque and of 8 bits keeps its own bytes but for metadata: where a photo was
    taken is not for a model. A JPEG that has to be turned or converted stays one, all else becomes a PNG.
    """
    name = format_name(name)
    if not data:
        raise ImageError(f"image {name}: the file is empty; give a picture")
    if len(data) > MAX_FILE_BYTES:
        raise ImageError(f"image {name}: larger than {MAX_FILE_BYTES:,} bytes; scale it down first")
    with decoding(data, name) as image:
        _check_size(image, name)
        image.load()
        if _is_plain(image, data):
            mime: Literal["image/png", "image/jpeg"] = "image/png" if image.format == "PNG" else "image/jpeg"
            own = data if mime == "image/png" else without_metadata(data)
            return Picture(own, mime, image.width, image.height)
        turned = as_rgb(upright(image))
        if image.format in ("JPEG", "MPO"):  # as a PNG a photo would be six times as large
            own = without_metadata(jpeg(turned, 95, "4:4:4"))
            return Picture(own, "image/jpeg", turned.width, turned.height)
        return Picture(png(turned, 1), "image/png", turned.width, turned.height)


def format_name(name: str) -> str:
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
        raise ImageError(f"image {name}: permission denied; allow it with chmod +r") from error
    except OSError as error:
        raise ImageError(f"image {name}: cannot be read ({error.strerror}); check the path") from error
    except ValueError as error:  # a NUL in the name
        raise ImageError(f"image {name}: this is not a valid file name; check the path") from error


@contextmanager
def decoding(data: bytes, name: str) -> Iterator[Image]:
    """An opened image, whose pixels are not read yet: see `_check_size`.

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


def _check_size(image: Image, name: str) -> None:
    """Stands between the header and the pixels: a decompression bomb gets no further. Raises ImageError."""
    width, height = image.size
    if width < 1 or height < 1:
        raise ImageError(f"image {name}: is {width}x{height} pixels; give a picture with pixels in it")
    if width * height > MAX_PIXELS:
        raise ImageError(
            f"image {name}: is {width}x{height} pixels, more than {MAX_PIXELS:,}; scale it down first"
        )


def _is_plain(image: Image, data: bytes) -> bool:
    """Whether every reader sees in these bytes what we see."""
    if image.mode not in ("RGB", "L") or image.has_transparency_data or _orientation(image) != 1:
        return False
    if image.format == "PNG":  # its 25th byte is the bit depth
        return (
            not image.getexif()
            and data[24] == 8
            and data.endswith(b"IEND\xaeB`\x82")
            and getattr(image, "n_frames", 1) == 1
        )
    return image.format == "JPEG" and data.endswith(b"\xff\xd9")


def _orientation(image: Image) -> int:
    """How a camera was held, 1 to 8 as EXIF counts; 1 is upright, and where nothing sensible is said."""
    from PIL.ExifTags import Base

    turn = image.getexif().get(Base.Orientation, 1)
    return turn if turn in range(1, 9) else 1


def upright(image: Image) -> Image:
    """The image, turned as its EXIF says."""
    from PIL import ImageOps

    return ImageOps.exif_transpose(image) if _orientation(image) != 1 else image


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
    return f"is not an image, it looks like {_looks_like(data[:4096])}; give a PNG or a JPEG"


def _looks_like(start: bytes) -> str:
    for pattern, what in _LOOKS_LIKE:
        if re.match(pattern, start, re.IGNORECASE | re.DOTALL):
            return what
    is_text = not re.search(rb"[\x00-\x08\x0e-\x1a]", start)
    return "text" if is_text else "data of another kind"
