"""The replies of a judge with their tokens, kept as JSON lines: the same prompt to a model is paid for once."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from pyvision.errors import ConfigError
from pyvision.types import Usage

VERDICTS = "verdicts.jsonl"
"""The file of a run."""
_NONE = Usage()


def key_of(prompt: str, model: str) -> str:
    """The key of a prompt to a model: the sha256 of both."""
    return sha256(f"{model}\0{prompt}".encode(errors="surrogatepass")).hexdigest()


class Verdicts:
    """A file of replies by key, read on the first use; safe to share between threads, not between processes.

    A line that cannot be read, as a crash in the middle of writing leaves one, is passed over: its judge is asked
    again. A file that cannot be opened raises ConfigError.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._replies: dict[str, str] | None = None

    def get(self, key: str) -> str | None:
        """The reply kept under a key."""
        with self._lock:
            return self._load().get(key)

    def put(self, key: str, model: str, reply: str | None, usage: Usage = _NONE) -> None:
        """Keep a reply, or with None what one took that says nothing; it is in the file when this returns."""
        tokens = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        line = json.dumps({"key": key, "model": model, "reply": reply, **tokens})
        with self._lock:
            if reply is not None:
                self._load()[key] = reply
            try:
                self._append(line)
            except OSError as error:
                raise ConfigError(f"verdicts cannot be kept in {self.path}: {error.strerror}") from error

    def used(self) -> dict[str, Usage]:
        """What each model has used up to now, as its endpoint counted it."""
        used: dict[str, Usage] = {}
        for line in _lines(self.path):
            match line:
                case {"model": str(model), "input_tokens": int(sent), "output_tokens": int(said)}:
                    used[model] = used.get(model, Usage()) + Usage(sent, said)
        return used

    def _append(self, line: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            end = file.seek(0, 2)
            file.seek(max(0, end - 1))
            cut = file.read(1) not in (b"", b"\n")
            file.write((f"\n{line}\n" if cut else f"{line}\n").encode())

    def _load(self) -> dict[str, str]:
        if self._replies is None:
            self._replies = dict(_replies(self.path))
        return self._replies


def _replies(path: Path) -> Iterator[tuple[str, str]]:
    for line in _lines(path):
        match line:
            case {"key": str(key), "reply": str(reply)}:
                yield key, reply


def _lines(path: Path) -> Iterator[Any]:
    """What each line holds, but for those that cannot be read."""
    try:
        lines = path.read_bytes().split(b"\n") if path.exists() else []
    except OSError as error:
        raise ConfigError(f"verdicts cannot be read from {path}: {error.strerror}") from error
    for line in lines:
        with contextlib.suppress(ValueError):
            yield json.loads(line)
