"""Write and read the folder of one run: its events as JSON lines, with pictures by hash beside them.

events.jsonl   a header line, then one event a line, in order. A message of a conversation is written once, as a
               separate line with an `id`, and `asked` events refer to those: the file grows with the conversation.
images/        every image once, named by the first half of the SHA-256 of its bytes. No line holds bytes or base64.
config.json    the settings of the run.       summary.json   its result, present once it has ended.

Every line is written before the run continues: a run that is killed loses at most the line being written. A reply is
forced to the disk with the event after it, not before its cell starts, so a power failure may lose the last reply;
everything else is on the disk. a `PassingEvent`, such as `TextDelta`, is not written.
`Note.data` comes back as JSON gives it: lists for tuples, strings as keys. Text loses lone surrogates.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, is_dataclass, replace
from functools import cache
from io import FileIO
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, get_args, get_origin, get_type_hints

from pyvision.config.files import explain_os_errors, run_folder_error, write_atomic
from pyvision.errors import RunFolderError
from pyvision.events import Event, ModelCall, PassingEvent, RunEnded, RunStarted
from pyvision.text.redaction import Redactor
from pyvision.text.sanitize import replace_surrogates
from pyvision.types import Closing, Message, Picture

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FORMAT = "pyvision-trajectory"
VERSION = 2
_READ = (1, 2)  # version 1 had other names in the state of a conversation
EVENTS, CONFIG, SUMMARY, IMAGES = "events.jsonl", "config.json", "summary.json", "images"

_ENDINGS = {"image/png": ".png", "image/jpeg": ".jpg"}
_IMAGE_FILE = re.compile(r"images/([0-9a-f]{32})\.(png|jpg|bin)")
_NO_NAME = ("file_name", "")
_HEADER = f'{{"format":"{FORMAT}","version":{VERSION}}}\n'.encode()
_NEW_NAMES = {"talk": "messages", "is_open": "pending"}


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The events of a run. `note` says what was dropped from the end of a run that was killed."""

    events: tuple[Event, ...]
    note: str | None = None


class TrajectoryWriter(Closing):
    """Writes one run into a new folder while it happens; close it, or use it in a `with`.

    Every method raises RunFolderError when the disk refuses the data; the lines before stay whole. summary.json is
    written with `RunEnded`. `secrets` are redacted in every text that a field holds; what the format itself writes
    (kinds, end reasons, names of fields, digests) stays, so that the record can be read back.
    """

    def __init__(self, folder: Path, config: Mapping[str, Any], *, secrets: tuple[str, ...] = ()) -> None:
        """config: for config.json."""
        self.folder = folder
        self._encoder = _Encoder(folder, secrets)
        self._began: RunStarted | None = None
        self._ended: RunEnded | None = None
        with explain_os_errors(folder):
            (folder / IMAGES).mkdir(parents=True, exist_ok=True)
            self._file = _create(folder)
        try:
            self._write(_HEADER)
            self._write_file(CONFIG, self._encoder.encode_json(config))
        except RunFolderError:
            self.close()
            raise

    def write(self, event: Event) -> None:
        """Add one event, and before it the pictures and messages that are new in it."""
        if isinstance(event, PassingEvent):
            return
        known = self._encoder.message_count
        try:
            self._write(self._encoder.encode(event), is_synced=not isinstance(event, ModelCall))
        except RunFolderError:
            self._encoder.forget_messages(known)
            raise
        match event:
            case RunStarted():
                self._began = event
            case RunEnded():
                self._ended = event
                self._write_file(SUMMARY, self._encoder.encode_fields(self.summary()))

    def summary(self) -> dict[str, Any]:
        """The result of the run as one object. Raises ValueError before `RunEnded` was written."""
        if self._ended is None:
            raise ValueError(f"{str(self.folder)!r}: the run has not ended yet")
        return _summary(self.folder, self._began, self._ended)

    def close(self) -> None:
        self._file.close()

    def _write(self, lines: bytes, *, is_synced: bool = True) -> None:
        """is_synced: force them to the disk, and with them every line before them."""
        start = self._file.tell()
        try:
            _write_all(self._file.fileno(), lines)
            if is_synced:
                os.fsync(self._file.fileno())
        except OSError as error:
            with suppress(OSError):  # the half line may stay then: a reader drops it
                self._file.truncate(start)
                self._file.seek(start)
            raise run_folder_error(self.folder, error) from error

    def _write_file(self, name: str, content: bytes) -> None:
        with explain_os_errors(self.folder):
            write_atomic(self.folder / name, content)


def write_events(folder: Path, events: Sequence[Event], *, secrets: tuple[str, ...] = ()) -> None:
    """Write a run that is over into its folder, which holds an `images` folder: events.jsonl and summary.json.

    Nothing is forced to the disk. events.jsonl comes last: where it is whole, so is all else. Raises RunFolderError.
    """
    encoder = _Encoder(folder, secrets, is_synced=False)
    lines = [encoder.encode(event) for event in events if not isinstance(event, PassingEvent)]
    with explain_os_errors(folder):
        if events and isinstance(ended := events[-1], RunEnded):
            began = events[0] if isinstance(events[0], RunStarted) else None
            with (folder / SUMMARY).open("wb", buffering=0) as file:
                _write_all(file.fileno(), encoder.encode_fields(_summary(folder, began, ended)))
        with _create(folder) as file:
            _write_all(file.fileno(), b"".join((_HEADER, *lines)))


def _summary(folder: Path, began: RunStarted | None, ended: RunEnded) -> dict[str, Any]:
    return {
        "answer": ended.outcome.answer,
        "end_reason": ended.outcome.end_reason,
        "error": ended.outcome.error,
        "is_last_resort": ended.outcome.is_last_resort,
        "evidence": [asdict(each) for each in ended.outcome.evidence],
        "findings": dict(ended.outcome.findings),
        "strategy": began.strategy if began else None,
        "model": ", ".join(sorted(set(began.models.values()))) if began else None,
        "turns": ended.turns,
        "cells": ended.cells,
        "seconds": round(ended.seconds, 3),
        "usage": asdict(ended.usage),
        "cost": ended.cost,
        "run_dir": str(folder),
    }


class _Encoder:
    """Turns the events of one run into lines, and writes their images into files."""

    def __init__(self, folder: Path, secrets: tuple[str, ...], *, is_synced: bool = True) -> None:
        """is_synced: force every image to the disk; without it, a power failure can lose one, a kill cannot."""
        self._folder = folder
        self._is_synced = is_synced
        self._redactor = Redactor(secrets)
        self._messages: dict[Message, int] = {}
        self._images: dict[tuple[bytes, str], str] = {}  # (bytes, ending) -> file

    @property
    def message_count(self) -> int:
        return len(self._messages)

    def forget_messages(self, count: int) -> None:
        """Forget all messages but the first `count`, because the lines of the others were not written."""
        while len(self._messages) > count:
            self._messages.popitem()

    def encode(self, event: Event) -> bytes:
        """The event as one line; for a call of a model, after a line for each message that is new in it."""
        if not isinstance(event, ModelCall):
            return _json(self._plain(_event().dump_python(event)))
        new = list(dict.fromkeys(message for message in event.messages if message not in self._messages))
        ids = self._messages | {message: at for at, message in enumerate(new, len(self._messages))}
        messages = [
            {"kind": "message", "id": ids[message], "message": _message().dump_python(message)}
            for message in new
        ]
        *lines, call = self._plain([*messages, _event().dump_python(replace(event, messages=()))])
        self._messages = ids
        call["messages"] = [ids[message] for message in event.messages]
        return b"".join(map(_json, (*lines, call)))

    def encode_json(self, content: Mapping[str, Any]) -> bytes:
        """The content of a file that a person may read."""
        return _json(self._plain(content), indent=2)

    def encode_fields(self, content: Mapping[str, Any]) -> bytes:
        """The same with a line for each field, which takes a third of the time."""
        lines = [_json({name: value})[1:-2] for name, value in self._plain(content).items()]
        return b"{\n  " + b",\n  ".join(lines) + b"\n}\n"

    def _plain(self, value: Any) -> Any:
        """The value as JSON holds it: pictures in files, nothing secret, no float that JSON lacks."""
        return self._with_stored_bytes(self._redactor.value(value, _format_words()))

    def _with_stored_bytes(self, value: Any) -> Any:
        match value:
            case str() | int() | None:
                return value
            case {"data": bytes(data), "mime": "image/png" | "image/jpeg" as mime}:
                rest = {key: item for key, item in value.items() if key != "data" and (key, item) != _NO_NAME}
                return {"data": self._store(data, _ENDINGS[mime]), **self._with_stored_bytes(rest)}
            case bytes():
                return self._store(value, ".bin")
            case float() if not isfinite(value):
                return str(value)  # the fields that are floats read it back as one
            case dict():
                return {str(key): self._with_stored_bytes(item) for key, item in value.items()}
            case list():
                return [self._with_stored_bytes(item) for item in value]
            case _:
                return value

    def _store(self, data: bytes, ending: str) -> dict[str, str]:
        """The bytes as a line holds them: the name of the file that they now lie in."""
        if (data, ending) not in self._images:
            name = _file_of(data, ending)
            if not _has_size(self._folder / name, len(data)):  # runs of a benchmark share their images
                with explain_os_errors(self._folder):
                    write_atomic(self._folder / name, data, is_synced=self._is_synced)
            self._images[data, ending] = name
        return {"file": self._images[data, ending]}


def picture_file(picture: Picture) -> str:
    """The path of the picture in the folder of every run that contains it."""
    return _file_of(picture.data, _ENDINGS[picture.mime])


def read_trajectory(folder: Path) -> Trajectory:
    """The events of a run folder, as they were written. Raises RunFolderError, naming folder and line.

    A last line that was cut short is dropped, and the note says so.
    """
    path = folder / EVENTS
    try:
        whole, newline, torn = path.read_bytes().rpartition(b"\n")
    except OSError as error:
        raise RunFolderError(f"{str(path)!r}: {error.strerror}; is this the folder of a run?") from error
    lines = whole.split(b"\n") if newline else []
    _check_header(path, lines[0] if lines else b"")
    reading = _Reading(folder)
    for number, line in enumerate(lines[1:], start=2):
        reading.take(number, line)
    note = f"the last line was cut short and is left out ({len(torn)} bytes)" if torn else None
    return Trajectory(tuple(reading.events), note)


class _Reading:
    """The events read so far, and the messages that the next ones may refer to."""

    def __init__(self, folder: Path) -> None:
        self.events: list[Event] = []
        self._messages: list[Message] = []
        self._folder = folder
        self._images: dict[str, bytes] = {}

    def take(self, number: int, line: bytes) -> None:
        try:
            content = json.loads(line, object_hook=self._with_image)
            match content["kind"]:
                case "message":
                    self._messages.append(_message().validate_python(content["message"]))
                case "asked":
                    messages = tuple(self._messages[at] for at in content["messages"])
                    self.events.append(_event().validate_python({**content, "messages": messages}))
                case "began":
                    self.events.append(_event().validate_python(_with_new_names(content)))
                case _:
                    self.events.append(_event().validate_python(content))
        except (ValueError, KeyError, IndexError, TypeError) as error:
            self._refuse(number, error)

    def _with_image(self, found: dict[str, Any]) -> dict[str, Any] | bytes:
        """The bytes that a `{"file": …}` stands for; any other object unchanged."""
        name = found.get("file")
        if len(found) != 1 or not isinstance(name, str) or not _IMAGE_FILE.fullmatch(name):
            return found
        if name not in self._images:
            try:
                self._images[name] = (self._folder / name).read_bytes()
            except OSError as error:
                raise RunFolderError(f"{str(self._folder / name)!r}: {error.strerror}") from error
        return self._images[name]

    def _refuse(self, number: int, error: Exception) -> NoReturn:
        why = " ".join(str(error).split())[:200]
        raise RunFolderError(
            f"{str(self._folder / EVENTS)!r}, line {number}: not an event of this format: {why}"
        ) from error


def _with_new_names(content: dict[str, Any]) -> dict[str, Any]:
    """The start of a run with the names of version 2."""
    question = content["question"]
    earlier = question.get("earlier")
    if not earlier or "talk" not in earlier:
        return content
    state = {_NEW_NAMES.get(name, name): value for name, value in earlier.items()}
    return {**content, "question": {**question, "earlier": state}}


def _check_header(path: Path, line: bytes) -> None:
    try:
        header = json.loads(line)
        written = header["format"], header["version"]
    except (ValueError, KeyError, TypeError) as error:
        raise RunFolderError(f"{str(path)!r}: does not begin like a trajectory") from error
    if written[0] != FORMAT or written[1] not in _READ:
        raise RunFolderError(
            f"{str(path)!r}: is {written[0]} version {written[1]}; this release reads {FORMAT} up to {VERSION}"
        )


@cache
def _event() -> TypeAdapter[Event]:
    from typing import Annotated

    from pydantic import Field, TypeAdapter

    return TypeAdapter(Annotated[Event, Field(discriminator="kind")])


@cache
def _message() -> TypeAdapter[Message]:
    from pydantic import TypeAdapter

    return TypeAdapter(Message)


@cache
def _format_words() -> frozenset[tuple[str, str]]:
    """The words of the format: each field of an event that takes one of a closed set, with each of that set."""
    found: set[tuple[str, str]] = set()
    waiting: list[Any] = list(get_args(Event))
    seen: set[Any] = set()
    while waiting:
        kind = waiting.pop()
        waiting += get_args(kind)
        if isinstance(kind, type) and is_dataclass(kind) and kind not in seen:
            seen.add(kind)
            hints = get_type_hints(kind)
            waiting += hints.values()
            found |= {(name, str(word)) for name, hint in hints.items() for word in _literals(hint)}
    return frozenset(found)


def _literals(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) is Literal else ()


def _json(content: Mapping[str, Any], *, indent: int | None = None) -> bytes:
    separators = (",", ":") if indent is None else None
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return replace_surrogates(text).encode() + b"\n"


def _file_of(data: bytes, ending: str) -> str:
    from hashlib import sha256

    return f"{IMAGES}/{sha256(data).hexdigest()[:32]}{ending}"  # 128 bits, and a path that a person can read


def _has_size(path: Path, size: int) -> bool:
    """Whether the file is there and whole: files get their names only after they are written."""
    try:
        return path.stat().st_size == size
    except OSError:
        return False


def _create(folder: Path) -> FileIO:
    try:
        return (folder / EVENTS).open("xb", buffering=0)
    except FileExistsError as error:
        raise RunFolderError(f"{str(folder)!r}: already holds a run; choose another --out") from error


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
