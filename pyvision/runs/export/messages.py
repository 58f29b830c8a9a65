"""Chat messages: OpenAI's format with a record from which every event can be restored, and the original PyVision's.

messages.jsonl   one conversation per line, {"messages": […], "metadata": {…}}: the body of a request without its model.
                 A reply that should not be trained on has `"weight": 0`, as in the fine-tuning format.
record.json      the events of the run. An image is given as the SHA-256 of its file, whose bytes are in either file.
Source: OpenAI API reference, "Create chat completion", and the fine-tuning guide, "multi-turn chat examples".

test_messages.json   for the public viewer of the original PyVision: a list of messages of user and assistant, each
                     content a list of `text` and `image_url` parts with data URLs. The text of a system message is put
                     before that of the first user message. The list is empty if there was no conversation.
Source: agents-x-project/PyVision, `main.py` and `inference_engine/vis_inference_demo_gpt.py`.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyvision.errors import RunFolderError
from pyvision.events import Event, ModelCall
from pyvision.runs.export.conversations import (
    TrainingConversation,
    alternating,
    conversations_of,
    main_conversation,
)
from pyvision.runs.export.formats import Export, as_json, as_lines, facts, openai_part
from pyvision.runs.run import Run
from pyvision.types import Message, Picture, ToolCall

if TYPE_CHECKING:
    from pydantic import TypeAdapter


MESSAGES, RECORD = "messages.jsonl", "record.json"
_FORMAT = "pyvision-messages-record"
_DATA_URL = re.compile(r"data:image/(?:png|jpeg);base64,(.*)", re.DOTALL)


def export_messages(run: Run, folder: Path) -> Export:
    """Both files. `read_messages` restores the same events from them, with all bytes of the images."""
    rows = [_openai_row(conversation, run) for conversation in conversations_of(run.events)]
    return Export(((MESSAGES, as_lines(rows)), (RECORD, as_json(_record(run.events, rows)))))


def export_upstream(run: Run, folder: Path) -> Export:
    """The longest conversation of the run, for the viewer of the original PyVision."""
    conversation = main_conversation(run.events)
    messages = [_as_user(message) for message in conversation.as_text] if conversation else []
    return Export(
        (("test_messages.json", as_json([_upstream_message(m) for m, _ in alternating(messages)], indent=4)),)
    )


def read_messages(folder: Path) -> tuple[Event, ...]:
    """The events of a run that was exported into this folder. Raises RunFolderError."""
    try:
        rows = [json.loads(line) for line in (folder / MESSAGES).read_bytes().splitlines()]
        record = json.loads((folder / RECORD).read_bytes())
        if record["format"] != _FORMAT:
            raise ValueError(f"format {record['format']!r} instead of {_FORMAT!r}")
        return tuple(_events(record, _pictures_in(rows)))
    except OSError as error:
        raise RunFolderError(
            f"{str(folder)!r}: {error.strerror}: {error.filename}; give an exported folder"
        ) from error
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        why = " ".join(str(error).split())[:200]
        raise RunFolderError(f"{str(folder / RECORD)!r}: is not a record of this format: {why}") from error


def openai_message(message: Message) -> dict[str, Any]:
    """A message in OpenAI's chat format. Images are in messages of the user, and in results of tools that held them."""
    has_picture = any(isinstance(part, Picture) for part in message.parts)
    as_parts = message.role == "user" or (message.role == "tool" and has_picture)
    content = [openai_part(part) for part in message.parts] if as_parts else message.text
    plain: dict[str, Any] = {"role": message.role, "content": content}
    if message.calls:
        plain["tool_calls"] = [_openai_call(call) for call in message.calls]
    return plain | ({"tool_call_id": message.call_id} if message.role == "tool" else {})


def _openai_call(call: ToolCall) -> dict[str, Any]:
    if call.is_free_form:
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _openai_row(conversation: TrainingConversation, run: Run) -> dict[str, Any]:
    messages = [openai_message(message) for message in conversation.messages]
    for at, message in enumerate(messages):
        if message["role"] == "assistant" and not conversation.is_learned(at):
            message["weight"] = 0
    known = {
        **facts(run),
        "role": conversation.role,
        "models": ", ".join(sorted(set(facts(run)["models"].values()))),
    }
    return {"messages": messages, "metadata": {key: _short(value) for key, value in known.items()}}


def _short(value: Any) -> str:
    """The endpoint accepts strings of at most 512 characters as metadata."""
    return ("" if value is None else str(value))[:512]


def _record(events: Iterable[Event], rows: list[dict[str, Any]]) -> dict[str, Any]:
    in_rows = _pictures_in(rows)
    files: dict[str, bytes] = {}
    conversation: dict[Message, int] = {}
    lines = [_line(event, conversation, files) for event in events]
    messages = [_by_hash(_message().dump_python(message), files) for message in conversation]
    own = {key: b64encode(data).decode() for key, data in files.items() if key not in in_rows}
    return {"format": _FORMAT, "version": 1, "events": lines, "messages": messages, "pictures": own}


def _line(event: Event, conversation: dict[Message, int], files: dict[str, bytes]) -> Any:
    if not isinstance(event, ModelCall):
        return _by_hash(_event().dump_python(event), files)
    numbers = [conversation.setdefault(message, len(conversation)) for message in event.messages]
    return {**_by_hash(_event().dump_python(replace(event, messages=())), files), "messages": numbers}


def _by_hash(value: Any, files: dict[str, bytes]) -> Any:
    match value:
        case bytes():
            key = sha256(value).hexdigest()
            files[key] = value
            return {"sha256": key}
        case dict():
            return {key: _by_hash(item, files) for key, item in value.items()}
        case list() | tuple():
            return [_by_hash(item, files) for item in value]
        case frozenset():
            return sorted(value)  # of numbers
        case _:
            return value


def _pictures_in(rows: list[dict[str, Any]]) -> dict[str, bytes]:
    parts = [
        part
        for row in rows
        for message in row["messages"]
        for part in message["content"]
        if isinstance(part, dict)
    ]
    urls = [_DATA_URL.fullmatch(part["image_url"]["url"]) for part in parts if part["type"] == "image_url"]
    files = [b64decode(found[1], validate=True) for found in urls if found]
    return {sha256(data).hexdigest(): data for data in files}


def _events(record: dict[str, Any], pictures: dict[str, bytes]) -> Iterable[Event]:
    pictures = pictures | {key: b64decode(text, validate=True) for key, text in record["pictures"].items()}
    messages = [_message().validate_python(_restore(message, pictures)) for message in record["messages"]]
    for line in record["events"]:
        content = _restore(line, pictures)
        if content["kind"] == "asked":
            content["messages"] = tuple(messages[at] for at in content["messages"])
        yield _event().validate_python(content)


def _restore(value: Any, pictures: dict[str, bytes]) -> Any:
    match value:
        case {"sha256": str(key), **rest} if not rest and key in pictures:
            return pictures[key]
        case dict():
            return {key: _restore(item, pictures) for key, item in value.items()}
        case list():
            return [_restore(item, pictures) for item in value]
        case _:
            return value


@cache
def _event() -> TypeAdapter[Event]:
    from typing import Annotated

    from pydantic import Field, TypeAdapter

    return TypeAdapter(Annotated[Event, Field(discriminator="kind")])


@cache
def _message() -> TypeAdapter[Message]:
    from pydantic import TypeAdapter

    return TypeAdapter(Message)


def _as_user(message: Message) -> Message:
    return Message("user", message.parts) if message.role == "system" else message


def _upstream_message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "content": [openai_part(part) for part in message.parts]}
