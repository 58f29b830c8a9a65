"""The question and the images of a command: words, files, folders, globs, URLs, standard input, the clipboard."""

from __future__ import annotations

import argparse
import glob
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import which
from typing import TypeAlias

from pyvision.errors import ConfigError, reason

CLIPBOARD = "clipboard:"
STANDARD_INPUT = "-"
_IMAGES = {".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".ppm"}
_PASTE = (  # a variable that says that the clipboard is there, and the command that prints its image
    ("WAYLAND_DISPLAY", ("wl-paste", "--type", "image/png")),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-t", "image/png", "-o")),
)
_MAX_QUESTION_BYTES = 1_000_000
_MAX_IMAGE_BYTES = 256 * 2**20
_PASTE_S = 10.0

Input: TypeAlias = str | bytes
"""A path or a URL, or the bytes of an image."""


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """QUESTION and IMAGE …, and the flags that give them by name."""
    add = parser.add_argument
    add(
        "words",
        nargs="*",
        metavar="QUESTION IMAGE",
        help="the question, then images: files, URLs, folders, quoted glob patterns, - for standard input, clipboard:",
    )
    add(
        "-q",
        "--question",
        metavar="TEXT",
        help="the question; @FILE reads it from a file, - from standard input",
    )
    add("-i", "--image", action="append", default=[], metavar="IMAGE", help="an image as above; repeatable")


def read_inputs(options: argparse.Namespace) -> tuple[str, tuple[Input, ...]]:
    """The question and the images. Raises ConfigError."""
    words = list(options.words)
    question = options.question
    if question is None and words and not is_image(words[0]):
        question = words.pop(0)
    names = [*options.image, *words]
    if not names:
        raise ConfigError("no image is given; name one: pyvision 'QUESTION' photo.jpg, or --image photo.jpg")
    if names.count(STANDARD_INPUT) + (question in (STANDARD_INPUT, None)) > 1:
        raise ConfigError("standard input can be read only once; give the question or an image another way")
    return _read_question(question), tuple(find_images(names))


def is_image(word: str) -> bool:
    """Whether a word names an image rather than being a question."""
    if word in (STANDARD_INPUT, CLIPBOARD) or re.match(r"https?://\S+$", word, re.IGNORECASE):
        return True
    return (Path(word).suffix.lower() in _IMAGES and " " not in word.strip()) or _exists(word)


def find_images(names: Sequence[str]) -> Iterator[Input]:
    """The images that these names stand for; folders and globs in the order of their numbers. Raises ConfigError."""
    for name in names:
        if not name.strip():
            raise ConfigError(f"image {name!r}: the name is empty; is a variable of the shell unset?")
        if name == STANDARD_INPUT:
            yield _read_standard_input("an image", _MAX_IMAGE_BYTES)
        elif name == CLIPBOARD:
            yield _paste()
        elif _exists(name) and Path(name).is_dir():
            yield from _in_folder(Path(name))
        elif glob.has_magic(name) and not _exists(name) and "://" not in name:
            yield from _matching(name)
        else:
            yield name


def _exists(name: str) -> bool:
    try:
        return bool(name) and Path(name).exists()  # Path("") is the current folder
    except (OSError, ValueError):  # too long for a name, or a NUL in it
        return False


def _in_folder(folder: Path) -> Iterator[str]:
    try:
        files = [path for path in folder.iterdir() if path.suffix.lower() in _IMAGES and path.is_file()]
    except OSError as error:
        raise ConfigError(f"{str(folder)!r}: the folder cannot be read ({reason(error)})") from error
    if not files:
        raise ConfigError(f"{str(folder)!r}: no image is in this folder; give another one")
    yield from sorted(map(str, files), key=_natural)


def _matching(pattern: str) -> Iterator[str]:
    names = glob.glob(pattern, recursive=True)  # noqa: PTH207 - the pattern may begin at the root
    found = sorted((name for name in names if Path(name).is_file()), key=_natural)
    if not found:
        raise ConfigError(f"{pattern!r}: no file matches; check the pattern")
    yield from found


def _natural(path: str) -> list[tuple[int, str]]:
    """Orders page 9 before page 10."""
    parts = re.findall(r"\d+|\D+", path)
    return [(int(part), "") if part.isdecimal() and len(part) < 100 else (-1, part) for part in parts]


def _read_question(question: str | None) -> str:
    if question is None or question == STANDARD_INPUT:
        data = _read_standard_input("a question", _MAX_QUESTION_BYTES)
    elif question.startswith("@"):
        data = _read_file(Path(question[1:]))
    else:
        return question
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"the question is not UTF-8 text (byte {error.start})") from None


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_QUESTION_BYTES + 1)
    except (OSError, ValueError) as error:
        way = "give a file, or put a space before the @ to ask it literally"
        raise ConfigError(f"question '@{path}': cannot be read ({reason(error)}); {way}") from error
    return _limit_size(data, f"question '@{path}'", _MAX_QUESTION_BYTES)


def _read_standard_input(what: str, limit: int) -> bytes:
    """Its bytes. Raises ConfigError for a terminal: a program that waits for it looks as if it hung."""
    is_piped = sys.stdin is not None and not sys.stdin.isatty()
    data = sys.stdin.buffer.read(limit + 1) if is_piped else b""
    if data.strip():
        return _limit_size(data, "standard input", limit)
    way = "pyvision 'QUESTION' photo.jpg, or pipe it in"
    raise ConfigError(f"{what} is missing, and standard input holds none; give {way}")


def _paste() -> bytes:
    for variable, command in _PASTE:
        if os.environ.get(variable) and (program := which(command[0])):
            try:
                done = subprocess.run(
                    [program, *command[1:]], capture_output=True, timeout=_PASTE_S, check=False
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                raise ConfigError(
                    f"the clipboard cannot be read ({reason(error)}); save the image to a file"
                ) from None
            if done.returncode or not done.stdout:
                raise ConfigError("the clipboard holds no image; copy one first")
            return _limit_size(done.stdout, "the clipboard", _MAX_IMAGE_BYTES)
    way = "install wl-clipboard or xclip in a graphical session, or save the image to a file"
    raise ConfigError(f"no clipboard can be read here; {way}")


def _limit_size(data: bytes, what: str, limit: int) -> bytes:
    if len(data) > limit:
        raise ConfigError(f"{what}: larger than {limit:,} bytes; give a smaller one")
    if not data.strip():
        raise ConfigError(f"{what} is empty")
    return data
