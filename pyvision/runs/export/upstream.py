"""The `test_messages.json` of the original PyVision, which its public viewer reads.

Source: agents-x-project/PyVision, `main.py` and `inference_engine/vis_inference_demo_gpt.py`: a JSON list of messages
of the roles user and assistant alone, each content a list of `text` and `image_url` parts, pictures as data URLs.
A system message stands at the head of the first user's. Without a conversation the list is empty.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyvision.runs.export.parts import Export, as_json, openai_part
from pyvision.runs.export.conversations import alternating, main_conversation
from pyvision.runs.report.run import Run
from pyvision.types import Message


def export_upstream(run: Run, folder: Path) -> Export:
    """The longest conversation of the run."""
    conversation = main_conversation(run.events)
    messages = [_as_user(message) for message in conversation.messages] if conversation else []
    return Export(
        (("test_messages.json", as_json([_message(m) for m, _ in alternating(messages)], indent=4)),)
    )


def _as_user(message: Message) -> Message:
    return Message("user", message.parts) if message.role == "system" else message


def _message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "content": [openai_part(part) for part in message.parts]}
