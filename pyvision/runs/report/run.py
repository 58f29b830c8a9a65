"""A recorded run as its readers want it: events cut into turns, figures with their names."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pyvision.errors import EndReason, RunFolderError, reason
from pyvision.events import CellRun, Event, ImageDefined, ModelCall, Note, RunEnded, RunStarted
from pyvision.trajectory import CONFIG, read_trajectory
from pyvision.types import Picture, Question
from sandbox import Figure

FIGURE_REFUSED = "figure_refused"  # the label of a figure that got no name


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply of a model and all that followed from it. Number 0 is what happened before the first reply."""

    number: int
    asked: ModelCall | None
    events: tuple[Event, ...] = ()

    @property
    def cells(self) -> tuple[CellRun, ...]:
        return tuple(event for event in self.events if isinstance(event, CellRun))


@dataclass(frozen=True)
class Run:
    """One run: its events in order, what it was given, and what a reader of a broken record should know."""

    folder: Path
    events: tuple[Event, ...]
    config: dict[str, Any] = field(default_factory=dict)
    note: str | None = None

    @property
    def began(self) -> RunStarted | None:
        return next((event for event in self.events if isinstance(event, RunStarted)), None)

    @property
    def ended(self) -> RunEnded | None:
        return next((event for event in reversed(self.events) if isinstance(event, RunEnded)), None)

    @property
    def question(self) -> Question:
        return self.began.question if self.began else Question("")

    @cached_property
    def inputs(self) -> dict[str, Picture]:
        """The pictures of the question under their names."""
        return {f"image_clue_{number}": picture for number, picture in enumerate(self.question.images)}

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(turns_of(self.events))


def read_run(folder: Path) -> Run:
    """The run in a folder. Raises RunFolderError, naming the file and what is wrong with it."""
    trajectory = read_trajectory(folder)
    return Run(folder, trajectory.events, _config(folder / CONFIG), trajectory.note)


def pair_figures(events: Sequence[Event]) -> Iterator[tuple[CellRun, tuple[tuple[str, Picture] | None, ...]]]:
    """Each cell among the events with one entry for each of its figures: name and picture, or None without one."""
    for at, event in enumerate(events):
        if isinstance(event, CellRun):
            given = list(_given(events[at + 1 :]))
            count = len(event.result.figures)
            yield event, tuple((*given, *[None] * count)[:count])


def as_picture(figure: Figure) -> Picture:
    """A figure of a cell as a picture, with the bytes that the cell gave."""
    return Picture(figure.data, figure.mime, figure.width, figure.height)


def _given(following: Sequence[Event]) -> Iterator[tuple[str, Picture] | None]:
    for event in following:
        match event:
            case ImageDefined(name=name, picture=picture):
                yield name, picture
            case Note(label=label) if label == FIGURE_REFUSED:
                yield None
            case CellRun() | ModelCall():
                return


def turns_of(events: Sequence[Event]) -> Iterator[Turn]:
    """The turns among the events, also of a run that goes on."""
    number, asked, following = 0, None, list[Event]()
    for event in events:
        match event:
            case RunStarted() | RunEnded():
                continue
            case ModelCall():
                if asked or following:
                    yield Turn(number, asked, tuple(following))
                number, asked, following = number + 1, event, []
            case _:
                following.append(event)
    if asked or following:
        yield Turn(number, asked, tuple(following))


def _config(path: Path) -> dict[str, Any]:
    """What the run was given; empty where the file is missing, as in a run that was handed on without it."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise RunFolderError(
            f"{str(path)!r}: cannot be read ({reason(error)}); remove it to go on without it"
        ) from error
    if not isinstance(found, dict):
        raise RunFolderError(f"{str(path)!r}: holds no JSON object; remove it to go on without it")
    return found


# ---- Why a run ended, in words, and whose fault it is when there is no answer.


Fault: TypeAlias = Literal["nobody", "model", "limit", "endpoint", "machine", "caller", "program"]


@dataclass(frozen=True, slots=True)
class Ending:
    """fault: of `endpoint`, `machine`, `caller` and `program` a model must not be scored or trained."""

    fault: Fault
    words: str

    @property
    def is_of_the_model(self) -> bool:
        return self.fault in ("nobody", "model", "limit")


ENDINGS: Mapping[EndReason, Ending] = {
    "answered": Ending("nobody", "answered"),
    "no_answer": Ending("model", "the model ended without an answer"),
    "refused": Ending("model", "the model declined, or a content filter did"),
    "truncated": Ending("model", "the reply was cut at its length limit, twice"),
    "loop": Ending("model", "the same cell failed in the same way again and again"),
    "turn_limit": Ending("limit", "all turns were used"),
    "token_limit": Ending("limit", "all tokens were used"),
    "time_limit": Ending("limit", "the time was up"),
    "picture_limit": Ending("limit", "all pictures that could be sent were sent"),
    "byte_limit": Ending("limit", "all bytes that could be sent were sent"),
    "tool_limit": Ending("limit", "the uses of tools were spent"),
    "cost_limit": Ending("limit", "the money was spent"),
    "context_overflow": Ending("limit", "the conversation is longer than the model can read"),
    "model_error": Ending("endpoint", "the model endpoint failed"),
    "sandbox_error": Ending("machine", "no isolated kernel could be had"),
    "interrupted": Ending("caller", "stopped by the caller"),
    "error": Ending("program", "an error of the program or its settings"),
}
UNFINISHED = Ending("machine", "the record breaks off: the run was killed or still goes on")


def ending(reason: EndReason | None) -> Ending:
    """What an end reason means; None is a run that has not ended."""
    return ENDINGS.get(reason, UNFINISHED) if reason else UNFINISHED


# ---- Write what was made of a run, whole or not at all.


def write_file(path: Path, data: bytes) -> None:
    """The file with this content, in place of one that is there. Raises RunFolderError."""
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        half.write_bytes(data)
        half.replace(path)
    except OSError as error:
        with suppress(OSError):  # what cannot be removed was not written either, or stays as a hidden file
            half.unlink(missing_ok=True)
        raise RunFolderError(
            f"{str(path)!r}: cannot be written: {error.strerror}; choose another place with --out"
        ) from error
