"""Training data: one row per conversation, for LLaMA-Factory (ShareGPT), ms-swift and verl.

In all three, `<image>` in a text stands for the next of the row's images, and only replies of the assistant are
trained on; a reply that was cut off, or that this run did not produce, is marked so that it is left out.

LLaMA-Factory. Source: hiyouga/LLaMA-Factory, `data/README.md` and `src/llamafactory/data/converter.py`: turns
alternate, beginning with a human's, and their number is even; paths are relative to the data folder. An interpreter
turn is `human`, as the model sees it in `pyvision run` (an `observation` would be wrapped in tool tags).
LLaMA-Factory ignores `train` (whether to train on the turn) and `what` (which human turns are an interpreter's).

ms-swift. Source: modelscope/ms-swift, `docs/source_en/Customization/Custom-dataset.md`: one JSON object per line,
absolute paths; `loss: false` leaves a reply out.

verl. Source: verl, `verl/utils/dataset/multiturn_sft_dataset.py`: a parquet file; `trainable: false` leaves a message
out. An image is `{"bytes": …}`, as `process_image` of its vision utilities takes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
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
from pyvision.runs.run import Run
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
    """The rows, `dataset_info.json`, which describes their columns, and the images."""
    conversations = conversations_of(run.events)
    rows = [_sharegpt_row(conversation, run) for conversation in conversations]
    return Export(
        ((ROWS, as_json(rows, indent=1)), (INFO, as_json(_DESCRIPTION, indent=2)), *_images(conversations))
    )


def export_swift(run: Run, folder: Path) -> Export:
    """The rows, one per line, and the images."""
    conversations, here = conversations_of(run.events), folder.absolute()
    rows = [_swift_row(conversation, run, here) for conversation in conversations]
    return Export((("swift.jsonl", as_lines(rows)), *_images(conversations)))


def export_verl(run: Run, folder: Path) -> Export:
    """A parquet file of the rows. Raises MissingExtra without pyarrow."""
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingExtra("pyarrow", "parquet") from error
    file = BytesIO()
    parquet.write_table(arrow.Table.from_pylist(verl_rows(run), _schema(arrow)), file)
    return Export((("verl.parquet", file.getvalue()),))


def verl_rows(run: Run) -> list[dict[str, Any]]:
    """The rows of `export_verl` as plain values."""
    return [_verl_row(conversation, run) for conversation in conversations_of(run.events)]


def _images(conversations: Iterable[TrainingConversation]) -> tuple[tuple[str, bytes], ...]:
    return picture_files(picture for conversation in conversations for picture in conversation.pictures)


def _sharegpt_row(conversation: TrainingConversation, run: Run) -> dict[str, Any]:
    system, rest = _split_system(conversation.as_text)
    offset = len(conversation.as_text) - len(rest)
    return {
        "conversations": [
            _sharegpt_turn(message, all(conversation.is_learned(at + offset) for at in numbers))
            for message, numbers in alternating(rest)
        ],
        "system": system,
        "images": [picture_file(picture) for picture in conversation.pictures],
        "metadata": {**facts(run), "role": conversation.role},
    }


def _split_system(messages: tuple[Message, ...]) -> tuple[str, tuple[Message, ...]]:
    """The text of the leading system message, empty without one, and the other messages."""
    if messages and messages[0].role == "system":
        return messages[0].text, messages[1:]
    return "", messages


def _sharegpt_turn(message: Message, train: bool) -> dict[str, Any]:  # noqa: FBT001 - a field of the turn
    what = "interpreter" if is_interpreter(message) else message.role
    return {"from": _TURNS[message.role], "value": with_placeholders(message), "train": train, "what": what}


def _swift_row(conversation: TrainingConversation, run: Run, folder: Path) -> dict[str, Any]:
    return {
        "messages": [_swift_message(conversation, at) for at in range(len(conversation.as_text))],
        "images": [str(folder / picture_file(picture)) for picture in conversation.pictures],
        "metadata": {**facts(run), "role": conversation.role},
    }


def _swift_message(conversation: TrainingConversation, at: int) -> dict[str, Any]:
    message = conversation.as_text[at]
    row: dict[str, Any] = {"role": message.role, "content": with_placeholders(message)}
    return row | ({"loss": conversation.is_learned(at)} if message.role == "assistant" else {})


def _verl_row(conversation: TrainingConversation, run: Run) -> dict[str, Any]:
    return {
        "messages": [
            {
                "role": message.role,
                "content": with_placeholders(message),
                "trainable": conversation.is_learned(at),
            }
            for at, message in enumerate(conversation.as_text)
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
