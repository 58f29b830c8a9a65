"""The messages API of Anthropic: pictures as base64, a growing prefix that stays cached, thinking kept with its turn.

Parts keep the order of the conversation, because a picture belongs between the tags that name it; the images of a
question stand before its text anyway, which is what Anthropic advises.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyvision.config.model_config import ModelConfig
from pyvision.models.endpoint import CompletionRequest, Endpoint
from pyvision.models.reply_builder import Item, ReplyBuilder, read_count
from pyvision.models.tool_calls import arguments_object, plain_name, schema_of
from pyvision.models.wires.openai_chat import base64_of
from pyvision.text.sanitize import replace_surrogates
from pyvision.types import Finish, Message, Part, Picture, Text, ToolCall, ToolOffer, Usage

if TYPE_CHECKING:
    import httpx2

_MAX_TOKENS = 8192  # the API needs a limit; every model since Claude 3.5 can say so much
_VERSION_WITH_TEMPERATURE = "2023-06-01"  # the one that the SDK sends, 2026-10-21, refuses it for every model
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

    @property
    def _thinks(self) -> bool:
        """While a Claude thinks, it refuses every temperature but 1, which is its default."""
        return self._config.reasoning not in {None, "off"}

    def post(self, client: Any, body: dict[str, Any], timeout: httpx2.Timeout) -> AbstractContextManager[Any]:
        # The SDK would walk through the whole conversation; what is sent is the `extra_body`.
        create: Any = client.messages.with_streaming_response.create
        answer: AbstractContextManager[Any] = create(
            model=body["model"],
            messages=[],
            max_tokens=body["max_tokens"],
            extra_body=body,
            extra_headers={"anthropic-version": _VERSION_WITH_TEMPERATURE} if "temperature" in body else None,
            timeout=timeout,
        )
        return answer

    def body(self, request: CompletionRequest) -> dict[str, Any]:
        sampling = request.sampling
        system = [
            block for m in request.messages if m.role == "system" for block in _convert_message(m, request)
        ]
        turns = list(_turns(request))
        _mark(system)
        for turn in [turn for turn in turns if turn["role"] == "user"][-_CACHED_TURNS:]:
            _mark(turn["content"])
        parameters = {
            "system": system,
            "temperature": None if self._thinks else sampling.temperature,
            "stop_sequences": list(sampling.stop),
            "stream": request.stream or None,
            "tools": [_tool(offer) for offer in sampling.tools],
            "tool_choice": {"type": sampling.tool_choice} if sampling.tools else None,
        }
        limit = sampling.max_tokens or _MAX_TOKENS
        known = {"model": self._config.model, "max_tokens": limit, "messages": turns}
        return known | request.select_accepted(parameters)

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
                return _start(data.get("index"), data["content_block"], builder)
            case "content_block_delta":
                return _delta(data.get("index"), data["delta"], builder)
            case "content_block_stop":
                builder.open_parts.discard(data.get("index"))
            case "message_delta":
                builder.usage = _usage(data.get("usage"), builder.usage)
                _end(data["delta"].get("stop_reason"), builder)
            case "message_stop":
                builder.has_ended = True
            case "message":
                return _whole(data, builder)
        return ""

    def opaque(self, builder: ReplyBuilder) -> Any:
        """All blocks, where one of them is thinking: its signature holds for its place among them."""
        blocks = [_block_back(place, item.build(), builder) for place, item in builder.items.items()]
        valid = [block for block in blocks if block["type"] != "thinking" or block.get("signature")]
        return valid if any(block["type"] in _THINKING for block in valid) else None


def _open(part: object, builder: ReplyBuilder) -> None:
    """Events have no ids, but nothing is opened twice. Raises ValueError where that happens."""
    if part in builder.open_parts:
        raise ValueError(f"{part!r} is opened twice")
    builder.open_parts.add(part)


def _whole(message: dict[str, Any], builder: ReplyBuilder) -> str:
    if not isinstance(message["content"], list):
        raise TypeError(message["content"])
    text = [_start(place, block, builder) for place, block in enumerate(message["content"])]
    builder.usage = _usage(message.get("usage"), builder.usage)
    _end(message.get("stop_reason"), builder)
    builder.has_ended = True
    return "".join(text)


def _start(place: object, block: dict[str, Any], builder: ReplyBuilder) -> str:
    """A block, whole or about to be filled by deltas; returns its text."""
    builder.items[place] = Item(block)
    if block["type"] in _THINKING:
        builder.reasoning.append(block.get("thinking") or "")
    if block["type"] == "tool_use":
        builder.open_call(place, str(block["id"]), str(block["name"]))
        if block.get("input"):
            builder.add_arguments(place, json.dumps(block["input"], ensure_ascii=False))
    return str(block.get("text") or "") if block["type"] == "text" else ""


def _delta(place: object, delta: dict[str, Any], builder: ReplyBuilder) -> str:
    match delta["type"]:
        case "text_delta":
            builder.items[place].add("text", delta["text"])
            return str(delta["text"])
        case "thinking_delta":
            builder.reasoning.append(delta["thinking"])
            builder.items[place].add("thinking", delta["thinking"])
        case "signature_delta":
            builder.items[place].fields["signature"] = delta["signature"]
        case "input_json_delta":
            builder.add_arguments(place, delta["partial_json"])
    return ""


def _block_back(place: object, block: dict[str, Any], builder: ReplyBuilder) -> dict[str, Any]:
    """A block as it goes back: the input of a call, which came as text, as the object that it is."""
    if block["type"] != "tool_use":
        return block
    return block | {"input": arguments_object(builder.calls[place].build(""), ())}


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


def _tool(offer: ToolOffer) -> dict[str, Any]:
    return {"name": offer.name, "description": offer.purpose, "input_schema": schema_of(offer)}


def _turns(request: CompletionRequest) -> Iterator[dict[str, Any]]:
    """The turns of user and assistant. Results of calls stand at the start of the user's turn after the call."""
    role, content = "", list[dict[str, Any]]()
    for message in request.messages:
        if message.role == "system":
            continue
        speaker = "user" if message.role == "tool" else message.role
        follows_result = speaker == role and content[-1]["type"] == "tool_result"
        blocks = list(_blocks(message, request))
        if follows_result:
            content += blocks
            continue
        if content:
            yield {"role": role, "content": content}
        role, content = speaker, blocks
    if content:
        yield {"role": role, "content": content}


def _blocks(message: Message, request: CompletionRequest) -> Iterator[dict[str, Any]]:
    if message.role == "tool":
        yield _result(message)
    elif message.opaque is not None and _REASONING not in request.unsupported:
        yield from _convert_opaque(message, json.loads(message.opaque.content), request)
    else:
        yield from _convert_message(message, request)


def _convert_opaque(
    message: Message, blocks: list[dict[str, Any]], request: CompletionRequest
) -> Iterator[dict[str, Any]]:
    """The blocks as they came; where the text was cut, what is left of it follows the thinking."""
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
    if text == message.text and calls == [call.id for call in message.calls]:
        yield from (block for block in blocks if block["type"] != "text" or block["text"].strip())
        return
    yield from (block for block in blocks if block["type"] in _THINKING)
    yield from _convert_message(message, request)


def _result(message: Message) -> dict[str, Any]:
    """A result that is marked as an error may hold text only."""
    has_picture = any(isinstance(part, Picture) for part in message.parts)
    is_error = {"is_error": True} if message.is_error and not has_picture else {}
    content = list(_convert_message(message, None))
    return {"type": "tool_result", "tool_use_id": message.call_id, **is_error, "content": content}


def _convert_message(message: Message, request: CompletionRequest | None) -> Iterator[dict[str, Any]]:
    """The API refuses text that is blank."""
    for part in message.parts:
        if not isinstance(part, Text) or part.text.strip():
            yield _block(part, request.sampling.tools if request else ())


def _block(part: Part, offers: Sequence[ToolOffer]) -> dict[str, Any]:
    match part:
        case Text(text=text):
            return {"type": "text", "text": replace_surrogates(text)}
        case Picture():
            source = {"type": "base64", "media_type": part.mime, "data": base64_of(part)}
            return {"type": "image", "source": source}
        case ToolCall():
            called = {"id": part.id, "name": plain_name(part), "input": arguments_object(part, offers)}
            return {"type": "tool_use", **called}


def _mark(blocks: list[dict[str, Any]]) -> None:
    """Everything up to here is to be kept in the endpoint's prompt cache."""
    if blocks:
        blocks[-1]["cache_control"] = {"type": "ephemeral"}
