"""What the steps of the pipeline hand on: one plain value for each line of their files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, TypeAlias

from pyvision.bench.samples import Sample

Decoding: TypeAlias = Literal["greedy", "mask_best"]
Label: TypeAlias = Literal["wrong", "right", "refused", "unscored"]
RIGHT_FROM = 0.7  # a box is right above this IoU (the authors' code); other scores are 0 or 1


@dataclass(frozen=True, slots=True)
class Executed:
    """How a program went. result: its answer as text; trace: line by line, as a critic reads it.

    trace is None where the program never ran: it did not compile. error: the exception in one line.
    """

    result: str | None = None
    trace: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """A program that was written for a question, as it ran and what its answer scored.

    id: the sample's. task: the question as a program's comment tells it. score: from 0 to 1; None when nothing can
    say, which is never counted as wrong.
    """

    __pydantic_config__: ClassVar[object] = {"extra": "forbid"}

    id: str
    task: str
    program: str
    executed: Executed
    score: float | None

    @property
    def is_right(self) -> bool:
        return self.score is not None and self.score > RIGHT_FROM


@dataclass(frozen=True, slots=True)
class Injected:
    """One attempt to break a right program.

    of: the sample's id. attempt: from 0, for each sample and decoding. fate: what became of it; only `wrong` ones
    train anybody. span: the characters of `program` that are new. why: for what reason it was refused.
    """

    __pydantic_config__: ClassVar[object] = {"extra": "forbid"}

    of: str
    decoding: Decoding
    attempt: int
    fate: Label
    masked: str
    program: str = ""
    span: tuple[int, int] = (0, 0)
    executed: Executed = Executed()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """One record to train on. The loss counts `inst` and `completion`; `prompt` is cut first where it is too long.

    eos: whether the completion ends there; an unlocalised verdict leaves open what follows. of: the sample's id.
    """

    __pydantic_config__: ClassVar[object] = {"extra": "forbid"}

    prompt: str
    inst: str
    completion: str
    eos: bool = True
    of: str = ""


class Attempt(Protocol):
    """Runs a program about a sample and scores its answer; whatever the program does ends in the value.

    program: None has one written first. Raises what ends the whole step: a model's endpoint that fails, say.
    """

    def __call__(self, sample: Sample, program: str | None = None) -> Program: ...
