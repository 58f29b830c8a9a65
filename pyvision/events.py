"""What happened while a question was answered: one tagged union that printer, trajectory and reports all read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pyvision.types import Message, Outcome, Picture, Question, Reply, Usage
from sandbox.results import CellResult


@dataclass(frozen=True, slots=True)
class Began:
    """A question was taken up by a strategy."""

    question: Question
    strategy: str
    models: dict[str, str]  # role -> model name
    kind: Literal["began"] = "began"


@dataclass(frozen=True, slots=True)
class Asked:
    """A model was asked in a role and replied."""

    role: str
    model: str
    messages: tuple[Message, ...]
    reply: Reply
    seconds: float
    kind: Literal["asked"] = "asked"


@dataclass(frozen=True, slots=True)
class Ran:
    """A cell ran."""

    code: str
    result: CellResult
    kind: Literal["ran"] = "ran"


@dataclass(frozen=True, slots=True)
class Defined:
    """A figure was given a name, under which it now stands in the kernel and in the talk."""

    name: str
    picture: Picture
    kind: Literal["defined"] = "defined"


@dataclass(frozen=True, slots=True)
class Noted:
    """A strategy said something about its own course: a repair, a repetition, a transition, a verdict."""

    label: str
    data: dict[str, Any]
    kind: Literal["noted"] = "noted"


@dataclass(frozen=True, slots=True)
class Ended:
    """The last event of every run."""

    outcome: Outcome
    usage: Usage
    turns: int
    cells: int
    seconds: float
    kind: Literal["ended"] = "ended"


Event: TypeAlias = Began | Asked | Ran | Defined | Noted | Ended
