"""ShareGPT rows as LLaMA-Factory reads them, with the `dataset_info.json` that names the columns.

Source: hiyouga/LLaMA-Factory, `data/README.md` and `src/llamafactory/data/converter.py`: turns alternate, a human's
first, an even number of them; `<image>` for each of `images`, in order; paths are relative to the folder of the data.
An interpreter turn is `human`, as the model is shown it later too (an `observation` would be wrapped in tool tags that
`pyvision run` does not send). Only turns of `gpt` are trained on; `train` says which of them deserve it, and
`what` which human turns are an interpreter's: LLaMA-Factory leaves both aside.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyvision.runs.export.parts import Export, as_json, facts, picture_files, with_placeholders
from pyvision.runs.export.conversations import TrainingConversation, alternating, is_interpreter, conversations_of
from pyvision.runs.report.run import Run
from pyvision.trajectory import picture_file
from pyvision.types import Message

ROWS, INFO = "sharegpt.json", "dataset_info.json"
_TURNS = {"user": "human", "assistant": "gpt"}
_DESCRIPTION = {
    "pyvision": {
        "file_name": ROWS,
        "formatting": "sharegpt",
        "columns": {"messages": "conversations", "system": "system", "images": "images"},
        "tags": {"role_tag": "from", "content_tag": "value", "user_tag": "human", "assistant_tag": "gpt"},
    }
}


def export_sharegpt(run: Run, folder: Path) -> Export:
    """A row for each conversation, the description of the columns, and the pictures."""
    conversations = conversations_of(run.events)
    rows = [_row(conversation, run) for conversation in conversations]
    pictures = picture_files(picture for conversation in conversations for picture in conversation.pictures)
    return Export(((ROWS, as_json(rows, indent=1)), (INFO, as_json(_DESCRIPTION, indent=2)), *pictures))


def _row(conversation: TrainingConversation, run: Run) -> dict[str, Any]:
    system, rest = split_system(conversation.messages)
    offset = len(conversation.messages) - len(rest)
    return {
        "conversations": [
            _turn(message, all(conversation.is_learned(at + offset) for at in numbers))
            for message, numbers in alternating(rest)
        ],
        "system": system,
        "images": [picture_file(picture) for picture in conversation.pictures],
        "metadata": {**facts(run), "role": conversation.role},
    }


def split_system(messages: tuple[Message, ...]) -> tuple[str, tuple[Message, ...]]:
    """The text of the system message at the head, empty without one, and the other messages."""
    if messages and messages[0].role == "system":
        return messages[0].text, messages[1:]
    return "", messages


def _turn(message: Message, learned: bool) -> dict[str, Any]:  # noqa: FBT001 - it is a field of the turn
    what = "interpreter" if is_interpreter(message) else message.role
    return {"from": _TURNS[message.role], "value": with_placeholders(message), "train": learned, "what": what}
