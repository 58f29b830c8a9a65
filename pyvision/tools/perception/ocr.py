"""OCR engines: RapidOCR (PaddleOCR's networks on ONNX) and the tesseract program."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from shutil import which
from typing import Any

from pyvision.errors import ConfigError, MissingExtra, ToolError
from pyvision.images.pixels import pixels
from pyvision.tools.perception.service import (
    Line,
    Service,
    SharedModel,
    ocr_observation,
    picture_of,
    share_model,
)
from pyvision.types import Ask, Observation, Picture, Tool, ToolRequest

_TIME_LIMIT_S = 60.0
_LANGUAGES = re.compile(r"[A-Za-z0-9_]+(?:\+[A-Za-z0-9_]+)*")
_LAYOUTS = ("3", "11")  # a page of text; if nothing is found, sparse text
_MIN_CONFIDENCE = 50.0  # percent, of a word: tesseract takes any edge for writing
_WORD_LEVEL = "5"  # of tesseract's table: page, block, paragraph, line, word


def rapidocr(where: str) -> Tool:
    """Reads printed Latin and Chinese text; needs the extra `ocr`."""
    if where:
        raise ConfigError(f"--tool ocr=rapidocr:{where}: takes nothing after the colon")
    engine = share_model("rapidocr", _load_rapidocr)

    def provide(request: ToolRequest, _: Ask) -> Observation:
        picture = picture_of(request, "ocr")
        return ocr_observation(_rapid_lines(engine, picture), picture)

    return Service("ocr", provide)


def tesseract(where: str) -> Tool:
    """Runs the program `tesseract` for at most a minute. where: languages, such as `deu+eng`; eng by default."""
    languages = where or "eng"
    if not _LANGUAGES.fullmatch(languages):
        raise ConfigError(f"--tool ocr=tesseract:{where}: give languages joined by +, for example deu+eng")
    return Service("ocr", partial(_run_tesseract, languages))


def _load_rapidocr() -> Any:
    try:
        engine = import_module("rapidocr").RapidOCR
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "rapidocr", "ocr") from error
    return engine(params={"Global.log_level": "critical"})


def _rapid_lines(engine: SharedModel, picture: Picture) -> Iterator[Line]:
    array = pixels(picture)[:, :, ::-1]  # RapidOCR expects BGR
    with engine.acquire() as run:
        found = run(array)
    if found.txts is None:
        return
    for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
        across, down = [float(x) for x, _ in corners], [float(y) for _, y in corners]
        yield Line(text, min(across), min(down), max(across), max(down), float(score))


def _run_tesseract(languages: str, request: ToolRequest, _: Ask) -> Observation:
    picture = picture_of(request, "ocr")
    for layout in _LAYOUTS:
        lines = tuple(parse_tsv(_table(picture, languages, layout)))
        if lines:
            break
    return ocr_observation(lines, picture)


def _table(picture: Picture, languages: str, layout: str) -> str:
    """The output of tesseract, tab-separated. Raises ToolError, and ConfigError if the program is missing."""
    program = which("tesseract")
    if program is None:
        raise ConfigError(
            "the program tesseract is not installed; install it with: sudo apt-get install tesseract-ocr"
        )
    try:
        done = subprocess.run(
            [program, "stdin", "stdout", "-l", languages, "--psm", layout, "tsv"],
            input=picture.data,
            capture_output=True,
            timeout=_TIME_LIMIT_S,
            check=False,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},  # more threads make it slower
        )
    except subprocess.TimeoutExpired as error:
        raise ToolError(
            f"ocr: tesseract took longer than {_TIME_LIMIT_S:.0f} s; give a smaller image"
        ) from error
    if done.returncode != 0:
        raise ToolError(f"ocr: tesseract failed: {_last_line(done.stderr)}")
    return done.stdout.decode("utf-8", "replace")


def _last_line(output: bytes) -> str:
    lines = output.decode("utf-8", "replace").split("\n")
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "no error message")


def parse_tsv(table: str) -> Iterator[Line]:
    """The lines in tesseract's TSV output: words with enough confidence, joined by line."""
    lines: dict[tuple[str, ...], list[Line]] = {}
    for row in table.split("\n")[1:]:
        fields = row.split("\t")
        if len(fields) == 12 and fields[0] == _WORD_LEVEL and (word := _word(fields)) is not None:
            lines.setdefault(tuple(fields[1:5]), []).append(word)
    return (_join(words) for words in lines.values())


def _word(fields: Sequence[str]) -> Line | None:
    try:
        left, top, width, height, confidence = (float(field) for field in fields[6:11])
    except ValueError:
        return None
    if confidence < _MIN_CONFIDENCE or not fields[11].strip():  # -1: not a word
        return None
    return Line(fields[11].strip(), left, top, left + width, top + height, confidence / 100)


def _join(words: Iterable[Line]) -> Line:
    parts = tuple(words)
    return Line(
        " ".join(word.text for word in parts),
        min(word.left for word in parts),
        min(word.top for word in parts),
        max(word.right for word in parts),
        max(word.bottom for word in parts),
        sum(word.score for word in parts) / len(parts),
    )
