"""Pictures: read from files and bytes, fitted to what an endpoint takes, cut, and given as pixels.

Covered: whatever `decoding` covers, and files that are no files, too large, tiny, or may not be read.
Not covered: colour profiles are ignored, and only the first frame of an animation or document is read.
"""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Literal

from pyvision.errors import ImageError
from pyvision.images.decode import as_rgb, check_size, decoding, upright
from pyvision.images.encode import is_plain, jpeg, png, without_metadata
from pyvision.types import Picture

MAX_FILE_BYTES = 256 * 2**20
NAME_CHARS = 300  # of a file name in an error message

_URL = re.compile(r"(https?|ftp|s3|gs|file|data):", re.IGNORECASE)


def read(source: str | Path) -> Picture:
    """The picture in a file, upright, RGB or grey, every pixel kept. Raises ImageError."""
    name = format_name(str(source))
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
    name = format_name(name)
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
        raise ImageError(f"image {name}: may not be read; allow it with chmod +r") from error
    except OSError as error:
        raise ImageError(f"image {name}: cannot be read ({error.strerror}); check the path") from error
    except ValueError as error:  # a NUL in the name
        raise ImageError(f"image {name}: no file can have this name; check the path") from error
