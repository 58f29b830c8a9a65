"""Build a Reply from what an endpoint sends: the same rules for every wire.

    text, ended by the endpoint                 Reply, finish "end"
    text up to a stop string                    Reply, "stop", whether the endpoint cuts it, keeps it or ignores it
    text up to the token limit                  Reply, "length"
    a refusal, or a content filter              Reply, "refusal"; its text says so if the model sent none
    no text, the length went into reasoning     ModelError, not worth a retry
    no text, the context is full                ModelError of kind "context", not worth a retry
    no text, but a call of a tool               Reply; with the cell in its text if no tool was offered
    no text, a call without code for a cell     ModelError, not worth a retry, if no tool was offered
    no text, a call that the endpoint dropped   Reply without text if a tool was offered: the model is asked again
    no text at all                              ModelError, worth a retry
    a stream that ends before the reply does    ModelError, worth a retry
    a stream with parts that came twice         ModelError, worth a retry, where something tells
    text that never ends                        Reply, "length", of `MAX_REPLY_CHARS`

A count of tokens that cannot be (negative, or more than `_MAX_TOKENS`) is ignored, and estimated as for an endpoint
that sends none when it cuts a reply.

Reasoning and thinking go into `Reply.reasoning` and never into the text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyvision.errors import FormatError, ModelError
from pyvision.models.errors import ErrorMapper
from pyvision.models.streaming import RepeatDetector, StopCutter
from pyvision.models.tool_calls import CallBuilder
from pyvision.text.native_tool_calls import PartialCell, code_of, write_calls
from pyvision.types import (
    Finish,
    Message,
    Part,
    Picture,
    Reply,
    Sampling,
    Text,
    TokenLogprob,
    ToolCall,
    Usage,
)

FILTERED = "a content filter of the endpoint withheld the reply"
MAX_REPLY_CHARS = 1_000_000  # of text and reasoning: a quarter of a million tokens
_MAX_TOKENS = 1_000_000_000  # sums of counts have to fit into 64 bits, and no model reads or writes as many
_LOWEST_LOGPROB = -9999.0  # what vLLM says instead of minus infinity, which JSON does not have
_TOKEN_CHARS = 4  # of English and code; other scripts need more tokens
_TOKEN_PIXELS = 750  # Anthropic's own rule of thumb; others count pictures in tiles and come out near it
_MOST_PER_PICTURE = 1600
_MESSAGE_TOKENS = 4


@dataclass(slots=True)
class ReplyBuilder:
    """A reply under way; each event of a wire adds to it.

    finish, reason: why it ended, in our words and in the endpoint's. items: the parts of the reply as the provider
    words them, by their place in it. calls: tool calls, by their place too. failed_to_call: a call was
    malformed, and the endpoint dropped it. failure: an error inside an event. has_ended:
    nothing of the reply is missing. repeats, open_parts, final_texts: what tells that parts came twice.
    """

    reasoning: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    items: dict[object, Item] = field(default_factory=dict)
    calls: dict[object, CallBuilder] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    prompt_ids: tuple[int, ...] = ()
    token_ids: list[int] = field(default_factory=list)
    finish: Finish = "end"
    reason: str = ""
    failed_to_call: bool = False
    failure: object = None
    has_ended: bool = False
    is_too_long: bool = False
    repeats: RepeatDetector = field(default_factory=RepeatDetector)
    open_parts: set[object] = field(default_factory=set)
    final_texts: dict[tuple[object, object], str] = field(default_factory=dict)
    _chars: int = 0
    _counted: int = 0  # of the pieces of reasoning
    _cells: list[str] = field(default_factory=list)  # what calls show, not taken yet

    def open_call(self, place: object, call_id: str, name: str, *, is_free_form: bool = False) -> None:
        """A tool call begins at this place of the reply; those before it are complete."""
        self.end_calls()
        stream = PartialCell(is_free_form=is_free_form)
        self.calls[place] = CallBuilder(call_id, name, is_free_form, stream=stream)

    def add_arguments(self, place: object, piece: str) -> None:
        """More of the arguments of the call at this place. Raises KeyError where none was opened."""
        call = self.calls[place]
        call.pieces.append(piece)
        self._cells.append(call.stream.feed(piece))
        self._chars += len(piece)

    def end_calls(self) -> None:
        """Nothing more comes for the calls so far."""
        self._cells += [call.stream.end() for call in self.calls.values()]

    def take_cells(self) -> str:
        """The text of the cells that calls ask for, as far as it is new."""
        cells, self._cells = "".join(self._cells), []
        return cells

    def limit(self, text: str) -> str:
        """As much of this new text as the reply may hold; where that is not all, the reply ends at its length.

        Raises TypeError for reasoning that is no text.
        """
        self._chars += len("".join(self.reasoning[self._counted :]))
        self._counted = len(self.reasoning)
        limited = text[: max(0, MAX_REPLY_CHARS - self._chars)]
        self._chars += len(text)
        if self._chars > MAX_REPLY_CHARS:
            self.is_too_long = self.has_ended = True
            self.finish, self.reason = "length", f"more than {MAX_REPLY_CHARS:,} characters"
        return limited


@dataclass(slots=True)
class Item:
    """One part of a reply in the provider's own words; texts of its fields may come in pieces."""

    fields: dict[str, Any]
    pieces: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, piece: object) -> None:
        """Append to the text of a field; joined once, since there may be a hundred thousand pieces.

        piece: as the endpoint sent it, so it may be no text.
        """
        self.pieces.setdefault(name, []).append(str(piece))

    def build(self) -> dict[str, Any]:
        """The whole part."""
        texts = {name: str(self.fields.get(name) or "") + "".join(all_) for name, all_ in self.pieces.items()}
        return self.fields | texts


def reply_of(
    builder: ReplyBuilder,
    cut: StopCutter,
    messages: Sequence[Message],
    sampling: Sampling,
    error_mapper: ErrorMapper,
) -> Reply:
    """The reply at the end of the response. Raises ModelError where there is none."""
    if not (builder.has_ended or cut.is_cut):
        raise error_mapper.error("the stream ended in the middle of the reply")
    text, reasoning, usage = cut.text, "".join(builder.reasoning), _possible(builder.usage)
    if not (cut.is_cut or builder.is_too_long) and _came_twice(builder, text, usage):
        raise error_mapper.error("parts of the reply came twice")
    if cut.is_cut or builder.is_too_long or usage != builder.usage:
        usage = _estimate(usage, text, reasoning, messages)
    calls = () if cut.is_cut else tuple(_calls(builder, len(messages)))
    if calls and not sampling.tools:  # a habit of the model: what it wants run is a cell in its text
        cells = write_calls([call for call in calls if _asks_for_cell(call)])
        text, calls = "\n".join(filter(None, (text, cells))), ()
    reply = Reply(
        text,
        usage,
        builder.finish,
        reasoning,
        prompt_ids=builder.prompt_ids,
        token_ids=tuple(builder.token_ids),
        calls=calls,
    )
    if cut.is_cut:
        reply = replace(reply, finish="stop")
    elif any(builder.refusal) or builder.finish == "refusal":
        return replace(reply, text=text or "".join(builder.refusal) or FILTERED, finish="refusal")
    elif not (text or calls or (sampling.tools and builder.failed_to_call)):
        raise _empty(builder, error_mapper)
    elif builder.finish == "end" and cut.seems_cut():
        reply = replace(reply, finish="stop")
    return replace(reply, logprobs=tuple(_of_text(builder.logprobs, text))) if sampling.logprobs else reply


def estimate_tokens(messages: Sequence[Message]) -> int:
    """How many tokens a request has, roughly: to keep to limits, never to report as a fact."""
    return sum(_MESSAGE_TOKENS + sum(_tokens(part) for part in message.parts) for message in messages)


def read_count(counts: object, *path: str) -> int:
    """The number at a path of keys; 0 if there is none, or something else."""
    for key in path:
        counts = counts.get(key) if isinstance(counts, dict) else None
    return counts if isinstance(counts, int) and not isinstance(counts, bool) else 0


def texts(parts: object, key: str = "text") -> str:
    """A text that may come as a list of parts."""
    if isinstance(parts, list):
        return "".join(str(part.get(key) or "") for part in parts if isinstance(part, dict))
    return parts if isinstance(parts, str) else ""


def logprobs_in(entries: object) -> Iterator[TokenLogprob]:
    """Log probabilities in the form of chat completions and responses."""
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("logprob"), int | float):
            others = entry.get("top_logprobs") or []
            top = tuple((str(other["token"]), _logprob(other["logprob"])) for other in others)
            yield TokenLogprob(str(entry.get("token")), _logprob(entry["logprob"]), top)


def _logprob(value: float) -> float:
    """A finite one, which JSON can hold."""
    return float(value) if math.isfinite(value) else _LOWEST_LOGPROB


def ids_in(entries: object) -> tuple[int, ...]:
    """Token ids; none if the endpoint sends none, or something else."""
    ids = tuple(entries) if isinstance(entries, list) else ()
    return ids if all(type(each) is int for each in ids) else ()


def _possible(usage: Usage) -> Usage:
    """The usage with 0 for every count that cannot be."""
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    return Usage(*(count if 0 <= count <= _MAX_TOKENS else 0 for count in counts))


def _came_twice(builder: ReplyBuilder, text: str, usage: Usage) -> bool:
    """Whether the stream holds more than what its end says of the whole: chunks of some APIs have no ids."""
    final = "".join(builder.final_texts.values())
    has_more_text = bool(final) and len(text) > len(final)
    return has_more_text or (usage.output_tokens > 0 and len(builder.token_ids) > usage.output_tokens)


def _estimate(usage: Usage, text: str, reasoning: str, messages: Sequence[Message]) -> Usage:
    """The usage of a reply that we cut: most endpoints send the counts later, and a budget needs them anyway."""
    return replace(
        usage,
        input_tokens=usage.input_tokens or estimate_tokens(messages),
        output_tokens=max(usage.output_tokens, _tokens_in(text) + _tokens_in(reasoning)),
    )


def _empty(builder: ReplyBuilder, error_mapper: ErrorMapper) -> ModelError:
    if "context_window" in builder.reason:
        return error_mapper.error(
            "the conversation is longer than the model can read", retry=False, kind="context"
        )
    if builder.finish == "length":
        message = "the whole reply was spent on reasoning; raise max_tokens (PYVISION_MAX_TOKENS)"
        return error_mapper.error(message, retry=False)
    if builder.calls or builder.failed_to_call:
        message = "called a tool, but none was offered; turn off tool calls at the server"
        return error_mapper.error(message, retry=False)
    return error_mapper.error(f"the reply is empty ({builder.reason or 'no reason given'})")


def _calls(builder: ReplyBuilder, turn: int) -> Iterator[ToolCall]:
    """The calls in the order of the reply, each with its own id."""
    for number, call in enumerate(builder.calls.values()):
        yield call.build(f"call_{turn}_{number}")


def _asks_for_cell(call: ToolCall) -> bool:
    try:
        return bool(code_of(call))
    except FormatError:
        return False


def _of_text(logprobs: Sequence[TokenLogprob], text: str) -> Iterator[TokenLogprob]:
    """Those of the tokens that the text was cut down to."""
    length = 0
    for logprob in logprobs:
        if length >= len(text):
            return
        length += len(logprob.token)
        yield logprob


def _tokens_in(text: str) -> int:
    return -(-len(text) // _TOKEN_CHARS)


def _tokens(part: Part) -> int:
    match part:
        case Text(text=text) | ToolCall(arguments=text):
            return _tokens_in(text)
        case Picture(width=width, height=height):
            return min(width * height // _TOKEN_PIXELS, _MOST_PER_PICTURE)
