"""Rows for ms-swift: `messages` with `<image>` for each of `images`, one JSON object a line.

Source: modelscope/ms-swift, `docs/source_en/Customization/Custom-dataset.md`. Its paths are best absolute. Only what an
assistant says is trained on; `loss` false takes a reply out of that too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyvision.runs.export.parts import Export, as_lines, facts, picture_files, with_placeholders
from pyvision.runs.export.conversations import Talk, talks_of
from pyvision.runs.report.run import Run
from pyvision.trajectory import picture_file


def export_swift(run: Run, folder: Path) -> Export:
    """A line for each talk, and the pictures."""
    talks = talks_of(run.events)
    pictures = picture_files(picture for talk in talks for picture in talk.pictures)
    return Export(
        (("swift.jsonl", as_lines(_row(talk, run, folder.absolute()) for talk in talks)), *pictures)
    )


def _row(talk: Talk, run: Run, folder: Path) -> dict[str, Any]:
    return {
        "messages": [_message(talk, at) for at in range(len(talk.messages))],
        "images": [str(folder / picture_file(picture)) for picture in talk.pictures],
        "metadata": {**facts(run), "role": talk.role},
    }


def _message(talk: Talk, at: int) -> dict[str, Any]:
    message = talk.messages[at]
    row: dict[str, Any] = {"role": message.role, "content": with_placeholders(message)}
    return row | ({"loss": talk.is_learned(at)} if message.role == "assistant" else {})
