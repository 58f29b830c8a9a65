"""The export formats, a row each, with the parts that several of them share."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pyvision.config.files import write_file
from pyvision.errors import ConfigError, suggest
from pyvision.runs.run import Run, ending
from pyvision.text.native_tool_calls import text_of
from pyvision.trajectory import picture_file
from pyvision.types import Message, Part, Picture, Text, ToolCall

FORMATS: Mapping[str, str] = {  # MODULE.FUNCTION in this package, imported when chosen
    "ipynb": "notebook.export_notebook",
    "messages": "messages.export_messages",
    "pyvision": "messages.export_upstream",
    "sharegpt": "training.export_sharegpt",
    "swift": "training.export_swift",
    "verl": "training.export_verl",
    "atif": "atif.export_atif",
}
PLACEHOLDER = "<image>"  # stands for the next image in LLaMA-Factory, ms-swift and verl
_PLACEHOLDERS = re.compile(r"<(image|video|audio)>")


@dataclass(frozen=True, slots=True)
class Export:
    """The files of an export by name relative to its folder; the first is the one to open."""

    files: tuple[tuple[str, bytes], ...]


def export(run: Run, format_name: str, folder: Path) -> Path:
    """Write the run in a format into a folder; returns the file to open.

    Raises ConfigError for an unknown format, RunFolderError if nothing can be written.
    """
    if format_name not in FORMATS:
        raise ConfigError(
            f"unknown format {format_name!r}; {suggest(format_name, FORMATS, 'known formats are')}"
        )
    module, _, function = FORMATS[format_name].partition(".")
    result: Export = getattr(import_module(f"pyvision.runs.export.{module}"), function)(run, folder)
    for name, data in reversed(result.files):  # images first, so that the file to open is never without them
        write_file(folder / name, data)
    return folder / result.files[0][0]


def openai_part(part: Part) -> dict[str, Any]:
    """A content part of OpenAI's chat format."""
    match part:
        case Picture():
            url = f"data:{part.mime};base64,{b64encode(part.data).decode()}"
            return {"type": "image_url", "image_url": {"url": url}}
        case Text() | ToolCall():
            return {"type": "text", "text": text_of(part)}


def with_placeholders(message: Message) -> str:
    """The text with `<image>` for each image. Placeholders in the text itself are escaped."""
    return "".join(_escape_placeholders(part) for part in message.parts)


def picture_files(pictures: Iterable[Picture]) -> tuple[tuple[str, bytes], ...]:
    """Each image once, under the same name as in the run folder."""
    return tuple({picture_file(picture): picture.data for picture in pictures}.items())


def facts(run: Run) -> dict[str, Any]:
    """What a user of the data must know about the run: how it ended, and why."""
    began, ended = run.began, run.ended
    reason = ended.outcome.end_reason if ended else None
    return {
        "source": "pyvision",
        "run": run.folder.name,
        "strategy": began.strategy if began else None,
        "models": dict(began.models) if began else {},
        "answer": ended.outcome.answer if ended else None,
        "end_reason": reason or "unfinished",
        "fault": ending(reason).fault,
        "may_be_scored": ending(reason).is_of_the_model,
        "turns": ended.turns if ended else len(run.turns),
        "cells": ended.cells if ended else sum(len(turn.cells) for turn in run.turns),
    }


def as_json(value: Any, *, indent: int | None = None) -> bytes:
    """A line in UTF-8; half of a surrogate pair, as in a file name that is not UTF-8, is escaped."""
    return json.dumps(value, ensure_ascii=False, indent=indent).encode(errors="backslashreplace") + b"\n"


def as_lines(rows: Iterable[Any]) -> bytes:
    return b"".join(as_json(row) for row in rows)


def _escape_placeholders(part: Part) -> str:
    return PLACEHOLDER if isinstance(part, Picture) else _PLACEHOLDERS.sub(r"‹\1›", text_of(part))
