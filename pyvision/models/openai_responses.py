"""The responses API of OpenAI, for reasoning models: their reasoning items are sent back with the next turn.

Nothing is stored at the endpoint (`store` is false): reasoning items come encrypted and are cached here.
This API has no `stop` parameter; replies are cut here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from pyvision.config.model_config import ModelConfig
from pyvision.models.endpoint import Ask, Endpoint
from pyvision.models.openai_chat import OpenAIClients, data_url
from pyvision.models.reply_builder import ReplyBuilder, logprobs_in, read_count, texts
from pyvision.text.sanitize import replace_surrogates
from pyvision.types import Finish, Part, Picture, Text, Usage

if TYPE_CHECKING:
    import httpx2

_REASONING = "reasoning.encrypted_content"
_LOGPROBS = "message.output_text.logprobs"
_LIKELIEST = 5  # tokens at each place, with their log probabilities
_FINISH: Mapping[str, Finish] = {"max_output_tokens": "length", "content_filter": "refusal"}
_CALLS = ("function_call", "custom_tool_call", "computer_call", "mcp_call")


def openai_responses(config: ModelConfig) -> Endpoint:
    """A model behind a responses endpoint; with an `api_version`, behind Azure OpenAI."""
    return Endpoint(config, _Responses(config))


class _Responses(OpenAIClients):
    def post(self, client: Any, body: dict[str, Any], timeout: httpx2.Timeout) -> AbstractContextManager[Any]:
        create: Any = client.responses.with_streaming_response.create
        answer: AbstractContextManager[Any] = create(
            model=body["model"], input=body["input"], extra_body=body, timeout=timeout
        )
        return answer

    def body(self, ask: Ask) -> dict[str, Any]:
        sampling, unsupported = ask.sampling, ask.unsupported
        wants = sampling.logprobs and "logprobs" not in unsupported
        include = [_REASONING] if _REASONING not in unsupported else []
        parameters = {
            "temperature": sampling.temperature,
            "max_output_tokens": sampling.max_tokens,
            "include": include + ([_LOGPROBS] if wants else []),
            "top_logprobs": _LIKELIEST if wants else None,
            "stream": ask.stream,  # some servers stream where it is not said
            "store": False,
        }
        items = [item for turn in range(len(ask.messages)) for item in _items(ask, turn)]
        accepted = {"stream": False, **ask.select_accepted(parameters)}
        return {"model": self._config.model, "input": items, **accepted}

    def droppable(self, body: Mapping[str, Any]) -> Mapping[str, str]:
        names = {
            name: rf"\b{name}\b"
            for name in ("temperature", "max_output_tokens", "top_logprobs", "store")
            if name in body
        }
        names |= {"stream": r"\b[Ss]tream(?:ing)?\b"} if body["stream"] else {}
        include = body.get("include", ())
        if _REASONING in include:
            names |= {_REASONING: r"[Ee]ncrypted|\binclude\b|reasoning. (?:item|was provided)"}
        if _LOGPROBS in include:
            names |= {
                "logprobs": r"logprobs|\binclude\b"
            }  # a second complaint is about the second part of it
        return names

    def add(self, data: dict[str, Any], builder: ReplyBuilder) -> str:
        """An event, or a whole response."""
        if builder.repeats.is_repeated(data.get("sequence_number")):
            return ""
        match data.get("type"):
            case "response.output_text.delta":
                builder.logprobs += logprobs_in(data.get("logprobs"))
                return str(data["delta"])
            case "response.output_text.done":
                part = data.get("output_index"), data.get("content_index")
                builder.final_texts[part] = str(data.get("text") or "")
            case "response.refusal.delta":
                builder.refusal.append(data["delta"])
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                builder.reasoning.append(data["delta"])
            case "response.output_item.added" | "response.output_item.done" as kind:
                _item(data["item"], builder, is_done=kind.endswith("done"))
            case "response.completed" | "response.incomplete" | "response.failed":
                _end(data["response"], builder)
            case "error":
                builder.failure = data
            case None:
                return _whole(data, builder)
        return ""


def _item(item: dict[str, Any], builder: ReplyBuilder, *, is_done: bool) -> None:
    """What is not text: thoughts, the name of the message that follows them, tools."""
    builder.calls_tool = builder.calls_tool or item["type"] in _CALLS
    if item["type"] == "reasoning" and is_done:
        if item.get("encrypted_content"):
            builder.items.append(item)
        if not any(builder.reasoning):
            builder.reasoning += [texts(item.get("summary")), texts(item.get("content"))]
    elif item["type"] == "message" and not is_done and builder.items:
        builder.items.append({"type": "message", "id": item["id"]})


def _whole(response: dict[str, Any], builder: ReplyBuilder) -> str:
    output = response["output"]
    if not isinstance(output, list):
        raise TypeError(output)
    text: list[str] = []
    for item in output:
        _item(item, builder, is_done=item["type"] != "message")
        for part in item.get("content") or () if item["type"] == "message" else ():
            text.append(str(part.get("text") or ""))
            builder.refusal.append(str(part.get("refusal") or ""))
            builder.logprobs += logprobs_in(part.get("logprobs"))
    _end(response, builder)
    return "".join(text)


def _end(response: dict[str, Any], builder: ReplyBuilder) -> None:
    reason = (response.get("incomplete_details") or {}).get("reason") or response.get("status")
    builder.has_ended, builder.reason = True, f"status {reason}"
    builder.finish = "refusal" if any(builder.refusal) else _FINISH.get(str(reason), "end")
    usage = response.get("usage")
    builder.usage = Usage(
        read_count(usage, "input_tokens"),
        read_count(usage, "output_tokens"),
        read_count(usage, "input_tokens_details", "cached_tokens"),
    )
    if response.get("status") == "failed":
        builder.failure = response.get("error") or {"message": "the response failed"}


def _items(ask: Ask, turn: int) -> Iterator[dict[str, Any]]:
    message = ask.messages[turn]
    if message.role != "assistant":
        yield {"role": message.role, "content": [_part(part) for part in message.parts]}
        return
    text = replace_surrogates(message.text)
    reasoning_cache = (
        ask.reasoning_cache.before(ask.messages, turn) if _REASONING not in ask.unsupported else ()
    )
    yield from (item for item in reasoning_cache if item["type"] == "reasoning")
    named = [item for item in reasoning_cache if item["type"] == "message"]
    if named:  # thoughts have to be followed by the message that came with them, under its own name
        part = {"type": "output_text", "text": text, "annotations": []}
        yield named[0] | {"role": "assistant", "status": "completed", "content": [part]}
    else:
        yield {"role": "assistant", "content": text}


def _part(part: Part) -> dict[str, Any]:
    match part:
        case Text(text=text):
            return {"type": "input_text", "text": replace_surrogates(text)}
        case Picture():
            return {"type": "input_image", "detail": "auto", "image_url": data_url(part)}
