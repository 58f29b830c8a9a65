"""Rows for ms-swift: `messages` with `<image>` for each of `images`, one JSON object a line.

Source: modelscope/ms-swift, `docs/source_en/Customization/Custom-dataset.md`. Its paths are best absolute. Only what an
assistant says is trained on; `loss` false takes a reply out of that too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyvision.runs.export.parts import Export, as_lines, facts, picture_files, with_placeholders
from pyvision.runs.export.conversations import TrainingConversation, conversations_of
from pyvision.runs.report.run import Run
from pyvision.trajectory import picture_file


def export_swift(run: Run, folder: Path) -> Export:
    """A line for each conversation, and the pictures."""
    conversations = conversations_of(run.events)
    pictures = picture_files(picture for conversation in conversations for picture in conversation.pictures)
    return Export(
        (("swift.jsonl", as_lines(_row(conversation, run, folder.absolute()) for conversation in conversations)), *pictures)
    )


def _row(conversation: TrainingConversation, run: Run, folder: Path) -> dict[str, Any]:
    return {
        "messages": [_message(conversation, at) for at in range(len(conversation.messages))],
        "images": [str(folder / picture_file(picture)) for picture in conversation.pictures],
        "metadata": {**facts(run), "role": conversation.role},
    }


def _message(conversation: TrainingConversation, at: int) -> dict[str, Any]:
    message = conversation.messages[at]
    row: dict[str, Any] = {"role": message.role, "content": with_placeholders(message)}
    return row | ({"loss": conversation.is_learned(at)} if message.role == "assistant" else {})
