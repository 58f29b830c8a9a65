"""A recorded run, as all that is done with it needs it: its turns, its figures with their names, how it ended."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pyvision.errors import EndReason, RunFolderError, reason
from pyvision.events import CellRun, Event, ImageDefined, ModelCall, Note, RunEnded, RunStarted
from pyvision.trajectory import CONFIG, read_trajectory
from pyvision.types import Picture, Question
from sandbox import Figure, View

FIGURE_REFUSED = "figure_refused"  # the label of a note on a figure that got no name
Names: TypeAlias = tuple[
    tuple[str, Picture] | None, ...
]  # one entry for each figure of a cell, None without a name
Fault: TypeAlias = Literal["nobody", "model", "limit", "endpoint", "machine", "caller", "program"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply to the strategy with everything that followed from it, calls of models by tools among it.

    Number 0: what happened before the first reply.
    """

    number: int
    asked: ModelCall | None
    events: tuple[Event, ...] = ()

    @property
    def cells(self) -> tuple[CellRun, ...]:
        return tuple(event for event in self.events if isinstance(event, CellRun))

    @property
    def calls_for_tools(self) -> tuple[ModelCall, ...]:
        """The calls of models by tools."""
        return tuple(event for event in self.events if isinstance(event, ModelCall))


@dataclass(frozen=True)
class Run:
    """One run: its events in order and its configuration. note: what is wrong with a damaged trajectory."""

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
        """The images of the question by name."""
        return {f"image_clue_{number}": picture for number, picture in enumerate(self.question.images)}

    @cached_property
    def views(self) -> dict[str, View]:
        """How each image of the conversation was sent first, by name, and what it shows if it is a figure."""
        calls = [event for event in self.events if isinstance(event, ModelCall)]
        sent = {each.name: each for call in reversed(calls) for each in call.sent if each.name is not None}
        frames = {name: (float(s.width), float(s.height), s.scale_x, s.scale_y) for name, s in sent.items()}
        regions = {
            named[0]: figure.regions
            for ran, names in pair_figures(self.events)
            for figure, named in zip(ran.result.figures, names, strict=False)
            if named
        }
        return {name: View(frames.get(name), regions.get(name)) for name in {**frames, **regions}}

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(turns_of(self.events))


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a run ended. With the fault `endpoint`, `machine`, `caller` or `program`, do not score or train the model."""

    fault: Fault
    text: str

    @property
    def is_of_the_model(self) -> bool:
        return self.fault in ("nobody", "model", "limit")


ENDINGS: Mapping[EndReason, Ending] = {
    "answered": Ending("nobody", "answered"),
    "no_answer": Ending("model", "the model stopped without an answer"),
    "refused": Ending("model", "the model or a content filter declined to answer"),
    "truncated": Ending("model", "the reply was cut off at its length limit twice"),
    "loop": Ending("model", "the same cell kept failing in the same way"),
    "turn_limit": Ending("limit", "the turn limit was reached"),
    "token_limit": Ending("limit", "the token limit was reached"),
    "time_limit": Ending("limit", "the time limit was reached"),
    "picture_limit": Ending("limit", "the limit on images sent was reached"),
    "byte_limit": Ending("limit", "the limit on bytes sent was reached"),
    "tool_limit": Ending("limit", "the limit on tool calls was reached"),
    "cost_limit": Ending("limit", "the cost limit was reached"),
    "context_overflow": Ending("limit", "the conversation exceeded the context window of the model"),
    "model_error": Ending("endpoint", "the model endpoint failed"),
    "sandbox_error": Ending("machine", "no isolated kernel was available"),
    "interrupted": Ending("caller", "stopped before its end"),
    "error": Ending("program", "the program or its settings caused an error"),
}
UNFINISHED = Ending("machine", "the recording is incomplete: the run was killed or is still going")


def read_run(folder: Path) -> Run:
    """The run in a folder. Raises RunFolderError, which names the file and the problem."""
    trajectory = read_trajectory(folder)
    return Run(folder, trajectory.events, _read_config(folder / CONFIG), trajectory.note)


def ending(reason: EndReason | None) -> Ending:
    """What an end reason means; None stands for a run that has not ended."""
    return ENDINGS.get(reason, UNFINISHED) if reason else UNFINISHED


def turns_of(events: Sequence[Event]) -> Iterator[Turn]:
    """The turns among the events; the run may still be going."""
    number, asked, following = 0, None, list[Event]()
    for event in events:
        match event:
            case RunStarted() | RunEnded():
                continue
            case ModelCall(for_tool=False):
                if asked or following:
                    yield Turn(number, asked, tuple(following))
                number, asked, following = number + 1, event, []
            case _:
                following.append(event)
    if asked or following:
        yield Turn(number, asked, tuple(following))


def pair_figures(events: Sequence[Event]) -> Iterator[tuple[CellRun, Names]]:
    """Each cell among the events with the names and images of its figures."""
    for at, event in enumerate(events):
        if isinstance(event, CellRun):
            names = list(_names_after(events[at + 1 :]))
            count = len(event.result.figures)
            yield event, tuple((*names, *[None] * count)[:count])


def as_picture(figure: Figure) -> Picture:
    """A figure of a cell as an image, with the bytes that the cell produced."""
    return Picture(figure.data, figure.mime, figure.width, figure.height)


def _names_after(events: Sequence[Event]) -> Iterator[tuple[str, Picture] | None]:
    for event in events:
        match event:
            case ImageDefined(name=name, picture=picture):
                yield name, picture
            case Note(label=label) if label == FIGURE_REFUSED:
                yield None
            case CellRun() | ModelCall():
                return


def _read_config(path: Path) -> dict[str, Any]:
    """The configuration of the run; empty if the file is missing, as in a run that was shared without it."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise RunFolderError(
            f"{str(path)!r}: cannot be read ({reason(error)}); remove it to continue without it"
        ) from error
    if not isinstance(found, dict):
        raise RunFolderError(f"{str(path)!r}: is not a JSON object; remove it to continue without it")
    return found
