"""The Gemini API of Google: `generateContent` and `streamGenerateContent` over REST.

The requests are made with the client that all endpoints share, so that one deadline, the limits of responses and the
retries hold here too (docs/decisions/0010). The key is sent in a header, never in the address.

The images of a turn keep their place between its texts. Turns with the same role are joined, since the API wants the
roles to alternate; the results of a turn's calls stand together in a turn of their own. Chunks of a stream have no
number: one that comes twice cannot be found.

Parts with a thought signature go back as they came, a call without one is a 400. A call that another model wrote has
none; it goes out with the value that the API documents for that case.

On Vertex AI the requests are the same; the address is that of a project, and a token stands in for the key (`vertex`).
The newer API is in `gemini_interactions`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import groupby
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from pyvision.config.model_config import ModelConfig
from pyvision.models.endpoint import CompletionRequest, Endpoint
from pyvision.models.reply_builder import Item, ReplyBuilder, read_count
from pyvision.models.tool_calls import arguments_object, plain_name, schema_of
from pyvision.models.vertex_tokens import VertexTokens
from pyvision.models.wires.openai_chat import base64_of
from pyvision.text.redaction import REDACTED
from pyvision.text.sanitize import replace_surrogates
from pyvision.types import Finish, Message, Picture, Text, TokenLogprob, ToolCall, ToolOffer, Usage

if TYPE_CHECKING:
    import httpx2

_VERSION = "v1beta"  # of the API, for an address that names none
_LIKELIEST = 5  # tokens at each place, with their log probabilities
_FINISH: Mapping[str, Finish] = {
    "MAX_TOKENS": "length",
    "SAFETY": "refusal",
    "RECITATION": "refusal",
    "LANGUAGE": "refusal",
    "BLOCKLIST": "refusal",
    "PROHIBITED_CONTENT": "refusal",
    "SPII": "refusal",
    "IMAGE_SAFETY": "refusal",
}
_RESOLUTIONS = {
    "low": "MEDIA_RESOLUTION_LOW",
    "high": "MEDIA_RESOLUTION_HIGH",
}  # others: as the model decides
_FAILED_CALLS = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL")
_FOREIGN_SIGNATURE = "skip_thought_signature_validator"  # ai.google.dev, thought signatures, FAQ
_PARAMETERS = {  # in generationConfig -> the pattern by which a complaint names it
    "temperature": r"\btemperature\b",
    "maxOutputTokens": r"\bmax_?output_?tokens\b",
    "stopSequences": r"\bstop_?sequences?\b",
    "mediaResolution": r"\bmedia_?resolution\b",
}


def gemini(config: ModelConfig) -> Endpoint:
    """A model behind the Gemini API."""
    return Endpoint(config, _Gemini(config))


@dataclass(frozen=True, slots=True)
class GeminiClient:
    """The shared HTTP client with the key of one caller."""

    http_client: httpx2.Client
    headers: Mapping[str, str]


class GeminiApi:
    """Addresses, keys and errors of Google's API, which both of its wires share."""

    def __init__(self, config: ModelConfig) -> None:
        """Raises MissingExtra."""
        self._config = config
        self._tokens = VertexTokens(config) if config.vertex else None

    @property
    def sdk(self) -> Any:
        """The errors and the HTTP client of the openai SDK; nothing else of it is used."""
        import openai

        return openai

    def client(self, key: str | None, http_client: httpx2.Client) -> GeminiClient:
        return GeminiClient(http_client, {"x-goog-api-key": key} if key and not self._tokens else {})

    @contextmanager
    def request(
        self, client: GeminiClient, path: str, body: dict[str, Any], timeout: httpx2.Timeout
    ) -> Iterator[Any]:
        """The response under way. Raises the status errors that the SDKs of the other wires raise."""
        url = f"{self._root}/{path}"
        headers = {**client.headers, **(self._tokens.headers(url) if self._tokens else {})}
        with client.http_client.stream("POST", url, json=body, headers=headers, timeout=timeout) as response:
            if response.is_error:
                raise self._status_error(response)
            yield SimpleNamespace(http_response=response)

    @property
    def _root(self) -> str:
        address = self._config.address.rstrip("/")
        return address if urlsplit(address).path else f"{address}/{_VERSION}"

    def _status_error(self, response: httpx2.Response) -> Exception:
        response.read()
        token = response.request.headers.get("authorization", "").removeprefix("Bearer ")
        text = response.text.replace(token, REDACTED) if token else response.text
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            body = None
        message = text.strip() or f"status {response.status_code}"
        error: Exception = self.sdk.APIStatusError(message, response=response, body=body)
        return error


class _Gemini(GeminiApi):
    def post(
        self, client: GeminiClient, body: dict[str, Any], timeout: httpx2.Timeout
    ) -> AbstractContextManager[Any]:
        method = "streamGenerateContent?alt=sse" if body["stream"] else "generateContent"
        model = quote(str(body["model"]).removeprefix("models/"), safe="")
        sent = {name: value for name, value in body.items() if name not in {"model", "stream"}}
        return self.request(client, f"models/{model}:{method}", sent, timeout)

    def body(self, request: CompletionRequest) -> dict[str, Any]:
        """The request; `model` and `stream` become parts of the address."""
        sampling = request.sampling
        wants = sampling.logprobs and "logprobs" not in request.unsupported
        parameters = {
            "temperature": sampling.temperature,
            "maxOutputTokens": sampling.max_tokens,
            "stopSequences": list(sampling.stop),
            "responseLogprobs": wants or None,
            "logprobs": _LIKELIEST if wants else None,
            "mediaResolution": _RESOLUTIONS.get(self._config.detail or ""),
        }
        system = [part for m in request.messages if m.role == "system" for part in _convert_message(m)]
        body = {
            "model": self._config.model,
            "stream": request.stream,
            "systemInstruction": {"parts": system} if system else None,
            "contents": _contents(request.messages),
            "generationConfig": request.select_accepted(parameters) or None,
        }
        if sampling.tools:
            body["tools"] = [{"functionDeclarations": [_tool(offer) for offer in sampling.tools]}]
            mode = {"functionCallingConfig": {"mode": sampling.tool_choice.upper()}}
            body["toolConfig"] = mode
        return {name: value for name, value in body.items() if value is not None}

    def droppable(self, body: Mapping[str, Any]) -> Mapping[str, str]:
        sent = body.get("generationConfig", {})
        names = {name: rf"(?i){pattern}" for name, pattern in _PARAMETERS.items() if name in sent}
        names |= {"logprobs": "(?i)logprobs"} if "logprobs" in sent else {}
        return names | ({"stream": r"\b[Ss]tream(?:ing|GenerateContent)?\b"} if body["stream"] else {})

    def add(self, data: dict[str, Any], builder: ReplyBuilder) -> str:
        """A chunk, or a whole response: they have the same form."""
        builder.usage = _usage(data["usageMetadata"]) if data.get("usageMetadata") else builder.usage
        if blocked := (data.get("promptFeedback") or {}).get("blockReason"):
            _end(builder, "refusal", f"blockReason {blocked}")
            return ""
        candidates = data.get("candidates")
        if candidates is None and "usageMetadata" in data and "candidates" not in data:
            return ""  # it holds only usage
        if not isinstance(candidates, list):
            raise TypeError(candidates)
        if not candidates:
            _end(builder, "end", "no candidates")
            return ""
        return _add_candidate(candidates[0], builder)

    def opaque(self, builder: ReplyBuilder) -> Any:
        """All parts, where one of them is signed: the signature belongs to its part."""
        parts = [item.build() for item in builder.items.values()]
        return parts if any("thoughtSignature" in part for part in parts) else None


def _add_candidate(candidate: dict[str, Any], builder: ReplyBuilder) -> str:
    parts = (candidate.get("content") or {}).get("parts") or ()
    text: list[str] = []
    for part in parts:
        _keep(part, builder)
        if called := part.get("functionCall"):
            place = len(builder.calls)
            builder.open_call(place, str(called.get("id") or ""), str(called["name"]))
            builder.add_arguments(place, json.dumps(called.get("args") or {}, ensure_ascii=False))
        elif part.get("thought"):
            builder.reasoning.append(str(part.get("text") or ""))
        else:
            text.append(str(part.get("text") or ""))
    builder.logprobs += _logprobs(candidate.get("logprobsResult"))
    if reason := candidate.get("finishReason"):
        builder.failed_to_call = reason in _FAILED_CALLS
        _end(builder, _FINISH.get(str(reason), "end"), f"finishReason {reason}")
    return "".join(text)


def _keep(part: dict[str, Any], builder: ReplyBuilder) -> None:
    """Keep a part as it came. Plain text in several pieces is one part; unsigned thoughts are not kept."""
    if part.get("thought") and "thoughtSignature" not in part:
        return
    last = next(reversed(builder.items.values()), None)
    if part.keys() == {"text"} and last is not None and last.fields.keys() == {"text"}:
        last.add("text", part["text"])
    else:
        builder.items[len(builder.items)] = Item(part)


def _end(builder: ReplyBuilder, finish: Finish, reason: str) -> None:
    builder.has_ended, builder.finish, builder.reason = True, finish, reason


def _usage(usage: object) -> Usage:
    """Thoughts are counted apart from the reply, and are paid for like it."""
    return Usage(
        read_count(usage, "promptTokenCount") + read_count(usage, "toolUsePromptTokenCount"),
        read_count(usage, "candidatesTokenCount") + read_count(usage, "thoughtsTokenCount"),
        read_count(usage, "cachedContentTokenCount"),
    )


def _logprobs(result: object) -> Iterator[TokenLogprob]:
    if not isinstance(result, dict):
        return
    chosen, places = result.get("chosenCandidates") or (), result.get("topCandidates") or ()
    for number, entry in enumerate(chosen):
        others = (places[number].get("candidates") or ()) if number < len(places) else ()
        top = tuple((str(each["token"]), float(each["logProbability"])) for each in others)
        yield TokenLogprob(str(entry["token"]), float(entry["logProbability"]), top)


def _tool(offer: ToolOffer) -> dict[str, Any]:
    return {"name": offer.name, "description": offer.purpose, "parametersJsonSchema": schema_of(offer)}


def _contents(messages: Sequence[Message]) -> list[dict[str, Any]]:
    calls = {
        call.id: _Called(message, number) for message in messages for number, call in enumerate(message.calls)
    }
    turns = [(m.role, list(_parts(m, calls))) for m in messages if m.role != "system"]
    filled = [turn for turn in turns if turn[1]]
    return [
        {
            "role": "model" if role == "assistant" else "user",
            "parts": [p for _, parts in group for p in parts],
        }
        for role, group in groupby(filled, key=lambda turn: turn[0])
    ]


@dataclass(frozen=True, slots=True)
class _Called:
    """A call by its message and its number among the calls there."""

    message: Message
    number: int

    @property
    def named(self) -> dict[str, str]:
        """The name of the call, and its id as the API gave it: none if it gave none."""
        call = self.message.calls[self.number]
        sent = [part["functionCall"] for part in _convert_opaque(self.message) if "functionCall" in part]
        given = sent[self.number].get("id") if sent else call.id
        return {"name": plain_name(call)} | ({"id": given} if given else {})


def _parts(message: Message, calls: Mapping[str, _Called]) -> Iterator[dict[str, Any]]:
    if message.role == "tool":
        yield {"functionResponse": _result(message, calls.get(message.call_id))}
    elif parts := _convert_opaque(message):
        yield from parts
    else:
        yield from _convert_message(message)


def _convert_opaque(message: Message) -> list[dict[str, Any]]:
    """The parts as they came, then what was put back behind them; none where there are none, or the text was cut.

    The API leaves out the stop string at which it ended, and signs an empty text in its place.
    """
    parts: list[dict[str, Any]] = json.loads(message.opaque.content) if message.opaque else []
    text = "".join(part.get("text") or "" for part in parts if not part.get("thought"))
    called = sum("functionCall" in part for part in parts)
    if not parts or called != len(message.calls) or not message.text.startswith(text):
        return []
    behind = message.text.removeprefix(text)
    return [*parts, {"text": replace_surrogates(behind)}] if behind else parts


def _convert_message(message: Message) -> Iterator[dict[str, Any]]:
    """The API refuses empty text, and the first of the calls without a signature."""
    first = next(iter(message.calls), None)
    for part in message.parts:
        if isinstance(part, ToolCall):
            call = {
                "functionCall": {"name": plain_name(part), "id": part.id, "args": arguments_object(part, ())}
            }
            yield call | ({"thoughtSignature": _FOREIGN_SIGNATURE} if part is first else {})
        elif not isinstance(part, Text) or part.text:
            yield _part(part)


def _result(message: Message, called: _Called | None) -> dict[str, Any]:
    """Text is the output, or the error; images stand beside it."""
    named = called.named if called else {"name": "unnamed", "id": message.call_id}
    images = [_part(part) for part in message.parts if isinstance(part, Picture)]
    response = {"error" if message.is_error else "output": replace_surrogates(message.text)}
    return {**named, "response": response} | ({"parts": images} if images else {})


def _part(part: Text | Picture) -> dict[str, Any]:
    match part:
        case Text(text=text):
            return {"text": replace_surrogates(text)}
        case Picture():
            return {"inlineData": {"mimeType": part.mime, "data": base64_of(part)}}
