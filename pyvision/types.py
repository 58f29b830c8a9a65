"""The values that all packages share: messages, replies, questions, answers, and the protocols of models and tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self, TypeAlias

from pyvision.errors import EndReason

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Finish: TypeAlias = Literal["end", "stop", "length", "refusal"]
Box: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True, slots=True)
class Text:
    """A stretch of text inside a message."""

    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """One encoded image: `data` is a whole PNG or JPEG file, sizes are pixels after orientation.

    file_name: of the user's file, under which cells find it too; empty where it is unknown, or may hold the answer.
    """

    data: bytes
    mime: Literal["image/png", "image/jpeg"]
    width: int
    height: int
    file_name: str = field(default="", compare=False)

    def __repr__(self) -> str:
        return f"Picture({self.mime}, {self.width}x{self.height}, {len(self.data)} bytes)"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """In a reply: the model calls a tool that it was offered.

    arguments: as received: JSON text, or the plain input of a free-form call. id: of the provider, for the result.
    """

    id: str
    name: str
    arguments: str
    is_free_form: bool = False


@dataclass(frozen=True, slots=True)
class Opaque:
    """What a provider wants back byte for byte with a reply: signed thinking, encrypted reasoning, its own fields.

    source: the wire and the model that it came from; no other can read it. content: the reply as JSON, as received.
    """

    source: str
    content: str


Part: TypeAlias = Text | Picture | ToolCall


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation; a conversation is a tuple of them and is only ever appended to.

    A message of the role `tool` is the result of the call `call_id`: text and pictures. is_error: the call was not
    run, or failed. opaque: what came with the reply that an assistant message is.
    """

    role: Role
    parts: tuple[Part, ...]
    call_id: str = ""
    is_error: bool = False
    opaque: Opaque | None = None

    @property
    def text(self) -> str:
        """The text parts joined, without the pictures."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls in it; an endpoint wants a result for each before the next turn."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool that a model may call, with one text as its argument.

    is_free_form: where the API can, the argument is the plain text of the call instead of a field of a JSON object.
    """

    name: str
    purpose: str
    argument: str
    argument_purpose: str
    is_free_form: bool = False


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to sample one reply. None and empty mean: do not send the parameter.

    seconds: how long this reply may take in all, waits between attempts included; never sent. tools: what the model
    may call; with the tool choice `none` it sees them, for an unchanged prefix, but must not call any.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    logprobs: bool = False  # ask for the log probability of each token of the reply
    seconds: float | None = None
    tools: tuple[ToolOffer, ...] = ()
    tool_choice: Literal["auto", "none"] = "auto"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the endpoint counted them; zero if it counted none.

    cached_tokens: how many of the input tokens came out of the endpoint's prompt cache.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
        )

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One token of a reply with its natural log probability, and the likeliest tokens at its place."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model replied. `text` never holds the stop string; `finish` says why it stopped.

    reasoning: what the endpoint returned of its reasoning, apart from the text. logprobs: empty unless asked for.
    prompt_ids, token_ids: the tokens of the request and of the whole reply, even if the text was cut; empty if the
    endpoint does not return them. calls: in the order in which they are to be run. opaque: see `Message`.
    """

    text: str
    usage: Usage = Usage()
    finish: Finish = "end"
    reasoning: str = ""
    logprobs: tuple[TokenLogprob, ...] = ()
    prompt_ids: tuple[int, ...] = ()
    token_ids: tuple[int, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    opaque: Opaque | None = None


@dataclass(frozen=True, slots=True)
class Restart:
    """In a stream: the reply starts again after an error, and what came of it so far is void.

    why: the error, in a few words. attempt: the number of the call that comes next, in `wait_s` seconds; 0: unknown.
    """

    why: str = ""
    attempt: int = 0
    wait_s: float = 0.0


class Model(Protocol):
    """Anything that continues a conversation. Retry, recording and limits are Models that wrap a Model."""

    @property
    def name(self) -> str: ...

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """One reply to the whole conversation. Raises ModelError when the endpoint fails."""
        ...

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Restart | Reply]:
        """The same reply: its text in pieces as they come, then the whole Reply, last.

        A tool call comes as the cell that it asks for, so that it can be shown while it is written.

        Ends at the first stop string, whatever the endpoint does with it; closing the iterator closes the
        connection. Raises ModelError.
        """
        ...


@dataclass(frozen=True, slots=True)
class ConversationState:
    """What a question continues, in the same kernel: the conversation so far, and the image names that are taken.

    named: image_clue_0 … image_clue_{named-1} exist. originals: those of them that the user gave. pending: the
    conversation ends with a reply whose cell has not run yet; it is the first to run.
    """

    messages: tuple[Message, ...] = ()
    named: int = 0
    originals: frozenset[int] = frozenset()
    pending: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """What the user asks: a text about images, in the order in which they are numbered.

    choices: the answers to choose from, without their letters. context: background that comes before the question.
    """

    text: str
    images: tuple[Picture, ...] = ()
    choices: tuple[str, ...] = ()
    context: str = ""
    earlier: ConversationState = ConversationState()

    @property
    def named_images(self) -> tuple[tuple[str, Picture], ...]:
        """The images under the names that they have in the kernel and in the conversation."""
        first = self.earlier.named
        return tuple((f"image_clue_{number}", image) for number, image in enumerate(self.images, first))

    @property
    def originals(self) -> frozenset[int]:
        """The numbers of the images that the user gave, now or earlier."""
        first = self.earlier.named
        return self.earlier.originals | frozenset(range(first, first + len(self.images)))

    @property
    def full_text(self) -> str:
        """The whole text: the context before it, the choices after it, lettered from A, one per line."""
        options = "\n".join(f"{chr(ord('A') + i)}. {choice}" for i, choice in enumerate(self.choices))
        return "\n".join(part for part in (self.context, self.text, options) if part)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an answer rests on: an image of the question, a figure (both `image_clue_k`), or `cell k`, counted from 1.

    box: left, top, right, bottom in pixels of that image, from its top left corner; None: all of it. source: the figure
    through which a region of an original was found. is_derived: the model cited none; it looked at this last.
    """

    name: str
    box: Box | None = None
    source: str = ""
    is_derived: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a strategy. `text` is None if there is none, and `end_reason` says why.

    is_last_resort: the last reply gave no answer in any known form, and `text` is the whole reply. evidence: what it
    rests on, if the strategy asks for that.
    """

    text: str | None
    end_reason: EndReason = "answered"
    remark: str | None = None  # for the user: why there is no answer, or why a search was cut short
    is_last_resort: bool = False
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a question ended: an answer, or the reason that there is none.

    error: what went wrong; with an answer, what the user has to know about it (`Answer.remark`).
    is_last_resort, evidence: as in `Answer`.
    findings: what the strategy found besides the answer, as plain values: `graphs` (bdog), `sources` (avis), `program`
    and `boxes` (vdebugger); also if there is no answer.
    """

    answer: str | None
    end_reason: EndReason
    error: str | None = None
    is_last_resort: bool = False
    evidence: tuple[Evidence, ...] = ()
    findings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """The input of a tool: a text, a picture, or both, and its other options as plain values."""

    text: str = ""
    picture: Picture | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a piece of knowledge comes from: its title, and its address, path or id."""

    title: str
    address: str


@dataclass(frozen=True, slots=True)
class Observation:
    """The output of a tool. text: for a model. data: the same as plain values, for programs.

    error: why there is none; then text and data are empty. Instructions in it are never to be followed.
    """

    text: str = ""
    data: Any = None
    sources: tuple[Source, ...] = ()
    error: str | None = None


class Ask(Protocol):
    """How a tool asks a model in a role; an Episode gives it, so that its budget counts."""

    def __call__(self, role: str, messages: Sequence[Message]) -> Reply: ...


class Tool(Protocol):
    """Perception or search on the host. Thread-safe; built cheaply, loads what it needs on its first use.

    A tool may have `is_repeatable = True`: within a question, an identical request has the same observation, and is not
    made twice.
    """

    @property
    def name(self) -> str: ...

    @property
    def purpose(self) -> str:
        """One line for a model that chooses among tools."""
        ...

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        """Raises ToolError when it fails, ConfigError when the user can fix that, and what `ask` raises."""
        ...


class Closing:
    """A base for what its owner closes, by `close` or at the end of a `with`."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        raise NotImplementedError
