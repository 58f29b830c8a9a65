"""Chat completions: OpenAI, Azure OpenAI, vLLM, llama.cpp, Ollama and every server that speaks the same."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pyvision.config.model_config import ModelConfig
from pyvision.models.endpoint import Ask, Endpoint
from pyvision.models.reply_builder import ReplyBuilder, ids_in, logprobs_in, read_count, texts
from pyvision.text.sanitize import replace_surrogates
from pyvision.types import Finish, Message, Part, Picture, Text, Usage

if TYPE_CHECKING:
    import httpx2

_OPENAI_HOST = "api.openai.com"  # its newer models refuse the older name of the limit
_LIMITS = ("max_tokens", "max_completion_tokens")
_LIKELIEST = 5  # tokens at each place, with their log probabilities
_DROPPABLE = ("temperature", "stop", *_LIMITS, "logprobs", "top_logprobs", "stream_options")
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
        create: Any = client.chat.completions.with_streaming_response.create
        answer: AbstractContextManager[Any] = create(
            model=body["model"], messages=body["messages"], extra_body=body, timeout=timeout
        )
        return answer

    def body(self, ask: Ask) -> dict[str, Any]:
        sampling = ask.sampling
        limit = next((name for name in self._limits if name not in ask.unsupported), self._limits[0])
        wants = sampling.logprobs and "logprobs" not in ask.unsupported
        parameters = {
            "temperature": sampling.temperature,
            "stop": list(sampling.stop),
            limit: sampling.max_tokens,
            "logprobs": wants or None,
            "top_logprobs": _LIKELIEST if wants else None,
            "stream": ask.stream or None,
            "stream_options": {"include_usage": True} if ask.stream else None,
        }
        messages = [_message(message) for message in ask.messages]
        return {"model": self._config.model, "messages": messages, **ask.select_accepted(parameters)}

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
        builder.calls_tool = builder.calls_tool or bool(delta.get("tool_calls"))
        builder.logprobs += logprobs_in((choice.get("logprobs") or {}).get("content"))
        builder.token_ids += ids_in(choice.get("token_ids"))
        _end(choice, builder)
        return texts(delta.get("content"))


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


def _message(message: Message) -> dict[str, Any]:
    """Text alone goes as a string: some servers refuse lists in system and assistant turns."""
    if all(isinstance(part, Text) for part in message.parts):
        return {"role": message.role, "content": replace_surrogates(message.text)}
    return {"role": message.role, "content": [_part(part) for part in message.parts]}


def _part(part: Part) -> dict[str, Any]:
    match part:
        case Text(text=text):
            return {"type": "text", "text": replace_surrogates(text)}
        case Picture():
            return {"type": "image_url", "image_url": {"url": data_url(part)}}


def data_url(picture: Picture) -> str:
    """The picture as a URL that holds it."""
    return f"data:{picture.mime};base64,{base64_of(picture)}"


@lru_cache(maxsize=128)  # a conversation sends its pictures again with every turn
def base64_of(picture: Picture) -> str:
    """The file of the picture, as base64."""
    return base64.b64encode(picture.data).decode("ascii")
