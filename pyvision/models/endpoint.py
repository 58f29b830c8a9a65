"""A model behind an endpoint, over any wire: the one place that posts a request and reads the response.

A wire says how a request is worded and what an event means. Everything else is the same for all of them and is done
here: API keys in turn, parameters that the endpoint refuses, time limits, errors, the cut at a stop string. What a
response may cost in time and memory is limited by `connection`.

A request is streamed. An endpoint that answers in one piece works too; if its 400 names `stream`, or its configuration
says `"stream": false`, it is asked for one piece from then on.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from pyvision.config.model_config import ModelConfig, is_local
from pyvision.config.reasoning import reasoning_fields
from pyvision.models.connection import deadline, open_client, read_rest
from pyvision.models.errors import ErrorMapper, complaint, decode_body
from pyvision.models.reply_builder import ReplyBuilder, reply_of
from pyvision.models.streaming import DONE, StopCutter, parse_events, whole
from pyvision.models.unsupported_parameters import UnsupportedParameters, find_refused, find_unsupported
from pyvision.types import Message, Opaque, Reply, Sampling, Text

if TYPE_CHECKING:
    import httpx2


_CONNECT_S = 10.0
_REASONING = "reasoning"  # what is left out where an endpoint refuses the setting
_LOG = logging.getLogger("pyvision.models")


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One request before it is worded. sampling: with what the configuration fills in.

    messages: with the opaque content only of replies that came from this wire and model.
    """

    messages: tuple[Message, ...]
    sampling: Sampling
    unsupported: UnsupportedParameters
    stream: bool

    def select_accepted(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters that are set and that the endpoint is not known to refuse."""
        return {
            name: value
            for name, value in parameters.items()
            if value is not None and value != [] and name not in self.unsupported
        }


class Wire(Protocol):
    """How one API words requests and replies."""

    @property
    def sdk(self) -> Any:
        """The SDK's module, imported at the first use."""
        ...

    def client(self, key: str | None, http_client: httpx2.Client) -> Any:
        """A client of the SDK that never retries."""
        ...

    def post(self, client: Any, body: dict[str, Any], timeout: httpx2.Timeout) -> AbstractContextManager[Any]:
        """The answer under way, as the SDK's raw response, closed with the context."""
        ...

    def body(self, request: CompletionRequest) -> dict[str, Any]: ...

    def droppable(self, body: Mapping[str, Any]) -> Mapping[str, str]:
        """What of this body may be left out -> the pattern that a complaint names it by."""
        ...

    def add(self, data: dict[str, Any], builder: ReplyBuilder) -> str:
        """Add an event, or a whole response; returns the text in it. Malformed data may raise the usual errors."""
        ...

    def opaque(self, builder: ReplyBuilder) -> Any:
        """What of the reply the endpoint wants back as it is, as plain values; None where text and calls say all."""
        ...


class Endpoint:
    """One model behind one endpoint. Thread-safe; nothing is opened before the first call, and a closed one reopens."""

    def __init__(self, config: ModelConfig, wire: Wire) -> None:
        self._config = config
        self._wire = wire
        self._keys = ApiKeys(config.keys)
        self._unsupported = find_unsupported(config)
        self._reasoning = reasoning_fields(config)
        self._source = config.source
        self._reached = False
        self._http_client: httpx2.Client | None = None
        self._clients: dict[str | None, Any] = {}
        self._lock = threading.Lock()
        self._misses_logprobs = False

    @property
    def name(self) -> str:
        return self._config.model or ""

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """One reply. What `sampling` leaves open comes from the configuration. Raises ModelError."""
        return whole(self.stream(messages, sampling))

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Reply]:
        """As `Model.stream` says. Ending or closing it closes the connection."""
        error_mapper = ErrorMapper(self._config, self._wire.sdk)
        cut, builder = StopCutter(sampling.stop), ReplyBuilder()
        with ExitStack() as answer:
            for data in self._events(tuple(messages), sampling, error_mapper, builder, answer):
                text = cut.feed(self._text(data, builder, error_mapper))
                if piece := text + builder.take_cells():
                    yield piece
                if cut.is_cut or builder.is_too_long:
                    break
        builder.end_calls()
        rest = cut.rest() + builder.take_cells()
        reply = self._build(builder, cut, messages, sampling, error_mapper)
        if rest:
            yield rest
        self._check_logprobs(sampling, reply)
        yield reply

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        with self._lock:
            http_client, self._http_client, self._clients = self._http_client, None, {}
        if http_client is not None:
            http_client.close()

    def _events(
        self,
        messages: tuple[Message, ...],
        sampling: Sampling,
        error_mapper: ErrorMapper,
        builder: ReplyBuilder,
        answer: ExitStack,
    ) -> Iterator[dict[str, Any]]:
        """The objects of the response, which `answer` closes."""
        import httpx2

        time_left = _TimeLeft(self._config, sampling)
        response = self._open(messages, sampling, error_mapper, time_left, answer)
        try:
            yield from _objects(response, error_mapper, builder)
        except httpx2.HTTPError as error:
            if not builder.has_ended:
                raise error_mapper.from_response(
                    error, reached=True, too_slow=time_left.describe_timeout()
                ) from None

    def _open(
        self,
        messages: tuple[Message, ...],
        sampling: Sampling,
        error_mapper: ErrorMapper,
        time_left: _TimeLeft,
        answer: ExitStack,
    ) -> httpx2.Response:
        """The response, once the endpoint accepts a request: with fewer parameters, or with another key."""
        import httpx2

        while True:
            key, body = self._keys.next(), self._body(messages, sampling)
            try:
                with deadline(time_left.until):
                    sent = _merge(self._with_reasoning(body), self._config.extra_body)
                    post = self._wire.post(self._client(key), sent, time_left.timeout())
                    response: httpx2.Response = answer.enter_context(post).http_response
            except (self._wire.sdk.APIError, httpx2.HTTPError) as error:
                is_answer = isinstance(error, self._wire.sdk.APIStatusError)
                self._reached = self._reached or is_answer
                if is_answer and self._drops(error, body):
                    continue
                fault = error_mapper.from_response(
                    error, reached=self._reached, too_slow=time_left.describe_timeout()
                )
                if fault.kind in {"auth", "quota"} and self._keys.reject(key):
                    continue
                raise fault from None
            self._reached = True
            return response

    def _body(self, messages: tuple[Message, ...], sampling: Sampling) -> dict[str, Any]:
        config = self._config
        filled = replace(
            sampling,
            temperature=config.temperature if sampling.temperature is None else sampling.temperature,
            max_tokens=sampling.max_tokens or config.max_tokens,
            stop=sampling.stop if config.stop else (),
        )
        streams = config.stream and "stream" not in self._unsupported
        own = tuple(self._without_foreign(message) for message in messages)
        return self._wire.body(CompletionRequest(own, filled, self._unsupported, streams))

    def _without_foreign(self, message: Message) -> Message:
        """The message without opaque content of another wire or model, which cannot be read here."""
        is_foreign = message.opaque is not None and message.opaque.source != self._source
        return replace(message, opaque=None) if is_foreign else message

    def _opaque(self, builder: ReplyBuilder) -> Opaque | None:
        content = self._wire.opaque(builder)
        return None if content is None else Opaque(self._source, json.dumps(content))

    def _drops(self, error: Any, body: Mapping[str, Any]) -> bool:
        """Whether the endpoint refuses a parameter that can be left out; from now on it is left out."""
        if error.status_code not in {400, 422}:
            return False
        sent = dict(self._wire.droppable(body))
        if self._reasoning and _REASONING not in self._unsupported:
            sent[_REASONING] = r"(?i)reasoning|thinking|effort|chat_template_kwargs"
        name = find_refused(*complaint(error), sent)
        if name is not None and self._unsupported.add(name) and name == _REASONING:
            _LOG.warning("%s does not take the reasoning setting; it is left out", self.name)
        return name is not None

    def _with_reasoning(self, body: dict[str, Any]) -> dict[str, Any]:
        return body if _REASONING in self._unsupported else _merge(body, self._reasoning)

    def _text(self, data: dict[str, Any], builder: ReplyBuilder, error_mapper: ErrorMapper) -> str:
        with _reading(error_mapper):
            text = builder.limit(self._wire.add(data, builder))
        if builder.failure is not None:
            raise error_mapper.of_body(builder.failure)
        return text

    def _build(
        self,
        builder: ReplyBuilder,
        cut: StopCutter,
        messages: Sequence[Message],
        sampling: Sampling,
        error_mapper: ErrorMapper,
    ) -> Reply:
        """The whole reply, which can go back. Raises ModelError."""
        with _reading(error_mapper):
            reply = reply_of(builder, cut, messages, sampling, error_mapper)
            reply = replace(reply, opaque=self._opaque(builder))
            turn = Message("assistant", (Text(reply.text), *reply.calls), opaque=reply.opaque)
            json.dumps(self._body((turn,), sampling), ensure_ascii=False).encode()
        return reply

    def _check_logprobs(self, sampling: Sampling, reply: Reply) -> None:
        if sampling.logprobs and not reply.logprobs and reply.finish != "refusal":
            self._unsupported.add("logprobs")
            if not self._misses_logprobs:
                self._misses_logprobs = True
                _LOG.warning("%s gives no log probabilities; replies come without them", self.name)

    def _client(self, key: str | None) -> Any:
        """Clients of all keys share one pool of connections."""
        with self._lock:
            if self._http_client is None:
                kind = self._wire.sdk.DefaultHttpxClient
                self._http_client = open_client(kind, trust_env=not is_local(self._config.address))
            if key not in self._clients:
                self._clients[key] = self._wire.client(key, self._http_client)
            return self._clients[key]


@contextmanager
def _reading(error_mapper: ErrorMapper) -> Iterator[None]:
    """Raises ModelError where the fields of a response are not what they should be."""
    try:
        yield
    except (TypeError, LookupError, AttributeError, ValueError, OverflowError):
        raise error_mapper.error("did not return a valid reply") from None


def _merge(body: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """The body with these fields set; objects inside of it keep their other fields."""
    merged = dict(body)
    for name, value in extra.items():
        own = merged.get(name)
        merged[name] = _merge(own, value) if isinstance(own, dict) and isinstance(value, dict) else value
    return merged


class _TimeLeft:
    """How long a response may be silent, and when it has to be complete."""

    def __init__(self, config: ModelConfig, sampling: Sampling) -> None:
        self._silence_s = config.timeout_s
        self._total_s = min(config.total_s, config.total_s if sampling.seconds is None else sampling.seconds)
        self.until = time.monotonic() + self._total_s

    def timeout(self) -> httpx2.Timeout:
        import httpx2

        silence_s = max(0.001, min(self._silence_s, self.until - time.monotonic()))
        return httpx2.Timeout(silence_s, connect=min(_CONNECT_S, silence_s))

    def describe_timeout(self) -> str:
        """The message for a response that did not come in time."""
        if time.monotonic() >= self.until - 0.001:
            return f"no whole reply within {self._total_s:g} s"
        return f"no answer within {self._silence_s:g} s"


def _objects(
    response: httpx2.Response, error_mapper: ErrorMapper, builder: ReplyBuilder
) -> Iterator[dict[str, Any]]:
    """The JSON objects of a response, streamed or in one piece. Raises ModelError for an error in them."""
    if "text/event-stream" in response.headers.get("content-type", ""):
        pieces = response.iter_bytes()
        yield from _stream_objects(pieces, error_mapper, builder)
        read_rest(response, pieces)
        return
    body = response.read()
    if body.lstrip().startswith((b"data:", b"event:")):  # a stream without its content type
        yield from _stream_objects([body], error_mapper, builder)
        return
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise error_mapper.error(f"did not answer with JSON ({error})") from None
    yield decode_body(text, error_mapper)


def _stream_objects(
    pieces: Iterable[bytes], error_mapper: ErrorMapper, builder: ReplyBuilder
) -> Iterator[dict[str, Any]]:
    events = parse_events(pieces)
    while (data := _next_event(events, error_mapper)) is not None:
        if data.startswith(DONE):
            builder.has_ended = True
            return
        yield decode_body(data, error_mapper)


def _next_event(events: Iterator[str], error_mapper: ErrorMapper) -> str | None:
    try:
        return next(events, None)
    except ValueError as error:
        raise error_mapper.error(f"did not return a valid reply ({error})") from None


class ApiKeys:
    """Several keys of one endpoint, used in turn. With no key at all, `None` is used. Shared by threads."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys: tuple[str | None, ...] = tuple(keys) or (None,)
        self._refused: set[str | None] = set()
        self._turn = 0
        self._lock = threading.Lock()

    def next(self) -> str | None:
        """The key for the next request."""
        with self._lock:
            usable = [key for key in self._keys if key not in self._refused]
            self._turn += 1
            return usable[self._turn % len(usable)]

    def reject(self, key: str | None) -> bool:
        """Stop using a key that was refused. Returns whether another is left; if none is, all are tried again."""
        with self._lock:
            self._refused.add(key)
            if len(self._refused) < len(self._keys):
                return True
            self._refused.clear()
            return False
