"""The conversation that the tiny model learns: what colour a figure has that no request before it could show.

It learns it in both protocols, and with tools for both places of a figure: in the result, and in a turn after it; and
without the prose before a call, which `transformers serve` leaves out; and in text also as llama.cpp joins texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PIL import Image

import pyvision
from pyvision.images.pixels import file_hash
from pyvision.models.scripted import Scripted
from pyvision.types import Message, Picture, Reply, Text, ToolCall

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
CODE = """colour = image_clue_0.getpixel((0, 0))
Image.new("RGB", (64, 64), colour)"""
CALL = Reply("I look.", calls=(ToolCall("call_1", "run_python", json.dumps({"code": CODE})),))


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
        for request, reply in _requests(folder, colour, said, prompt_file=str(prompt_file(folder))):
            turns = _written(request, folder)
            for given in (turns, _with_joined_texts(turns)):
                found.append({"turns": [*given, ["assistant", [{"text": reply}]]]})
        called = (CALL, answer(colour))
        for request, answered in _requests(folder, colour, called, protocol="tools"):
            for placed in (request, tuple(_after_result(request)), tuple(_without_prose(request))):
                turns = _written((*placed, _as_message(answered)), folder)
                talk = {"turns": turns, "tools": ["run_python"]}
                found += [talk] if talk not in found else []
    path = folder / "talks.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


def _with_joined_texts(turns: list[Any]) -> list[Any]:
    """The turns as llama.cpp hands them to a chat template: texts without an image between them are one text."""
    joined = []
    for role, parts in turns:
        pieces: list[dict[str, Any]] = []
        for part in parts:
            if pieces and "text" in part and "text" in pieces[-1]:
                pieces[-1] = {"text": f"{pieces[-1]['text']}\n{part['text']}"}
            else:
                pieces.append(part)
        joined.append([role, pieces])
    return joined


def _requests(
    folder: Path, colour: str, said: Sequence[str | Reply], **options: str
) -> list[tuple[tuple[Message, ...], Any]]:
    """Each request of a run in which this is said, with what is said to it."""
    model = Scripted(said)
    outcome = pyvision.answer(QUESTION, [photo(folder, colour)], model=model, options=options)
    assert outcome.answer == colour, outcome
    return list(zip(model.requests, said, strict=True))


def _after_result(request: Sequence[Message]) -> Iterator[Message]:
    """The request with the pictures of a result in a turn of the user behind it."""
    for message in request:
        pictures = tuple(part for part in message.parts if isinstance(part, Picture))
        if message.role != "tool":
            yield message
            continue
        texts = tuple(part for part in message.parts if isinstance(part, Text))
        yield Message("tool", texts, message.call_id)
        yield Message("user", pictures)


def _without_prose(request: Sequence[Message]) -> Iterator[Message]:
    for message in _after_result(request):
        yield replace(message, parts=message.calls) if message.calls else message


def _as_message(said: str | Reply) -> Message:
    reply = Reply(said) if isinstance(said, str) else said
    return Message("assistant", (Text(reply.text), *reply.calls))


def _written(request: Sequence[Message], folder: Path) -> list[Any]:
    return [[message.role, [_part(part, folder) for part in message.parts]] for message in request]


def _part(part: Any, folder: Path) -> dict[str, Any]:
    if isinstance(part, ToolCall):
        return {"call": {"name": part.name, "arguments": json.loads(part.arguments)}}
    if not isinstance(part, Picture):
        return {"text": part.text}
    path = folder / f"{file_hash(part)[:16]}.png"
    path.write_bytes(part.data)
    return {"image": str(path)}
