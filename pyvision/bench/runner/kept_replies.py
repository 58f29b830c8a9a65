"""Keep the replies of a sample that is being answered, so that a run that was killed asks for none of them again.

Each reply is written to a file before the strategy sees it. When the sample is answered again, the same requests get
the same replies; the first request that differs, and all new ones, go to the model. When the run of the sample is
written, its file is emptied, and renamed for a later sample: creating a file costs many times as much. It keeps one
byte, the newline before the first reply: ext4 writes a file to the disk at once, and waits for that, if it was
truncated to nothing and written again.

Covered: kill -9, and samples whose endpoint or sandbox failed. Not covered: a power failure (nothing is synced), a
full disk (the reply is used, and not kept), replies that hold a secret, and the workers of other machines.
"""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyvision.models.recording import read_reply, reply_line, request_key
from pyvision.models.streaming import in_one_piece, stream_of
from pyvision.types import Message, Model, Reply, Restart, Sampling

REPLIES = "replies"  # the folder in that of the experiment
_EMPTY_BYTES = 1


class ReplyFolder:
    """The kept replies of an experiment: a file for each sample that has no record. Thread-safe. Raises OSError.

    secrets: a reply with one is not written.
    """

    def __init__(self, folder: Path, secrets: Sequence[str] = ()) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self._secrets = secrets
        self._empty = deque(path for path in folder.iterdir() if path.stat().st_size <= _EMPTY_BYTES)

    def open(self, name: str) -> KeptReplies:
        """What was kept of the replies to the sample of this name."""
        return KeptReplies(self._path(name), self._secrets, self._empty)

    def remove(self, name: str) -> None:
        """Forget the replies to the sample of this name, if any were kept."""
        path = self._path(name)
        with suppress(FileNotFoundError):
            os.truncate(path, _EMPTY_BYTES)
            self._empty.append(path)

    def close(self) -> None:
        """Remove the files that hold no reply."""
        with suppress(OSError):  # an empty file does no harm
            while self._empty:
                self._empty.pop().unlink()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.jsonl"


class KeptReplies:
    """The replies of one sample, in a file of JSON lines. Thread-safe. secrets: a reply with one is not written.

    empty: files that the first reply may be written to, under a new name.
    """

    def __init__(self, path: Path, secrets: Sequence[str] = (), empty: deque[Path] | None = None) -> None:
        self._path = path
        self._secrets = secrets
        self._empty = deque() if empty is None else empty
        self._replies: dict[str, deque[Reply]] | None = None
        self._lock = threading.Lock()

    def around(self, models: Mapping[str, Model]) -> dict[str, Model]:
        """The models by role, each of which first looks for a reply that was kept."""
        return {role: _KeepingModel(model, role, self) for role, model in models.items()}

    def take(self, key: str) -> Reply | None:
        """The next kept reply to this request, if there is one more."""
        with self._lock:
            if self._replies is None:
                self._replies = _read(self._path)
            replies = self._replies.get(key)
            return replies.popleft() if replies else None

    def keep(self, key: str, reply: Reply) -> None:
        """Write the reply down."""
        line = reply_line(key, reply)
        if any(secret in line for secret in self._secrets):
            return
        with self._lock, suppress(OSError):  # a full disk shows when the run is written
            self._append(b"\n" + line.encode())

    def _append(self, line: bytes) -> None:
        if self._empty and not self._path.exists():
            with suppress(IndexError, FileNotFoundError):  # another thread took it
                self._empty.pop().rename(self._path)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)


class _KeepingModel:
    def __init__(self, model: Model, role: str, kept: KeptReplies) -> None:
        self._model = model
        self._role = role
        self._kept = kept

    @property
    def name(self) -> str:
        return self._model.name

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        key = self._key(messages, sampling)
        reply = self._kept.take(key)
        if reply is None:
            reply = self._model.complete(messages, sampling)
            self._kept.keep(key, reply)
        return reply

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Restart | Reply]:
        key = self._key(messages, sampling)
        reply = self._kept.take(key)
        if reply is not None:
            yield from in_one_piece(reply)
            return
        for piece in stream_of(self._model, messages, sampling):
            if isinstance(piece, Reply):
                self._kept.keep(key, piece)
            yield piece

    def _key(self, messages: Sequence[Message], sampling: Sampling) -> str:
        return f"{self._role} {request_key(messages, sampling)}"


def _read(path: Path) -> dict[str, deque[Reply]]:
    """The replies by key, without lines that a kill or a full disk cut; the next reply begins a new line."""
    replies: dict[str, deque[Reply]] = {}
    try:
        data = path.read_bytes()
    except OSError:  # none were kept
        return replies
    for line in data.split(b"\n"):
        with suppress(ValueError, KeyError, TypeError):
            entry: dict[str, Any] = json.loads(line)
            replies.setdefault(entry["key"], deque()).append(read_reply(entry["reply"]))
    return replies
