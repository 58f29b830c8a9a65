"""What a judge has said, kept on disk as JSON lines: the same prompt to the same model is paid for once."""

from __future__ import annotations

import json
import threading
from hashlib import sha256
from pathlib import Path

from pyvision.errors import ConfigError


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
            return self._loaded().get(key)

    def put(self, key: str, model: str, reply: str) -> None:
        """Keep a reply; it is in the file when this returns."""
        line = json.dumps({"key": key, "model": model, "reply": reply})
        with self._lock:
            self._loaded()[key] = reply
            try:
                self._append(line)
            except OSError as error:
                raise ConfigError(f"verdicts cannot be kept in {self.path}: {error.strerror}") from error

    def _append(self, line: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            end = file.seek(0, 2)
            file.seek(max(0, end - 1))
            cut = file.read(1) not in (b"", b"\n")
            file.write((f"\n{line}\n" if cut else f"{line}\n").encode())

    def _loaded(self) -> dict[str, str]:
        if self._replies is None:
            self._replies = dict(_read(self.path))
        return self._replies


def _read(path: Path) -> list[tuple[str, str]]:
    if not path.exists():
        return []
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ConfigError(f"verdicts cannot be read from {path}: {error.strerror}") from error
    return [pair for line in lines if line.strip() and (pair := _pair(line))]


def _pair(line: bytes) -> tuple[str, str] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    match found:
        case {"key": str(key), "reply": str(reply)}:
            return key, reply
    return None
