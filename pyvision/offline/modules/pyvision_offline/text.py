"""Read text with an engine that is installed in the sandbox."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from typing import Any

import numpy as np

_WORD = re.compile(r"[^\W\d_]{3}")


def read_text(picture: Any, layout: int = 3) -> tuple[list[str], str]:
    """The lines of text, and why there are none. layout: tesseract's page segmentation mode, 11 for scattered text."""
    engine = _find_engine()
    if engine is None:
        return [], "no text engine is installed in the sandbox (install tesseract or the package rapidocr)"
    read = (line.strip() for line in _read_lines(engine, picture, layout))
    lines = [line for line in read if line]
    return lines, "" if lines else "no text was read"


def find_lines(picture: Any) -> tuple[list[tuple[int, int, int, int]], str]:
    """Boxes (left, top, right, bottom) around lines with words, with a margin, and why there are none."""
    engine = _find_engine()
    if engine is None or engine == "tesseract":
        return (
            [],
            "no engine that says where text is, is installed in the sandbox (install the package rapidocr)",
        )
    result = importlib.import_module(engine).RapidOCR()(np.asarray(picture.convert("RGB")))
    found = zip(result.boxes, result.txts, strict=True) if hasattr(result, "txts") and result.txts else ()
    boxes = [_around(np.asarray(corners), picture.size) for corners, text in found if _WORD.search(text)]
    return boxes, "" if boxes else "no word was found"


def _around(corners: Any, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """The box around a line, with a margin of its height."""
    (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
    margin = bottom - top
    return (
        max(0, int(left - margin)),
        max(0, int(top - margin)),
        min(size[0], int(right + margin)),
        min(size[1], int(bottom + margin)),
    )


def _find_engine() -> str | None:
    if shutil.which("tesseract"):
        return "tesseract"
    packages = ("rapidocr", "rapidocr_onnxruntime")
    return next((name for name in packages if importlib.util.find_spec(name)), None)


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
    result = importlib.import_module(engine).RapidOCR()(np.asarray(large))
    if hasattr(result, "txts"):
        return list(result.txts or ())
    return [line[1] for line in result[0] or ()]
