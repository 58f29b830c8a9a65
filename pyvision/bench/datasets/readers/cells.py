"""Picture cells: a path beside the file, a data URL, base64, or what the `datasets` library hands out."""

from __future__ import annotations

import binascii
import os
import re
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyvision.bench.datasets.readers.rows import is_empty
from pyvision.errors import ImageError
from pyvision.images.read import format_name

_DATA_URL = re.compile(r"data:[\w/+.-]*;base64,")


def pictures_in(value: Any, folder: Path, place: str) -> tuple[bytes | Path, ...]:
    """The pictures of a cell that holds one path or data URL, a list of them, or nothing. Raises ImageError."""
    if is_empty(value):
        return ()
    if isinstance(value, list | tuple):
        return tuple(_picture(each, folder, place) for each in value)
    return (_picture(value, folder, place),)


def path_beside(name: str, folder: Path, place: str) -> Path:
    """The absolute path of a picture file, which has to lie in the folder or below. Raises ImageError.

    Not covered: symbolic links, for which whoever unpacked the folder answers.
    """
    shown = format_name(name)
    if re.match(r"[a-z]+://", name, re.IGNORECASE):
        raise ImageError(f"{place}: image {shown}: a URL is not fetched; download it and give the path")
    path = Path(os.path.abspath(folder / name))  # noqa: PTH100 - Path.absolute would keep the ..
    if not path.is_relative_to(os.path.abspath(folder)):  # noqa: PTH100
        raise ImageError(f"{place}: image {shown}: leads out of {str(folder)!r}; move the picture into it")
    try:
        found = path.is_file()
    except (OSError, ValueError):  # a name that is too long, or holds a NUL
        found = False
    if not found:
        raise ImageError(f"{place}: image {shown}: there is no such file in {str(folder)!r}; check the path")
    return path


def from_base64(text: str, place: str) -> bytes:
    """The file that is written as base64, with or without the start of a data URL. Raises ImageError."""
    start = _DATA_URL.match(text)
    try:
        return b64decode("".join(text[start.end() if start else 0 :].split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ImageError(f"{place}: image: is no base64 ({error}); write the file again") from error


def _picture(value: Any, folder: Path, place: str) -> bytes | Path:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return from_base64(value, place) if _DATA_URL.match(value) else path_beside(value, folder, place)
    if isinstance(value, Mapping) and isinstance(value.get("bytes"), bytes):  # `datasets`, not decoded
        return bytes(value["bytes"])
    if isinstance(value, Mapping) and isinstance(value.get("path"), str):
        return path_beside(value["path"], folder, place)
    raise ImageError(f"{place}: image {str(value)[:60]!r}: is a {type(value).__name__}; give a path")
