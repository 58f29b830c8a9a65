"""Read the logs of a study: the attempts of people at questions, in the order in which they were begun."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from pyvision.errors import RunFolderError
from pyvision.experiments.avis_study.actions import ACTIONS
from pyvision.experiments.avis_study.log import FORMAT, VERSION, Closed, Line, Opened, UsedTool

if TYPE_CHECKING:
    from pydantic import TypeAdapter


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
        if line.action not in ACTIONS:
            self._refuse(number, f"unknown deed {line.action!r}; known are {', '.join(ACTIONS)}")
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
