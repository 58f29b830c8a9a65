"""The messages API of Anthropic: pictures as base64, a growing prefix that stays cached, thinking kept with its turn.

Parts keep the order of the conversation, because a picture belongs between the tags that name it; the images of a
question stand before its text anyway, which is what Anthropic advises.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyvision.config.model_config import ModelConfig
from pyvision.models.endpoint import Ask, Endpoint
from pyvision.models.openai_chat import base64_of
from pyvision.models.reply_builder import ReplyBuilder, read_count
from pyvision.text.sanitize import replace_surrogates
from pyvision.types import Finish, Message, Part, Picture, Text, Usage

if TYPE_CHECKING:
    import httpx2

_MAX_TOKENS = 8192  # the API needs a limit; every model since Claude 3.5 can say so much
_REASONING = "thinking blocks"
_THINKING = ("thinking", "redacted_thinking")
_CACHED_TURNS = (
    2  # the last user turns end in a cache point: one to be read now, one to be written for the next
)
_FINISH: Mapping[str, Finish] = {
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "length",  # the endpoint wants to go on: the loop asks once more
    "refusal": "refusal",
}


def anthropic_messages(config: ModelConfig) -> Endpoint:
    """A model behind a messages endpoint."""
    return Endpoint(config, _Messages(config))


class _Messages:
    def __init__(self, config: ModelConfig) -> None:
        self._config = config

    @property
    def sdk(self) -> Any:
        import anthropic

        return anthropic

    def client(self, key: str | None, http_client: httpx2.Client) -> Any:
        return self.sdk.Anthropic(
            base_url=self._config.address.removesuffix("/").removesuffix("/v1"),  # the SDK adds it
            api_key=key or "none",
            max_retries=0,  # RetryingModel retries, with a time budget
            http_client=http_client,
        )

    def post(self, client: Any, body: dict[str, Any], timeout: httpx2.Timeout) -> AbstractContextManager[Any]:
        create: Any = client.messages.with_streaming_response.create
        answer: AbstractContextManager[Any] = create(
            model=body["model"],
            messages=body["messages"],
            max_tokens=body["max_tokens"],
            extra_body=body,
            timeout=timeout,
        )
        return answer

    def body(self, ask: Ask) -> dict[str, Any]:
        sampling = ask.sampling
        system = [block for m in ask.messages if m.role == "system" for block in _blocks(m)]
        turns = [_turn(ask, turn) for turn, m in enumerate(ask.messages) if m.role != "system"]
        turns = [turn for turn in turns if turn["content"]]
        _mark(system)
        for turn in [turn for turn in turns if turn["role"] == "user"][-_CACHED_TURNS:]:
            _mark(turn["content"])
        parameters = {
            "system": system,
            "temperature": sampling.temperature,
            "stop_sequences": list(sampling.stop),
            "stream": ask.stream or None,
        }
        limit = sampling.max_tokens or _MAX_TOKENS
        known = {"model": self._config.model, "max_tokens": limit, "messages": turns}
        return known | ask.select_accepted(parameters)

    def droppable(self, body: Mapping[str, Any]) -> Mapping[str, str]:
        names = {name: rf"\b{name}\b" for name in ("temperature", "stop_sequences") if name in body}
        names |= {"stream": r"\b[Ss]tream(?:ing)?\b"} if "stream" in body else {}
        thinks = any(block["type"] in _THINKING for turn in body["messages"] for block in turn["content"])
        return names | ({_REASONING: r"thinking|signature"} if thinks else {})

    def add(self, data: dict[str, Any], builder: ReplyBuilder) -> str:
        """An event, or a whole message."""
        match data.get("type"):
            case "message_start":
                _open("message", builder)
                usage = _usage(data["message"].get("usage"), builder.usage)
                builder.usage = replace(usage, output_tokens=0)  # nothing is written yet, whatever it says
            case "content_block_start":
                _open(data.get("index"), builder)
                return _start(data["content_block"], builder)
            case "content_block_delta":
                return _delta(data["delta"], builder)
            case "content_block_stop":
                builder.open_parts.discard(data.get("index"))
                _join_thinking(builder)
            case "message_delta":
                builder.usage = _usage(data.get("usage"), builder.usage)
                _end(data["delta"].get("stop_reason"), builder)
            case "message_stop":
                _join_thinking(builder)
                builder.has_ended = True
            case "message":
                return _whole(data, builder)
        return ""


def _open(part: object, builder: ReplyBuilder) -> None:
    """Events have no ids, but nothing is opened twice. Raises ValueError where that happens."""
    if part in builder.open_parts:
        raise ValueError(f"{part!r} is opened twice")
    builder.open_parts.add(part)


def _join_thinking(builder: ReplyBuilder) -> None:
    """Put the pieces of the last thinking block together, once: there may be a hundred thousand."""
    if builder.thinking:
        builder.items[-1]["thinking"] += "".join(builder.thinking)
        builder.thinking.clear()


def _whole(message: dict[str, Any], builder: ReplyBuilder) -> str:
    if not isinstance(message["content"], list):
        raise TypeError(message["content"])
    text = [_start(block, builder) for block in message["content"]]
    builder.usage = _usage(message.get("usage"), builder.usage)
    _end(message.get("stop_reason"), builder)
    builder.has_ended = True
    return "".join(text)


def _start(block: dict[str, Any], builder: ReplyBuilder) -> str:
    """A block, whole or about to be filled by deltas; returns its text."""
    if block["type"] in _THINKING:
        _join_thinking(builder)
        builder.items.append(dict(block))
        builder.reasoning.append(block.get("thinking") or "")
    builder.calls_tool = builder.calls_tool or block["type"] == "tool_use"
    return str(block.get("text") or "") if block["type"] == "text" else ""


def _delta(delta: dict[str, Any], builder: ReplyBuilder) -> str:
    match delta["type"]:
        case "text_delta":
            return str(delta["text"])
        case "thinking_delta":
            builder.reasoning.append(delta["thinking"])
            builder.thinking.append(delta["thinking"])
        case "signature_delta":
            builder.items[-1]["signature"] = delta["signature"]
    return ""


def _end(reason: object, builder: ReplyBuilder) -> None:
    builder.reason, builder.finish = f"stop_reason {reason}", _FINISH.get(str(reason), "end")


def _usage(usage: object, before: Usage) -> Usage:
    """What comes at the end tells only what is new in it."""
    read, written = (
        read_count(usage, "cache_read_input_tokens"),
        read_count(usage, "cache_creation_input_tokens"),
    )
    total = read_count(usage, "input_tokens") + read + written
    return Usage(
        total or before.input_tokens,
        read_count(usage, "output_tokens") or before.output_tokens,
        read or before.cached_tokens,
    )


def _turn(ask: Ask, turn: int) -> dict[str, Any]:
    message = ask.messages[turn]
    reasoning_cache = (
        ask.reasoning_cache.before(ask.messages, turn) if _REASONING not in ask.unsupported else ()
    )
    content = [*({**block} for block in reasoning_cache), *_blocks(message)]
    return {"role": message.role, "content": content}


def _blocks(message: Message) -> Iterator[dict[str, Any]]:
    """The API refuses text that is blank."""
    for part in message.parts:
        if not isinstance(part, Text) or part.text.strip():
            yield _block(part)


def _block(part: Part) -> dict[str, Any]:
    match part:
        case Text(text=text):
            return {"type": "text", "text": replace_surrogates(text)}
        case Picture():
            source = {"type": "base64", "media_type": part.mime, "data": base64_of(part)}
            return {"type": "image", "source": source}


def _mark(blocks: list[dict[str, Any]]) -> None:
    """Everything up to here is to be kept in the endpoint's prompt cache."""
    if blocks:
        blocks[-1]["cache_control"] = {"type": "ephemeral"}
