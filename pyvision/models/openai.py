"""Chat completions: OpenAI, vLLM, llama.cpp, Ollama and every server that speaks the same.

A parameter that a 400 names as unsupported is dropped (`max_tokens` changes its name first) and this object
never sends it again. Foreign errors become ModelError here, once, and never hold the key.

No reply is ever made up. Null or empty content is a ModelError: worth a retry, except when the whole length
went into reasoning or the model called a tool that nobody offered. A refusal or a content filter is a Reply.
Not covered: an endpoint that trickles bytes for ever (`timeout_s` bounds each silence, not the whole reply).
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pyvision.config import OPENAI_URL, ModelConfig, is_local
from pyvision.errors import ModelError
from pyvision.models.faults import scrubbed, translated, unsupported
from pyvision.models.stops import cut_at_stop
from pyvision.types import Finish, Message, Part, Picture, Reply, Sampling, Text, Usage

if TYPE_CHECKING:
    import openai

_CONNECT_S = 10.0
_OPENAI_HOST = "api.openai.com"  # its newer models refuse the older name of the limit
_LIMITS = ("max_tokens", "max_completion_tokens")
_FINISH: dict[str, Finish] = {"length": "length", "content_filter": "refusal"}


class OpenAIChat:
    """One model behind a chat completions endpoint. Thread-safe; the client is made at the first call."""

    def __init__(self, config: ModelConfig) -> None:
        self._config = config
        self._base_url = config.base_url or OPENAI_URL
        self._limits = _LIMITS[::-1] if urlsplit(self._base_url).hostname == _OPENAI_HOST else _LIMITS
        self._refused: frozenset[str] = frozenset()
        self._reached = not is_local(self._base_url)
        self._client: openai.OpenAI | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._config.model or ""

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """One reply. What `sampling` leaves open is taken from the configuration. Raises ModelError."""
        wire = [_message(message) for message in messages]
        body = None
        while body is None:
            body = self._post(wire, self._parameters(sampling))
        data = _decoded(body, self._where, self._config)
        return cut_at_stop(_reply(data, sampling.stop, self._where), sampling.stop)

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    @property
    def _where(self) -> str:
        return f"{self.name} at {self._base_url.rpartition('@')[2]}"

    def _parameters(self, sampling: Sampling) -> dict[str, Any]:
        config = self._config
        limit = next((name for name in self._limits if name not in self._refused), None)
        wanted = {
            "temperature": config.temperature if sampling.temperature is None else sampling.temperature,
            "stop": list(sampling.stop) or None,
            limit: sampling.max_tokens or config.max_tokens,
        }
        known = {key: value for key, value in wanted.items() if key and key not in self._refused}
        return {key: value for key, value in known.items() if value is not None}

    def _post(self, wire: list[dict[str, Any]], parameters: dict[str, Any]) -> str | None:
        """The body of the answer; None when a parameter was refused and the request is to be made again."""
        import openai

        extra: Any = {"extra_body": self._config.extra_body or None, **parameters}
        messages: Any = wire
        try:
            raw = self._opened().chat.completions.with_raw_response.create(
                model=self.name, messages=messages, **extra
            )
            self._reached = True
            return raw.text
        except openai.OpenAIError as error:
            self._reached = self._reached or isinstance(error, openai.APIStatusError)
            refused = unsupported(error, tuple(parameters))
            if refused is None:
                raise translated(error, self._config, self._where, reached=self._reached) from None
            self._refused |= {refused}
            return None

    def _opened(self) -> openai.OpenAI:
        import openai

        with self._lock:
            if self._client is None:
                silence = self._config.timeout_s
                timeout = openai.Timeout(silence, connect=min(_CONNECT_S, silence))
                trusts_proxies = not is_local(self._base_url)
                self._client = openai.OpenAI(
                    api_key=self._config.api_key or "none",
                    base_url=self._base_url,
                    max_retries=0,  # Retried does it, with a time budget
                    timeout=timeout,
                    http_client=openai.DefaultHttpxClient(timeout=timeout, trust_env=trusts_proxies),
                )
            return self._client


def _message(message: Message) -> dict[str, Any]:
    """Text alone goes as a string: some servers refuse lists in system and assistant turns."""
    if all(isinstance(part, Text) for part in message.parts):
        return {"role": message.role, "content": _encodable(message.text)}
    return {"role": message.role, "content": [_part(part) for part in message.parts]}


def _part(part: Part) -> dict[str, Any]:
    match part:
        case Text(text=text):
            return {"type": "text", "text": _encodable(text)}
        case Picture():
            return {"type": "image_url", "image_url": {"url": _data_url(part)}}


def _encodable(text: str) -> str:
    """Without lone surrogates, which what a guest prints can hold and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")


@lru_cache(maxsize=64)  # a talk sends its pictures again with every turn
def _data_url(picture: Picture) -> str:
    return f"data:{picture.mime};base64,{base64.b64encode(picture.data).decode('ascii')}"


def _reply(data: dict[str, Any], stop: Sequence[str], where: str) -> Reply:
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise ModelError(f"{where}: the answer holds no choices", retry=True)
    usage, text = _usage(data.get("usage")), _text(message.get("content"))
    reason, refusal = str(choice.get("finish_reason")), message.get("refusal")
    if refusal or reason == "content_filter":
        return Reply(
            text or str(refusal or "a content filter of the endpoint withheld the reply"), usage, "refusal"
        )
    if not text:
        raise _empty(message, reason, where)
    finish = "stop" if choice.get("stop_reason") in stop else _FINISH.get(reason, "end")
    return Reply(text, usage, finish)


def _decoded(body: str, where: str, config: ModelConfig) -> dict[str, Any]:
    try:
        data = json.loads(body)
    except ValueError:
        start = scrubbed(body[:60], config)
        raise ModelError(f"{where}: answered with something else than JSON: {start!r}", retry=True) from None
    if not isinstance(data, dict):
        raise ModelError(f"{where}: answered with a JSON {type(data).__name__}, not an object", retry=True)
    if error := data.get("error"):
        said = error.get("message") if isinstance(error, dict) else error
        raise ModelError(f"{where}: answered with an error: {scrubbed(str(said), config)}", retry=True)
    return data


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _empty(message: dict[str, Any], reason: str, where: str) -> ModelError:
    if reason == "length":
        return ModelError(
            f"{where}: the whole length went into reasoning; raise max_tokens (PYVISION_MAX_TOKENS)"
        )
    if message.get("tool_calls"):
        return ModelError(f"{where}: called a tool, and none was offered; turn tool calls off at the server")
    return ModelError(f"{where}: the reply is empty (finish_reason {reason})", retry=True)


def _usage(usage: object) -> Usage:
    counts = usage if isinstance(usage, dict) else {}
    read, written = (counts.get(key) for key in ("prompt_tokens", "completion_tokens"))
    return Usage(read if isinstance(read, int) else 0, written if isinstance(written, int) else 0)
