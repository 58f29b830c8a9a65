"""What happened while a question was answered: one tagged union for progress output, trajectories and reports."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal, TypeAlias

from pyvision.types import Message, Observation, Outcome, Picture, Question, Reply, ToolRequest, Usage
from sandbox.results import CellResult

_QUIET_ATTEMPTS = 2
_QUIET_WAIT_S = 10.0


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A strategy started on a question."""

    question: Question
    strategy: str
    models: dict[str, str]  # role -> model name
    kind: Literal["began"] = "began"


@dataclass(frozen=True, slots=True)
class Sent:
    """A picture as one request held it. Coordinates count from the top left: original = sent / scale on each axis.

    name: its name in the conversation and in the kernel, if it has one. sha256: of the file that was sent. place: in a
    turn of the user, in the result of a tool call, or in a turn of the user after the results.
    """

    name: str | None
    sha256: str
    width: int
    height: int
    scale_x: float = 1.0
    scale_y: float = 1.0
    place: Literal["turn", "in_result", "after_result"] = "turn"

    def to_original(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the sent picture lies in the original, in its pixels; padding lies outside of it."""
        return x / self.scale_x, y / self.scale_y


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of a reply that is still arriving. It is never recorded: `ModelCall` holds the whole reply.

    for_tool: as in `ModelCall`.
    """

    role: str
    text: str
    for_tool: bool = False
    kind: Literal["spoke"] = "spoke"


@dataclass(frozen=True, slots=True)
class ReplyRestarted:
    """The reply starts again after an error: its text so far is void. Passes by as `TextDelta` does.

    The other fields are those of `types.Restart`.
    """

    role: str
    why: str = ""
    attempt: int = 0
    wait_s: float = 0.0
    kind: Literal["restarted"] = "restarted"

    @property
    def notice(self) -> str | None:
        """What to show while waiting: a long wait, and each from the third attempt on, as the second often succeeds."""
        if self.attempt <= _QUIET_ATTEMPTS and self.wait_s < _QUIET_WAIT_S:
            return None
        return f"{self.why}, attempt {self.attempt}, next in {ceil(self.wait_s)} s"


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A model was asked in a role and replied. `messages` are what was sent, `sent` the pictures in them.

    tools: the names of the tools that it was offered. for_tool: a tool asked it. Every other call is a turn of the run,
    which `Limits.max_turns` counts; of runs recorded before 0.2.0, every call is one.
    """

    role: str
    model: str
    messages: tuple[Message, ...]
    reply: Reply
    seconds: float
    sent: tuple[Sent, ...] = ()
    tools: tuple[str, ...] = ()
    for_tool: bool = False
    kind: Literal["asked"] = "asked"


@dataclass(frozen=True, slots=True)
class CellRun:
    """A cell ran."""

    code: str
    result: CellResult
    kind: Literal["ran"] = "ran"


@dataclass(frozen=True, slots=True)
class CellOutput:
    """Text that a cell has printed while it runs. It is never recorded: `CellRun` holds the whole output."""

    text: str
    kind: Literal["printed"] = "printed"


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A tool was used, by the strategy or from inside a cell; a cell's calls come before its `CellRun`.

    is_cached: the question had made the same request before, and its observation was used again.
    """

    tool: str
    request: ToolRequest
    observation: Observation
    seconds: float
    is_cached: bool = False
    kind: Literal["used"] = "used"


@dataclass(frozen=True, slots=True)
class ImageDefined:
    """A figure got a name, under which it is now known in the kernel and in the conversation."""

    name: str
    picture: Picture
    kind: Literal["defined"] = "defined"


@dataclass(frozen=True, slots=True)
class Note:
    """A remark of a strategy about its progress: a repair, a repetition, a transition, a verdict."""

    label: str
    data: dict[str, Any]
    kind: Literal["noted"] = "noted"


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The last event of every run. cost: by the user's price table, None without one."""

    outcome: Outcome
    usage: Usage
    turns: int
    cells: int
    seconds: float
    cost: float | None = None
    kind: Literal["ended"] = "ended"


PassingEvent: TypeAlias = TextDelta | ReplyRestarted | CellOutput
"""What is only shown while it happens, and never recorded."""

Event: TypeAlias = PassingEvent | RunStarted | ModelCall | CellRun | ToolRun | ImageDefined | Note | RunEnded


_OLD_NAMES = {
    "Began": RunStarted,
    "Spoke": TextDelta,
    "Restarted": ReplyRestarted,
    "Asked": ModelCall,
    "Ran": CellRun,
    "Used": ToolRun,
    "Defined": ImageDefined,
    "Noted": Note,
    "Ended": RunEnded,
}


def __getattr__(name: str) -> Any:
    """The events under the names that they had before version 0.2, for one release."""
    if name in _OLD_NAMES:
        new = _OLD_NAMES[name]
        message = f"pyvision.events.{name} is now pyvision.events.{new.__name__}"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return new
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
