"""What was heard of a reply, and what becomes of it: the same rules for every wire.

    text, ended by the endpoint                 Reply, finish "end"
    text up to a stop string                    Reply, "stop", whether the endpoint cuts it, keeps it or ignores it
    text up to the token limit                  Reply, "length"
    a refusal, or a content filter              Reply, "refusal"; its text says so where the model said nothing
    no text, the length went into reasoning     ModelError, not worth a retry
    no text, the context is full                ModelError of kind "context", not worth a retry
    no text, a tool called that nobody offered  ModelError, not worth a retry
    no text at all                              ModelError, worth a retry
    a stream that ends before the reply does    ModelError, worth a retry

Reasoning and thinking go into `Reply.reasoning` and never into the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyvision.errors import ModelError
from pyvision.models.errors import ErrorMapper
from pyvision.models.stop_sequences import StopCutter
from pyvision.models.token_estimate import estimate_tokens, tokens_in
from pyvision.types import Finish, Message, Reply, Sampling, TokenLogprob, Usage

FILTERED = "a content filter of the endpoint withheld the reply"


@dataclass(slots=True)
class ReplyBuilder:
    """A reply under way; each event of a wire adds to it.

    finish, reason: why it ended, in our word and in the endpoint's. items: thoughts to hand back with the next turn.
    failure: an error that the endpoint told inside an event. has_ended: nothing of the reply is missing.
    """

    reasoning: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    items: list[dict[str, Any]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    prompt_ids: tuple[int, ...] = ()
    token_ids: list[int] = field(default_factory=list)
    finish: Finish = "end"
    reason: str = ""
    calls_tool: bool = False
    failure: object = None
    has_ended: bool = False


def reply_of(
    builder: ReplyBuilder,
    cut: StopCutter,
    messages: Sequence[Message],
    sampling: Sampling,
    error_mapper: ErrorMapper,
) -> Reply:
    """The reply, now that nothing more comes. Raises ModelError where what was heard is none."""
    if not (builder.has_ended or cut.is_cut):
        raise error_mapper.error("the stream ended in the middle of the reply")
    text, reasoning = cut.text, "".join(builder.reasoning)
    reply = Reply(
        text,
        builder.usage,
        builder.finish,
        reasoning,
        prompt_ids=builder.prompt_ids,
        token_ids=tuple(builder.token_ids),
    )
    if cut.is_cut:
        reply = replace(reply, usage=_estimate(builder, text, messages), finish="stop")
    elif any(builder.refusal) or builder.finish == "refusal":
        return replace(reply, text=text or "".join(builder.refusal) or FILTERED, finish="refusal")
    elif not text:
        raise _empty(builder, error_mapper)
    elif builder.finish == "end" and cut.seems_cut():
        reply = replace(reply, finish="stop")
    return replace(reply, logprobs=tuple(_of_text(builder.logprobs, text))) if sampling.logprobs else reply


def read_count(counts: object, *path: str) -> int:
    """The number at a path of keys; 0 where the endpoint counts nothing, or tells nonsense."""
    for key in path:
        counts = counts.get(key) if isinstance(counts, dict) else None
    return counts if isinstance(counts, int) and not isinstance(counts, bool) else 0


def texts(parts: object, key: str = "text") -> str:
    """A text that may come as a list of parts."""
    if isinstance(parts, list):
        return "".join(str(part.get(key) or "") for part in parts if isinstance(part, dict))
    return parts if isinstance(parts, str) else ""


def logprobs_in(entries: object) -> Iterator[TokenLogprob]:
    """Log probabilities as chat completions and responses word them."""
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("logprob"), int | float):
            others = entry.get("top_logprobs") or []
            top = tuple((str(other["token"]), float(other["logprob"])) for other in others)
            yield TokenLogprob(str(entry.get("token")), float(entry["logprob"]), top)


def ids_in(entries: object) -> tuple[int, ...]:
    """Token ids; none where the endpoint tells none, or nonsense."""
    ids = tuple(entries) if isinstance(entries, list) else ()
    return ids if all(type(each) is int for each in ids) else ()


def _estimate(builder: ReplyBuilder, text: str, messages: Sequence[Message]) -> Usage:
    """A reply that we cut ends before its tokens are told, in most cases: a budget must know of them all the same."""
    told = builder.usage
    reasoning = sum(map(tokens_in, builder.reasoning))
    return replace(
        told,
        input_tokens=told.input_tokens or estimate_tokens(messages),
        output_tokens=max(told.output_tokens, tokens_in(text) + reasoning),
    )


def _empty(builder: ReplyBuilder, error_mapper: ErrorMapper) -> ModelError:
    if "context_window" in builder.reason:
        return error_mapper.error(
            "the conversation is longer than the model can read", retry=False, kind="context"
        )
    if builder.finish == "length":
        told = "the whole length went into reasoning; raise max_tokens (PYVISION_MAX_TOKENS)"
        return error_mapper.error(told, retry=False)
    if builder.calls_tool:
        told = "called a tool, and none was offered; turn tool calls off at the server"
        return error_mapper.error(told, retry=False)
    return error_mapper.error(f"the reply is empty ({builder.reason or 'no reason given'})")


def _of_text(logprobs: Sequence[TokenLogprob], text: str) -> Iterator[TokenLogprob]:
    """Those of the tokens that the text was cut down to."""
    length = 0
    for logprob in logprobs:
        if length >= len(text):
            return
        length += len(logprob.token)
        yield logprob
