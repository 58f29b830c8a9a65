"""Chat completions: OpenAI, Azure OpenAI, vLLM, llama.cpp, Ollama and every server that speaks the same."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pyvision.config.model_config import ModelConfig
from pyvision.models.endpoint import CompletionRequest, Endpoint
from pyvision.models.reply_builder import Item, ReplyBuilder, ids_in, logprobs_in, read_count, texts
from pyvision.models.tool_calls import arguments_json, plain_name, schema_of
from pyvision.text.sanitize import replace_surrogates
from pyvision.types import Finish, Message, Picture, Text, ToolCall, ToolOffer, Usage

if TYPE_CHECKING:
    import httpx2

_OPENAI_HOST = "api.openai.com"  # its newer models refuse the older name of the limit
_LIMITS = ("max_tokens", "max_completion_tokens")
_LIKELIEST = 5  # tokens at each place, with their log probabilities
_DROPPABLE = ("temperature", "stop", *_LIMITS, "logprobs", "top_logprobs", "stream_options", "tool_choice")
_CALL_FIELDS = ("index", "id", "type", "function")  # others are the provider's own
_MESSAGE = "message"  # the place of what it adds to the message
_FINISH: Mapping[str, Finish] = {"length": "length", "content_filter": "refusal"}


def openai_chat(config: ModelConfig) -> Endpoint:
    """A model behind a chat completions endpoint; with an `api_version`, behind Azure OpenAI."""
    return Endpoint(config, _Chat(config))


class OpenAIClients:
    """The clients of the openai SDK: OpenAI's own, or Azure's, which words addresses and keys in its own way."""

    def __init__(self, config: ModelConfig) -> None:
        self._config = config

    @property
    def sdk(self) -> Any:
        import openai

        return openai

    def client(self, key: str | None, http_client: httpx2.Client) -> Any:
        """One for this key."""
        config, common = self._config, {"max_retries": 0, "http_client": http_client}  # RetryingModel retries
        if config.api_version:
            return self.sdk.AzureOpenAI(
                azure_endpoint=config.address, api_version=config.api_version, api_key=key or "none", **common
            )
        return self.sdk.OpenAI(base_url=config.address, api_key=key or "none", **common)


class _Chat(OpenAIClients):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        is_openai = urlsplit(config.address).hostname == _OPENAI_HOST
        self._limits = _LIMITS[::-1] if is_openai else _LIMITS

    def post(self, client: Any, body: dict[str, Any], timeout: httpx2.Timeout) -> AbstractContextManager[Any]:
        # The SDK would walk through the whole conversation; what is sent is the `extra_body`.
        create: Any = client.chat.completions.with_streaming_response.create
        answer: AbstractContextManager[Any] = create(
            model=body["model"], messages=[], extra_body=body, timeout=timeout
        )
        return answer

    def body(self, request: CompletionRequest) -> dict[str, Any]:
        sampling = request.sampling
        limit = next((name for name in self._limits if name not in request.unsupported), self._limits[0])
        wants = sampling.logprobs and "logprobs" not in request.unsupported
        parameters = {
            "temperature": sampling.temperature,
            "stop": list(sampling.stop),
            limit: sampling.max_tokens,
            "logprobs": wants or None,
            "top_logprobs": _LIKELIEST if wants else None,
            "stream": request.stream or None,
            "stream_options": {"include_usage": True} if request.stream else None,
            "tools": [_tool(offer) for offer in sampling.tools],
            "tool_choice": sampling.tool_choice if sampling.tools else None,
        }
        messages = [_message(m, sampling.tools, self._config.detail) for m in request.messages]
        return {"model": self._config.model, "messages": messages, **request.select_accepted(parameters)}

    def droppable(self, body: Mapping[str, Any]) -> Mapping[str, str]:
        names = {name: rf"\b{name}\b" for name in _DROPPABLE if name in body}
        return names | ({"stream": r"\b[Ss]tream(?:ing)?\b"} if "stream" in body else {})

    def add(self, data: dict[str, Any], builder: ReplyBuilder) -> str:
        """A chunk, or a whole completion: the same but for `delta` or `message`."""
        builder.usage = _usage(data["usage"]) if data.get("usage") else builder.usage
        builder.prompt_ids = ids_in(data.get("prompt_token_ids")) or builder.prompt_ids
        choices = data.get("choices")
        if not choices and data.get("object") == "chat.completion.chunk":
            return ""  # it tells only usage, or what a filter of Azure says
        if not isinstance(choices, list):
            raise TypeError(choices)
        if not choices:
            builder.reason, builder.has_ended = "no choices", True
            return ""
        choice = choices[0]
        delta: dict[str, Any] = choice["message" if "message" in choice else "delta"] or {}
        builder.reasoning.append(delta.get("reasoning_content") or delta.get("reasoning") or "")
        builder.refusal.append(delta.get("refusal") or "")
        _add_calls(delta, builder)
        builder.logprobs += logprobs_in((choice.get("logprobs") or {}).get("content"))
        builder.token_ids += ids_in(choice.get("token_ids"))
        _end(choice, builder)
        return texts(delta.get("content"))

    def opaque(self, builder: ReplyBuilder) -> Any:
        """Fields that some providers add to a message with calls and want back: signatures, reasoning."""
        if not builder.calls:
            return None
        calls = {number: builder.items[place].fields for number, place in enumerate(builder.calls)}
        extra = {str(number): fields for number, fields in calls.items() if fields}
        message = builder.items[_MESSAGE].build() if _MESSAGE in builder.items else {}
        return {"message": message, "calls": extra} if message or extra else None


def _add_calls(delta: Mapping[str, Any], builder: ReplyBuilder) -> None:
    """The calls in a chunk or a message. Some servers number none, or give a second call the number of the first."""
    for number, found in enumerate(delta.get("tool_calls") or ()):
        place, function = found.get("index", number), found.get("function") or {}
        known, call_id = builder.calls.get(place), found.get("id") or ""
        if known is not None and call_id and call_id != known.id:
            place, known = len(builder.calls), builder.calls.get(len(builder.calls))
        if known is None:
            builder.open_call(place, call_id, str(function.get("name") or ""))
            builder.items[place] = Item({key: found[key] for key in found if key not in _CALL_FIELDS})
        arguments = function.get("arguments") or ""
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        builder.add_arguments(place, text)
    _add_reasoning(delta, builder)


def _add_reasoning(delta: Mapping[str, Any], builder: ReplyBuilder) -> None:
    for name in ("reasoning_content", "reasoning_details"):
        value = delta.get(name)
        if isinstance(value, str) and value:
            builder.items.setdefault(_MESSAGE, Item({})).add(name, value)
        elif isinstance(value, list):
            fields = builder.items.setdefault(_MESSAGE, Item({})).fields
            fields[name] = [*fields.get(name, ()), *value]


def _end(choice: dict[str, Any], builder: ReplyBuilder) -> None:
    reason = choice.get("finish_reason")
    if reason is None and "message" not in choice:
        return
    builder.has_ended, builder.reason = True, f"finish_reason {reason}"
    builder.finish = _FINISH.get(str(reason), "end")
    if isinstance(choice.get("stop_reason"), str):  # vLLM names the stop string that it met
        builder.finish = "stop"
    if any(builder.refusal):
        builder.finish = "refusal"


def _usage(usage: object) -> Usage:
    return Usage(
        read_count(usage, "prompt_tokens"),
        read_count(usage, "completion_tokens"),
        read_count(usage, "prompt_tokens_details", "cached_tokens"),
    )


def _tool(offer: ToolOffer) -> dict[str, Any]:
    function = {"name": offer.name, "description": offer.purpose, "parameters": schema_of(offer)}
    return {"type": "function", "function": function}


def _message(message: Message, offers: Sequence[ToolOffer], detail: str | None) -> dict[str, Any]:
    if message.calls:
        return _message_with_calls(message, offers)
    result = {"tool_call_id": message.call_id} if message.role == "tool" else {}
    return {"role": message.role, **result, "content": _content(message, detail)}


def _message_with_calls(message: Message, offers: Sequence[ToolOffer]) -> dict[str, Any]:
    """An assistant's turn, with the fields that the provider wants back in it."""
    own = json.loads(message.opaque.content) if message.opaque else {"message": {}, "calls": {}}
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": plain_name(call), "arguments": arguments_json(call, offers)},
            **own["calls"].get(str(number), {}),
        }
        for number, call in enumerate(message.calls)
    ]
    content = replace_surrogates(message.text) or None
    return {"role": message.role, "content": content, **own["message"], "tool_calls": calls}


def _content(message: Message, detail: str | None) -> str | list[dict[str, Any]]:
    """Text alone goes as a string: some servers refuse lists in system and assistant turns."""
    parts = [part for part in message.parts if not isinstance(part, ToolCall)]
    if all(isinstance(part, Text) for part in parts):
        return replace_surrogates(message.text)
    return [_part(part, detail) for part in parts]


def _part(part: Text | Picture, detail: str | None) -> dict[str, Any]:
    match part:
        case Text(text=text):
            return {"type": "text", "text": replace_surrogates(text)}
        case Picture():
            return {
                "type": "image_url",
                "image_url": {"url": data_url(part)} | ({"detail": detail} if detail else {}),
            }


def data_url(picture: Picture) -> str:
    """The picture as a URL that holds it."""
    return f"data:{picture.mime};base64,{base64_of(picture)}"


@lru_cache(maxsize=128)  # a conversation sends its pictures again with every turn
def base64_of(picture: Picture) -> str:
    """The file of the picture, as base64."""
    return base64.b64encode(picture.data).decode("ascii")
