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
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn, Self, TypeAlias

from pyvision.errors import RunFolderError
from pyvision.experiments.avis_study.toolbox import BUTTONS

if TYPE_CHECKING:
    from pydantic import TypeAdapter


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
    """A tool was used. deed: the button, a name of `actions.BUTTONS`. step: from 1. object: its number, from 1."""

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


# ---- Read the logs of a study: the attempts of people at questions, in the order in which they were begun.


@dataclass(frozen=True, slots=True)
class Attempt:
    """One person at one question. closed: None for one who went away without an end."""

    opened: Opened
    used: tuple[UsedTool, ...] = ()
    closed: Closed | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """What a log holds. note: what was dropped from its end, of a page that was killed."""

    attempts: tuple[Attempt, ...]
    note: str | None = None


def read_log(path: Path) -> Record:
    """The attempts in one log. Raises RunFolderError, which names the file and the line, for anything else."""
    try:
        whole, newline, torn = path.read_bytes().rpartition(b"\n")
    except OSError as error:
        raise RunFolderError(f"{str(path)!r}: {error.strerror}; name the log of a study page") from error
    lines = whole.split(b"\n") if newline else []
    _check_header(path, lines[0] if lines else b"")
    reading = _Reading(path)
    for number, line in enumerate(lines[1:], start=2):
        reading.take(number, line)
    note = f"the last line was cut short and is left out ({len(torn)} bytes)" if torn else None
    return Record(tuple(reading.attempts.values()), note)


def read_logs(paths: Sequence[Path]) -> tuple[Attempt, ...]:
    """The attempts in all of them. Raises RunFolderError."""
    return tuple(attempt for path in paths for attempt in read_log(path).attempts)


def answered_questions(attempts: Iterable[Attempt]) -> set[tuple[str, str]]:
    """(user, question id) of those that were brought to an end, whichever end it was."""
    return {(each.opened.user, each.opened.question) for each in attempts if each.closed}


class _Reading:
    """The attempts so far, by their token."""

    def __init__(self, path: Path) -> None:
        self.attempts: dict[str, Attempt] = {}
        self._path = path

    def take(self, number: int, text: bytes) -> None:
        try:
            line = _line().validate_python(json.loads(text))
        except (ValueError, RecursionError) as error:
            self._refuse(number, "no line of a study", error)
        match line:
            case Opened():
                if line.attempt in self.attempts:
                    self._refuse(number, f"attempt {line.attempt!r} is opened a second time")
                self.attempts[line.attempt] = Attempt(line)
            case UsedTool() | Closed():
                self.attempts[line.attempt] = self._continued(number, line)

    def _continued(self, number: int, line: UsedTool | Closed) -> Attempt:
        attempt = self.attempts.get(line.attempt)
        if attempt is None:
            self._refuse(number, f"attempt {line.attempt!r} was never opened")
        if attempt.closed:
            self._refuse(number, f"attempt {line.attempt!r} is closed already")
        if isinstance(line, Closed):
            return replace(attempt, closed=line)
        if line.action not in BUTTONS:
            self._refuse(number, f"unknown deed {line.action!r}; known are {', '.join(BUTTONS)}")
        return replace(attempt, used=(*attempt.used, line))

    def _refuse(self, number: int, what: str, error: Exception | None = None) -> NoReturn:
        why = f": {' '.join(str(error).split())[:200]}" if error else ""
        raise RunFolderError(f"{str(self._path)!r}, line {number}: {what}{why}") from error


def _check_header(path: Path, line: bytes) -> None:
    try:
        header = json.loads(line)
        written = header["format"], header["version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunFolderError(f"{str(path)!r}, line 1: does not begin as the log of a study does") from error
    if written != (FORMAT, VERSION):
        told = f"is {written[0]} version {written[1]}; this release reads {FORMAT} {VERSION}"
        raise RunFolderError(f"{str(path)!r}, line 1: {told}")


@cache
def _line() -> TypeAdapter[Line]:
    from typing import Annotated

    from pydantic import Field, TypeAdapter

    return TypeAdapter(Annotated[Line, Field(discriminator="kind")])
