"""Write the log of a study: a JSON line for each thing that a person did, on the disk before they go on.

The first line is a header. Of the others there are three kinds:

opened   a question was shown, with what stood around it; it begins an attempt, whose token all its lines carry
used     a tool was used: what was asked of it, about which object, and what it said or why it could not
closed   the person found an answer, or gave up

A server that is killed loses at most the line being written, which the next one cuts off. Two servers cannot write
one log: the second is refused. Not covered: a disk that says it has written what it has not.
"""

from __future__ import annotations

import json
import os
import re
import threading
from dataclasses import asdict, dataclass
from io import FileIO
from pathlib import Path
from typing import Literal, NoReturn, Self, TypeAlias

from pyvision.errors import RunFolderError

FORMAT, VERSION = "pyvision-study", 1
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Opened:
    """A question was shown. context: what was known of its picture without any click. at: ISO 8601, in UTC."""

    attempt: str
    question: str  # its id in the data set
    user: str  # a pseudonym
    text: str
    context: str
    at: str
    kind: Literal["opened"] = "opened"


@dataclass(frozen=True, slots=True)
class UsedTool:
    """A tool was used. deed: the button, a name of `actions.ACTIONS`. step: from 1. object: its number, from 1."""

    attempt: str
    question: str
    user: str
    step: int
    action: str
    tool: str
    query: str
    object: int | None
    output: str
    error: str | None
    seconds: float
    at: str
    kind: Literal["used"] = "used"


@dataclass(frozen=True, slots=True)
class Closed:
    """The attempt is over. answer: what the person takes for it; empty if they did not find it. seconds: in all."""

    attempt: str
    question: str
    user: str
    step: int
    is_found: bool
    answer: str
    seconds: float
    at: str
    kind: Literal["closed"] = "closed"


Line: TypeAlias = Opened | UsedTool | Closed


class Log:
    """The log of one study, to add to; thread-safe. Raises RunFolderError when the disk does not take it."""

    def __init__(self, path: Path) -> None:
        """Begin the file, or go on with it; half a line at its end, of a server that was killed, is cut off."""
        self.path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab+", buffering=0)
        except (OSError, ValueError) as error:
            self._refuse(error)
        try:
            self._claim()
        except BaseException:
            self._file.close()
            raise

    def add(self, line: Line) -> None:
        """Write one line and force it to the disk; what fails half-way is taken back."""
        with self._lock:
            start = os.fstat(self._file.fileno()).st_size
            try:
                _write(self._file, asdict(line))
            except OSError as error:
                self._file.truncate(start)
                self._refuse(error)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _claim(self) -> None:
        from fcntl import LOCK_EX, LOCK_NB, flock

        try:
            flock(self._file, LOCK_EX | LOCK_NB)
        except BlockingIOError as error:
            raise RunFolderError(
                f"{str(self.path)!r}: another study page writes this log; choose another --log"
            ) from error
        self._file.seek(0)
        whole = self._file.read()
        kept = whole.rfind(b"\n") + 1
        first = whole[:kept].partition(b"\n")[0]
        if kept and not _is_header(first):
            raise RunFolderError(f"{str(self.path)!r}: is no log of a study; choose another --log")
        try:
            self._file.truncate(kept)
            if not kept:
                _write(self._file, {"format": FORMAT, "version": VERSION})
        except OSError as error:
            self._refuse(error)

    def _refuse(self, error: Exception) -> NoReturn:
        why = (error.strerror if isinstance(error, OSError) else None) or "cannot be written"
        raise RunFolderError(
            f"{str(self.path)!r}: {why}; choose another --log, or make room there"
        ) from error


def _is_header(line: bytes) -> bool:
    try:
        return bool(json.loads(line) == {"format": FORMAT, "version": VERSION})
    except ValueError:
        return False


def _write(file: FileIO, line: dict[str, object]) -> None:
    text = _SURROGATE.sub("\ufffd", json.dumps(line, ensure_ascii=False, separators=(",", ":")))
    rest = memoryview(text.encode() + b"\n")
    while rest:
        rest = rest[file.write(rest) :]
    os.fsync(file.fileno())
