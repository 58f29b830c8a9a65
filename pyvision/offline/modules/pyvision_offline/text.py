"""Read text with an engine that is installed in the sandbox."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tempfile
from typing import Any

import numpy as np


def read_text(picture: Any, layout: int = 3) -> tuple[list[str], str]:
    """The lines of text, and why there are none. layout: tesseract's page segmentation mode, 11 for scattered text."""
    engine = _find_engine()
    if engine is None:
        return [], "no text engine is installed in the sandbox (install tesseract or the package rapidocr)"
    read = (line.strip() for line in _read_lines(engine, picture, layout))
    lines = [line for line in read if line]
    return lines, "" if lines else "no text was read"


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
