"""The responses API of OpenAI, for reasoning models: their reasoning items are sent back with the next turn.

Nothing is stored at the endpoint (`store` is false): reasoning items come encrypted and are kept in `Reply.opaque`.
This API has no `stop` parameter; replies are cut here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from pyvision.config.model_config import ModelConfig
from pyvision.models.endpoint import CompletionRequest, Endpoint
from pyvision.models.reply_builder import Item, ReplyBuilder, logprobs_in, read_count, texts
from pyvision.models.tool_calls import arguments_json, free_form_ids, plain_name, schema_of
from pyvision.models.wires.openai_chat import OpenAIClients, data_url
from pyvision.text.sanitize import replace_surrogates
from pyvision.types import Finish, Message, Picture, Text, ToolCall, ToolOffer, Usage

if TYPE_CHECKING:
    import httpx2

_REASONING = "reasoning.encrypted_content"
_LOGPROBS = "message.output_text.logprobs"
_LIKELIEST = 5  # tokens at each place, with their log probabilities
_FINISH: Mapping[str, Finish] = {"max_output_tokens": "length", "content_filter": "refusal"}
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}  # the field with what is called
_FREE_FORM = "custom"  # tools that take plain text


def openai_responses(config: ModelConfig) -> Endpoint:
    """A model behind a responses endpoint; with an `api_version`, behind Azure OpenAI."""
    return Endpoint(config, _Responses(config))


class _Responses(OpenAIClients):
    def post(self, client: Any, body: dict[str, Any], timeout: httpx2.Timeout) -> AbstractContextManager[Any]:
        # The SDK would walk through the whole conversation; what is sent is the `extra_body`.
        create: Any = client.responses.with_streaming_response.create
        answer: AbstractContextManager[Any] = create(
            model=body["model"], input=[], extra_body=body, timeout=timeout
        )
        return answer

    def body(self, request: CompletionRequest) -> dict[str, Any]:
        sampling, unsupported = request.sampling, request.unsupported
        wants = sampling.logprobs and "logprobs" not in unsupported
        include = [_REASONING] if _REASONING not in unsupported else []
        parameters = {
            "temperature": sampling.temperature,
            "max_output_tokens": sampling.max_tokens,
            "include": include + ([_LOGPROBS] if wants else []),
            "top_logprobs": _LIKELIEST if wants else None,
            "stream": request.stream,  # some servers stream where it is not said
            "store": False,
            "tools": [
                _tool(offer, is_free_form=offer.is_free_form and _FREE_FORM not in unsupported)
                for offer in sampling.tools
            ],
            "tool_choice": sampling.tool_choice if sampling.tools else None,
        }
        accepted = {"stream": False, **request.select_accepted(parameters)}
        return {
            "model": self._config.model,
            "input": list(_items(request, self._config.detail or "auto")),
            **accepted,
        }

    def droppable(self, body: Mapping[str, Any]) -> Mapping[str, str]:
        names = {
            name: rf"\b{name}\b"
            for name in ("temperature", "max_output_tokens", "top_logprobs", "store", "tool_choice")
            if name in body
        }
        names |= {"stream": r"\b[Ss]tream(?:ing)?\b"} if body["stream"] else {}
        if any(tool["type"] == _FREE_FORM for tool in body.get("tools", ())):
            names |= {_FREE_FORM: r"\bcustom\b|\btools\b"}
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
            case "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta":
                builder.add_arguments(data["output_index"], str(data["delta"]))
            case "response.output_item.added" | "response.output_item.done" as kind:
                _item(data.get("output_index"), data["item"], builder, is_done=kind.endswith("done"))
            case "response.completed" | "response.incomplete" | "response.failed":
                _end(data["response"], builder)
            case "error":
                builder.failure = data
            case None:
                return _whole(data, builder)
        return ""

    def opaque(self, builder: ReplyBuilder) -> Any:
        """All items of the output, where encrypted reasoning is one of them: it belongs to the items after it."""
        items = [item.build() for item in builder.items.values()]
        valid = [item for item in items if item["type"] != "reasoning" or item.get("encrypted_content")]
        return valid if any(item["type"] == "reasoning" for item in valid) else None


def _item(place: object, item: dict[str, Any], builder: ReplyBuilder, *, is_done: bool) -> None:
    """What is not text: reasoning, the name of a message, calls. One that is done replaces what announced it."""
    builder.items[place] = Item(item)
    if item["type"] in _CALLS and place not in builder.calls:
        is_free_form = item["type"] == "custom_tool_call"
        builder.open_call(place, str(item["call_id"]), str(item["name"]), is_free_form=is_free_form)
    if item["type"] in _CALLS and is_done and not builder.calls[place].pieces:
        builder.add_arguments(place, str(item[_CALLS[item["type"]]]))
    if item["type"] == "reasoning" and is_done and not any(builder.reasoning):
        builder.reasoning += [texts(item.get("summary")), texts(item.get("content"))]


def _whole(response: dict[str, Any], builder: ReplyBuilder) -> str:
    output = response["output"]
    if not isinstance(output, list):
        raise TypeError(output)
    text: list[str] = []
    for place, item in enumerate(output):
        _item(place, item, builder, is_done=True)
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


def _tool(offer: ToolOffer, *, is_free_form: bool) -> dict[str, Any]:
    named = {"name": offer.name, "description": offer.purpose}
    if is_free_form:
        return {"type": "custom", **named}
    return {"type": "function", **named, "parameters": schema_of(offer), "strict": False}


def _items(request: CompletionRequest, detail: str) -> Iterator[dict[str, Any]]:
    free_form = free_form_ids(request.messages)
    for message in request.messages:
        if message.role == "tool":
            kind = "custom_tool_call_output" if message.call_id in free_form else "function_call_output"
            yield {"type": kind, "call_id": message.call_id, "output": _content(message, detail)}
        elif message.role != "assistant":
            yield {"role": message.role, "content": _content(message, detail)}
        elif message.opaque is not None and _REASONING not in request.unsupported:
            yield from _convert_opaque(message, json.loads(message.opaque.content))
        else:
            yield from _convert_message(
                message, {"role": "assistant", "content": replace_surrogates(message.text)}
            )


def _convert_opaque(message: Message, items: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The items as they came; where the text was cut, its message holds what is left of it."""
    item_texts = [texts(item.get("content")) for item in items if item["type"] == "message"]
    calls = [item["call_id"] for item in items if item["type"] in _CALLS]
    if "".join(item_texts) == message.text and calls == [call.id for call in message.calls]:
        yield from items
        return
    yield from (item for item in items if item["type"] == "reasoning")
    named = next((item for item in items if item["type"] == "message"), {"role": "assistant"})
    part = {"type": "output_text", "text": replace_surrogates(message.text), "annotations": []}
    filled = {**named, "role": "assistant", "status": "completed", "content": [part]}
    yield from _convert_message(
        message, filled if "id" in named else {"role": "assistant", "content": part["text"]}
    )


def _convert_message(message: Message, spoken: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The text, in the item that is to hold it, and the calls."""
    if message.text:
        yield spoken
    for call in message.calls:
        named = {"call_id": call.id, "name": plain_name(call)}
        if call.is_free_form:
            yield {"type": "custom_tool_call", **named, "input": replace_surrogates(call.arguments)}
        else:
            yield {"type": "function_call", **named, "arguments": arguments_json(call, ())}


def _content(message: Message, detail: str) -> list[dict[str, Any]]:
    return [_part(part, detail) for part in message.parts if not isinstance(part, ToolCall)]


def _part(part: Text | Picture, detail: str) -> dict[str, Any]:
    match part:
        case Text(text=text):
            return {"type": "input_text", "text": replace_surrogates(text)}
        case Picture():
            return {"type": "input_image", "detail": detail, "image_url": data_url(part)}
