"""A parquet file for verl's multi-turn supervised training; pyarrow writes it.

Source: verl, `verl/utils/dataset/multiturn_sft_dataset.py`: the columns `messages` and `images`, `<image>` in a content
for each picture, which are as many as there are images; `trainable` false on a message takes it out of the loss, and
only an assistant's is ever in it. A picture is `{"bytes": …}`, as `process_image` of its vision utilities takes it.
"""

from __future__ import annotations

import json
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from pyvision.errors import MissingExtra
from pyvision.runs.export.parts import Export, facts, with_placeholders
from pyvision.runs.export.conversations import TrainingConversation, conversations_of
from pyvision.runs.report.run import Run


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
    return [_row(conversation, run) for conversation in conversations_of(run.events)]


def _row(conversation: TrainingConversation, run: Run) -> dict[str, Any]:
    return {
        "messages": [
            {"role": message.role, "content": with_placeholders(message), "trainable": conversation.is_learned(at)}
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
