"""The conversation that the tiny model learns: what colour a figure has that no request before it could show."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image

import pyvision
from pyvision.images.pixels import file_hash
from pyvision.models.scripted import Scripted
from pyvision.types import Message, Picture

COLOURS = {"red": (220, 20, 20), "blue": (20, 40, 220)}
QUESTION = "Which colour is hidden?"
CELL = """I look at the first pixel.
<code>
```python
colour = image_clue_0.getpixel((0, 0))
Image.new("RGB", (64, 64), colour)
```
</code>
"""


def answer(colour: str) -> str:
    return f"The figure is {colour}.\n<answer>\n\\boxed{{{colour}}}\n</answer>\n"


def photo(folder: Path, colour: str) -> Path:
    """White, but for one pixel that is too small to be seen."""
    path = folder / f"{colour}.png"
    picture = Image.new("RGB", (640, 640), "white")
    picture.putpixel((0, 0), COLOURS[colour])
    picture.save(path)
    return path


def prompt_file(folder: Path) -> Path:
    """The question alone, so that the model has little to learn."""
    path = folder / "prompts.json"
    path.write_text(json.dumps({"bare": "{query}"}), encoding="utf-8")
    return path


def talks(folder: Path) -> Path:
    """A file of conversations as `tiny_vlm` takes them: what the product really sends, and what is to be said to it."""
    found: list[Any] = []
    for colour in COLOURS:
        said = (CELL, answer(colour))
        model = Scripted(said)
        settings = {"prompt_file": str(prompt_file(folder))}
        outcome = pyvision.answer(QUESTION, [photo(folder, colour)], model=model, options=settings)
        assert outcome.answer == colour, outcome
        for request, reply in zip(model.requests, said, strict=True):
            found.append([*_written(request, folder), ["assistant", [{"text": reply}]]])
    path = folder / "talks.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


def _written(request: Sequence[Message], folder: Path) -> list[Any]:
    return [[message.role, [_part(part, folder) for part in message.parts]] for message in request]


def _part(part: Any, folder: Path) -> dict[str, str]:
    if not isinstance(part, Picture):
        return {"text": part.text}
    path = folder / f"{file_hash(part)[:16]}.png"
    path.write_bytes(part.data)
    return {"image": str(path)}
