"""ShareGPT rows as LLaMA-Factory reads them, with the `dataset_info.json` that names the columns.

Source: hiyouga/LLaMA-Factory, `data/README.md` and `src/llamafactory/data/converter.py`: turns alternate, a human's
first, an even number of them; `<image>` for each of `images`, in order; paths are relative to the folder of the data.
An interpreter turn is `human`, as the model is shown it later too (an `observation` would be wrapped in tool tags that
`pyvision run` does not send). Only turns of `gpt` are trained on; `train` says which of them deserve it, and
`what` which human turns are an interpreter's: LLaMA-Factory leaves both aside.
"""

from __future__ import annotations

import json
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from pyvision.errors import MissingExtra
from pyvision.runs.export.conversations import (
    TrainingConversation,
    alternating,
    conversations_of,
    is_interpreter,
)
from pyvision.runs.export.formats import Export, as_json, as_lines, facts, picture_files, with_placeholders
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
    rows = [_sharegpt_row(conversation, run) for conversation in conversations]
    pictures = picture_files(picture for conversation in conversations for picture in conversation.pictures)
    return Export(((ROWS, as_json(rows, indent=1)), (INFO, as_json(_DESCRIPTION, indent=2)), *pictures))


def _sharegpt_row(conversation: TrainingConversation, run: Run) -> dict[str, Any]:
    system, rest = split_system(conversation.messages)
    offset = len(conversation.messages) - len(rest)
    return {
        "conversations": [
            _sharegpt_turn(message, all(conversation.is_learned(at + offset) for at in numbers))
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


def _sharegpt_turn(message: Message, learned: bool) -> dict[str, Any]:  # noqa: FBT001 - it is a field of the turn
    what = "interpreter" if is_interpreter(message) else message.role
    return {"from": _TURNS[message.role], "value": with_placeholders(message), "train": learned, "what": what}


# ---- Rows for ms-swift: `messages` with `<image>` for each of `images`, one JSON object a line.
# ----
# ---- Source: modelscope/ms-swift, `docs/source_en/Customization/Custom-dataset.md`. Its paths are best absolute. Only what an
# ---- assistant says is trained on; `loss` false takes a reply out of that too.


def export_swift(run: Run, folder: Path) -> Export:
    """A line for each conversation, and the pictures."""
    conversations = conversations_of(run.events)
    pictures = picture_files(picture for conversation in conversations for picture in conversation.pictures)
    return Export(
        (
            (
                "swift.jsonl",
                as_lines(_swift_row(conversation, run, folder.absolute()) for conversation in conversations),
            ),
            *pictures,
        )
    )


def _swift_row(conversation: TrainingConversation, run: Run, folder: Path) -> dict[str, Any]:
    return {
        "messages": [_swift_message(conversation, at) for at in range(len(conversation.messages))],
        "images": [str(folder / picture_file(picture)) for picture in conversation.pictures],
        "metadata": {**facts(run), "role": conversation.role},
    }


def _swift_message(conversation: TrainingConversation, at: int) -> dict[str, Any]:
    message = conversation.messages[at]
    row: dict[str, Any] = {"role": message.role, "content": with_placeholders(message)}
    return row | ({"loss": conversation.is_learned(at)} if message.role == "assistant" else {})


# ---- A parquet file for verl's multi-turn supervised training; pyarrow writes it.
# ----
# ---- Source: verl, `verl/utils/dataset/multiturn_sft_dataset.py`: the columns `messages` and `images`, `<image>` in a content
# ---- for each picture, which are as many as there are images; `trainable` false on a message takes it out of the loss, and
# ---- only an assistant's is ever in it. A picture is `{"bytes": …}`, as `process_image` of its vision utilities takes it.


def export_verl(run: Run, folder: Path) -> Export:
    """One row for each conversation. Raises MissingExtra without pyarrow."""
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingExtra("pyarrow", "parquet") from error
    file = BytesIO()
    parquet.write_table(arrow.Table.from_pylist(verl_rows(run), _schema(arrow)), file)
    return Export((("verl.parquet", file.getvalue()),))


def verl_rows(run: Run) -> list[dict[str, Any]]:
    """The rows as plain values."""
    return [_verl_row(conversation, run) for conversation in conversations_of(run.events)]


def _verl_row(conversation: TrainingConversation, run: Run) -> dict[str, Any]:
    return {
        "messages": [
            {
                "role": message.role,
                "content": with_placeholders(message),
                "trainable": conversation.is_learned(at),
            }
            for at, message in enumerate(conversation.messages)
        ],
        "images": [{"bytes": picture.data} for picture in conversation.pictures],
        "data_source": "pyvision",
        "extra_info": json.dumps({**facts(run), "role": conversation.role}, ensure_ascii=False),
    }


def _schema(arrow: Any) -> Any:
    text, message = (
        arrow.string(),
        [("role", arrow.string()), ("content", arrow.string()), ("trainable", arrow.bool_())],
    )
    return arrow.schema(
        [
            ("messages", arrow.list_(arrow.struct(message))),
            ("images", arrow.list_(arrow.struct([("bytes", arrow.binary())]))),
            ("data_source", text),
            ("extra_info", text),
        ]
    )
