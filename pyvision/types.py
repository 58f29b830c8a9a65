"""The values everything speaks in: messages, replies, questions, answers and the protocols between floors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from pyvision.episode import Episode

Role: TypeAlias = Literal["system", "user", "assistant"]
Finish: TypeAlias = Literal["end", "stop", "length", "refusal"]
EndReason: TypeAlias = Literal[
    "answered",
    "no_answer",  # the model ended without an answer, and said nothing that could be repaired into one
    "refused",  # the model declined, or a content filter did
    "turn_limit",
    "token_limit",
    "time_limit",
    "model_error",  # the endpoint failed: not the model's fault, never to be scored
    "sandbox_error",  # no isolation, or the kernel could not be started: likewise
    "interrupted",  # the caller stopped it
    "error",  # a bug of ours, or a setting that turned out unusable: raised as well
]


@dataclass(frozen=True, slots=True)
class Text:
    """A stretch of text inside a message."""

    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """One encoded image: `data` is a whole PNG or JPEG file, sizes are pixels after orientation."""

    data: bytes
    mime: Literal["image/png", "image/jpeg"]
    width: int
    height: int

    def __repr__(self) -> str:
        return f"Picture({self.mime}, {self.width}x{self.height}, {len(self.data)} bytes)"


Part: TypeAlias = Text | Picture


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a talk; a talk is a tuple of them and is only ever appended to."""

    role: Role
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The text parts joined; pictures leave no trace in it."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to sample one reply. None and empty mean: do not send the parameter."""

    temperature: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the endpoint counted them; zero where it counted nothing."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens)

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said. `text` never holds the stop string; `finish` says why it stopped."""

    text: str
    usage: Usage = Usage()
    finish: Finish = "end"


class Model(Protocol):
    """Anything that continues a talk. Retry, recording and limits are Models that wrap a Model."""

    @property
    def name(self) -> str: ...

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """One reply to the whole talk. Raises ModelError when the endpoint fails."""
        ...


@dataclass(frozen=True, slots=True)
class Question:
    """What a person asks: a text about images, in the order in which they are numbered."""

    text: str
    images: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a strategy concludes. `text` is None when it has nothing to say, and `end_reason` says why."""

    text: str | None
    end_reason: EndReason = "answered"
    remark: str | None = None  # what to tell the person who gets no answer, or why a search was cut short


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a question ended: an answer, or the reason that there is none."""

    answer: str | None
    end_reason: EndReason
    error: str | None = None


class Strategy(Protocol):
    """A way of reasoning: a frozen dataclass whose fields are its options. Holds nothing between questions."""

    def solve(self, question: Question, episode: Episode) -> Answer: ...
