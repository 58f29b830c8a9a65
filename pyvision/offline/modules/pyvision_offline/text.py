"""Read text with an engine that is installed in the sandbox."""

from __future__ import annotations

import importlib.util
import math
import shutil
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, TypeAlias

import numpy as np

_SURE = 0.75  # of 1: what the engine reads with less certainty is left out
_LINE_PX = 96  # height of a line that is read by itself
_MARGIN = 1.5  # around lines, as a share of their longest side
_Box: TypeAlias = tuple[int, int, int, int]


@dataclass(frozen=True)
class TextLine:
    """A line of text. corners: four (x, y) in pixels of the picture, clockwise from its start. score: from 0 to 1."""

    text: str
    corners: Any
    score: float = 1.0

    @property
    def box(self) -> _Box:
        """(left, top, right, bottom), upright."""
        (left, top), (right, bottom) = self.corners.min(axis=0), self.corners.max(axis=0)
        return int(left), int(top), int(right), int(bottom)

    def overlaps(self, other: TextLine) -> bool:
        """Whether they share more than half of the smaller one: then they are two readings of one line."""
        left, top, right, bottom = np.stack([self.box, other.box]).T
        width, height = right.min() - left.max(), bottom.min() - top.max()
        smaller = ((right - left) * (bottom - top)).min()
        return bool(width > 0 and height > 0 and width * height > smaller / 2)


def read_text(picture: Any, layout: int = 3) -> tuple[list[str], str]:
    """The lines of text, and why there are none. layout: tesseract's page segmentation mode, 11 for scattered text."""
    engine = _find_engine()
    if engine is None:
        return [], "no text engine is installed in the sandbox (install tesseract or the package rapidocr)"
    read = (line.strip() for line in _read_lines(engine, picture, layout))
    lines = [line for line in read if line]
    return lines, "" if lines else "no text was read"


def find_text(picture: Any, box: _Box | None = None) -> tuple[list[TextLine], str]:
    """Lines of text in a region, seen at two scales, or in the whole picture, and why there are none."""
    if _find_engine() in (None, "tesseract"):
        return [], "no engine that locates text is installed in the sandbox (install rapidocr)"
    found: list[TextLine] = []
    for side in (1000, 1400) if box else (2048,):
        lines = _find_lines(picture, box or (0, 0, *picture.size), side)
        found += [line for line in lines if not any(line.overlaps(other) for other in found)]
    return found, "" if found else "no text was found"


def look_around(lines: list[TextLine], size: tuple[int, int]) -> _Box:
    """The box around the lines with a wide margin, in a picture of (width, height); without lines, all of it."""
    if not lines:
        return 0, 0, *size
    boxes = np.array([line.box for line in lines])
    margin = _MARGIN * (boxes[:, 2:] - boxes[:, :2]).max()
    left, top = np.maximum(boxes[:, :2].min(axis=0) - margin, 0)
    right, bottom = np.minimum(boxes[:, 2:].max(axis=0) + margin, size)
    return int(left), int(top), int(right), int(bottom)


def read_line(picture: Any, line: TextLine) -> str:
    """The text of a line that is turned level and enlarged, on which most of several readings agree."""
    readings = Counter({line.text: line.score})
    for beside, above in product((0, 0.2, 0.4), (0, 0.1)):
        level = _turn_level(picture, line.corners, beside, above)
        found = _load_engine(_find_engine() or "")(np.asarray(level), use_det=False, use_cls=False)
        readings.update(dict(zip(found.txts or (), map(float, found.scores or ()), strict=True)))
    return max(readings, key=lambda text: (readings[text], len(text)))


def _find_lines(picture: Any, box: _Box, side: int) -> list[TextLine]:
    """Lines in a region that is scaled so that its longer side has so many pixels."""
    region = picture.crop(box).convert("RGB")
    scale = side / max(region.size)
    scaled = region.resize([max(1, round(length * scale)) for length in region.size], 1)  # 1: Lanczos
    found = _load_engine(_find_engine() or "")(np.asarray(scaled), use_det=True, use_cls=True)
    if not hasattr(found, "txts") or not found.txts:
        return []
    return [
        TextLine(text, np.asarray(corners) / scale + box[:2], float(score))
        for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
        if score >= _SURE and sum(map(str.isalnum, text)) > 1
    ]


def _turn_level(picture: Any, corners: Any, beside: float, above: float) -> Any:
    """A line, level and enlarged, with margins on each side that are given in heights of the line."""
    start, end, _, below = corners
    angle = math.atan2(*(end - start)[::-1])
    height = np.linalg.norm(below - start)
    size = np.array([np.linalg.norm(end - start) + 2 * beside * height, (1 + 2 * above) * height])
    scale = _LINE_PX / height
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    (a, b), (d, e) = turn / scale
    left, top = corners.mean(axis=0) - turn @ size / 2
    width, tall = (max(1, round(side * scale)) for side in size)
    return picture.convert("RGB").transform(
        (width, tall), 0, (a, b, left, d, e, top), 3
    )  # 0: affine, 3: bicubic


def _find_engine() -> str | None:
    if shutil.which("tesseract"):
        return "tesseract"
    packages = ("rapidocr", "rapidocr_onnxruntime")
    return next((name for name in packages if importlib.util.find_spec(name)), None)


@cache
def _load_engine(name: str) -> Any:
    return importlib.import_module(name).RapidOCR()


def _read_lines(engine: str, picture: Any, layout: int) -> list[str]:
    """What the engine reads in the picture, enlarged if that is small."""
    factor = 3 if max(picture.size) < 700 else 2 if max(picture.size) < 1400 else 1
    large = picture.convert("RGB").resize([side * factor for side in picture.size], 1)  # 1: Lanczos
    if engine == "tesseract":
        with tempfile.NamedTemporaryFile(suffix=".png") as file:
            large.save(file.name)
            command = ["tesseract", file.name, "stdout", "--psm", str(layout)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            return done.stdout.splitlines()
    result = _load_engine(engine)(np.asarray(large), use_det=True, use_cls=True)
    if hasattr(result, "txts"):
        return list(result.txts or ())
    return [line[1] for line in result[0] or ()]
