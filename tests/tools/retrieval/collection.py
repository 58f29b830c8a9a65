"""A small collection of drawn pictures and texts, made for tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw

from pyvision.images.read import decode
from pyvision.tools.retrieval.building import IndexProgress, add
from pyvision.types import Picture

COLOURS = ("red", "blue", "green", "orange", "purple", "black", "brown", "teal")


def drawing(number: int, size: tuple[int, int] = (320, 240)) -> Image.Image:
    """A disc, a bar and a triangle whose places and colours hang on the number."""
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    width, height = size
    for place in range(3):
        colour = COLOURS[(number + place * (number // 3 + 1)) % len(COLOURS)]
        x, y = (0.1 + 0.23 * ((number * 3 + place * 5) % 4)) * width, (0.1 + 0.3 * place) * height
        side = (0.1 + 0.05 * ((number + place) % 3)) * width
        box = [x, y, x + side, y + side]
        (draw.ellipse, draw.rectangle, draw.ellipse)[(number + place) % 3](box, fill=colour)
    return image


def flag(*colours: str) -> Image.Image:
    """Upright stripes of equal width."""
    image = Image.new("RGB", (300, 200))
    for place, colour in enumerate(colours):
        image.paste(colour, (place * 300 // len(colours), 0, (place + 1) * 300 // len(colours), 200))
    return image


def picture(image: Image.Image, kind: str = "PNG", quality: int = 75) -> Picture:
    file = BytesIO()
    image.save(file, kind, quality=quality)
    return decode(file.getvalue(), "drawn")


def write_records(path: Path, *records: Mapping[str, object]) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def add_quietly(
    index: Path, *roots: Path, report: Callable[[str], None] = lambda line: None
) -> IndexProgress:
    """Index these files and folders, without progress."""
    return add(index, roots, report, lambda done, whole: None)
