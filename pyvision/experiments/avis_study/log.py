"""Write and read the log of a study: one JSON line for each step of a participant, on disk before the next step.

The first line is a header. The other lines are of three kinds:

opened   a question was shown, with its context; this begins an attempt, whose token is on all of its lines
used     a tool was used: the query, the object it was about, and the output or the error
closed   the participant found an answer, or gave up

A server that is killed loses at most the line being written; the next server removes the partial line. Two servers
cannot write to one log: the second is refused. Not covered: a disk that reports a write which it did not do.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cache
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn, TypeAlias

from pyvision.errors import RunFolderError
from pyvision.experiments.avis_study.toolbox import BUTTONS
from pyvision.text.sanitize import replace_surrogates
from pyvision.types import Closing

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FORMAT, VERSION = "pyvision-study", 1


@dataclass(frozen=True, slots=True)
class Opened:
    """A question was shown. context: what was known about its image before any click. at: ISO 8601, in UTC."""

    attempt: str
    question: str  # its id in the dataset
    user: str  # a pseudonym
    text: str
    context: str
    at: str
    kind: Literal["opened"] = "opened"


@dataclass(frozen=True, slots=True)
class UsedTool:
    """A tool was used. action: the button, a key of `toolbox.BUTTONS`. step: from 1. object: its number, from 1."""

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
    """The attempt has ended. answer: the participant's; empty if they found none. seconds: for the whole attempt."""

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


class Log(Closing):
    """The log of one study, opened for appending; thread-safe. Raises RunFolderError if a write fails."""

    def __init__(self, path: Path) -> None:
        """Create the file or resume it; a partial line left by a killed server is removed."""
        self.path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab+", buffering=0)
        except (OSError, ValueError) as error:
            self._fail(error)
        try:
            self._claim()
        except BaseException:
            self._file.close()
            raise

    def add(self, line: Line) -> None:
        """Append one line and sync it to disk; a partial write is undone."""
        with self._lock:
            start = os.fstat(self._file.fileno()).st_size
            try:
                _write(self._file, asdict(line))
            except OSError as error:
                self._file.truncate(start)
                self._fail(error)

    def close(self) -> None:
        self._file.close()

    def _claim(self) -> None:
        from fcntl import LOCK_EX, LOCK_NB, flock

        try:
            flock(self._file, LOCK_EX | LOCK_NB)
        except BlockingIOError as error:
            raise RunFolderError(
                f"{str(self.path)!r}: another study page is writing to this log; choose another --log"
            ) from error
        self._file.seek(0)
        content = self._file.read()
        end = content.rfind(b"\n") + 1
        if end and not _is_header(content.partition(b"\n")[0]):
            raise RunFolderError(f"{str(self.path)!r}: is not a study log; choose another --log")
        try:
            self._file.truncate(end)
            if not end:
                _write(self._file, {"format": FORMAT, "version": VERSION})
        except OSError as error:
            self._fail(error)

    def _fail(self, error: Exception) -> NoReturn:
        why = (error.strerror if isinstance(error, OSError) else None) or "cannot be written"
        raise RunFolderError(
            f"{str(self.path)!r}: {why}; choose another --log, or free some disk space"
        ) from error


@dataclass(frozen=True, slots=True)
class Attempt:
    """One participant's attempt at one question. closed: None if they left the page without an end."""

    opened: Opened
    used: tuple[UsedTool, ...] = ()
    closed: Closed | None = None


@dataclass(frozen=True, slots=True)
class StudyLog:
    """The content of a log. note: what was dropped from its end, if the server was killed while writing."""

    attempts: tuple[Attempt, ...]
    note: str | None = None


def read_log(path: Path) -> StudyLog:
    """The attempts in a log, in the order in which they began. Raises RunFolderError with the file and the line."""
    try:
        content, newline, partial = path.read_bytes().rpartition(b"\n")
    except OSError as error:
        raise RunFolderError(f"{str(path)!r}: {error.strerror}; give the log of a study page") from error
    lines = content.split(b"\n") if newline else []
    _check_header(path, lines[0] if lines else b"")
    reader = _LogReader(path)
    for number, line in enumerate(lines[1:], start=2):
        reader.add(number, line)
    note = f"the last line is incomplete and was ignored ({len(partial)} bytes)" if partial else None
    return StudyLog(tuple(reader.attempts.values()), note)


def list_answered(attempts: Iterable[Attempt]) -> set[tuple[str, str]]:
    """(user, question id) of the attempts that were closed, with an answer or without."""
    return {(each.opened.user, each.opened.question) for each in attempts if each.closed}


class _LogReader:
    """The attempts read so far, by their token."""

    def __init__(self, path: Path) -> None:
        self.attempts: dict[str, Attempt] = {}
        self._path = path

    def add(self, number: int, text: bytes) -> None:
        try:
            line = _line_adapter().validate_python(json.loads(text))
        except (ValueError, RecursionError) as error:
            self._fail(number, "not a line of a study log", error)
        match line:
            case Opened():
                if line.attempt in self.attempts:
                    self._fail(number, f"attempt {line.attempt!r} is opened twice")
                self.attempts[line.attempt] = Attempt(line)
            case UsedTool() | Closed():
                self.attempts[line.attempt] = self._extend(number, line)

    def _extend(self, number: int, line: UsedTool | Closed) -> Attempt:
        attempt = self.attempts.get(line.attempt)
        if attempt is None:
            self._fail(number, f"attempt {line.attempt!r} was never opened")
        if attempt.closed:
            self._fail(number, f"attempt {line.attempt!r} is already closed")
        if isinstance(line, Closed):
            return replace(attempt, closed=line)
        if line.action not in BUTTONS:
            self._fail(number, f"unknown action {line.action!r}; known actions are {', '.join(BUTTONS)}")
        return replace(attempt, used=(*attempt.used, line))

    def _fail(self, number: int, what: str, error: Exception | None = None) -> NoReturn:
        why = f": {' '.join(str(error).split())[:200]}" if error else ""
        raise RunFolderError(f"{str(self._path)!r}, line {number}: {what}{why}") from error


def _check_header(path: Path, line: bytes) -> None:
    try:
        header = json.loads(line)
        found = header["format"], header["version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunFolderError(f"{str(path)!r}, line 1: not the header of a study log") from error
    if found != (FORMAT, VERSION):
        raise RunFolderError(
            f"{str(path)!r}, line 1: {found[0]} version {found[1]}; this release reads {FORMAT} version {VERSION}"
        )


def _is_header(line: bytes) -> bool:
    try:
        return bool(json.loads(line) == {"format": FORMAT, "version": VERSION})
    except ValueError:
        return False


@cache
def _line_adapter() -> TypeAdapter[Line]:
    from typing import Annotated

    from pydantic import Field, TypeAdapter

    return TypeAdapter(Annotated[Line, Field(discriminator="kind")])


def _write(file: FileIO, line: dict[str, object]) -> None:
    text = replace_surrogates(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
    rest = memoryview(text.encode() + b"\n")
    while rest:
        rest = rest[file.write(rest) :]
    os.fsync(file.fileno())
