"""Small pictures made for tests, as files and as pixels."""

from __future__ import annotations

import os
import struct
import zlib
from io import BytesIO
from typing import Any

from PIL import Image

from pyvision.types import Picture

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    file = BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def opened(picture: Picture) -> Image.Image:
    return Image.open(BytesIO(picture.data))


def pixel(picture: Picture, x: int, y: int) -> Any:
    return opened(picture).convert("RGB").getpixel((x, y))


def noise(width: int, height: int) -> Image.Image:
    return Image.frombytes("RGB", (width, height), os.urandom(width * height * 3))


def png(width: int, height: int, body: bytes = b"") -> bytes:
    """A PNG of 8-bit grey that declares any size at all."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(body)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
