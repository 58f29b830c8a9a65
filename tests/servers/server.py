"""A model server on loopback that speaks five wires, with faults and missing capabilities on demand."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from tests.servers.capabilities import CLEAN, Capabilities
from tests.servers.completions import Completions
from tests.servers.conversation import Brain, Failure, Request, Script, ServedReply, Wire, WireName, end_reply
from tests.servers.delivery import Listener
from tests.servers.faults import Fault, Weather, fair
from tests.servers.gemini import Gemini
from tests.servers.interactions import Interactions
from tests.servers.messages import Messages
from tests.servers.responses import Responses
from tests.servers.strict import Strictness

WIRES: Mapping[WireName, Wire] = {
    "completions": Completions(),
    "responses": Responses(),
    "messages": Messages(),
    "gemini": Gemini(),
    "interactions": Interactions(),
}
_NO_FAULT = Fault()


class ModelServer:
    """Serves chat completions, responses and messages below /v1, both APIs of Gemini anywhere.

    Every request is kept in `requests`.

    brain: what answers, or the texts it says in turn. can: what the endpoint accepts and sees. weather: which
    request meets which fault. strict: the rules for tool calls; None: none. models: what a GET is answered with.
    The n-th request that a fault befalls never reaches the brain.
    """

    def __init__(
        self,
        brain: Brain | Sequence[str | ServedReply],
        *,
        can: Capabilities = CLEAN,
        weather: Weather = fair,
        sent: Callable[[bytes], None] = lambda piece: None,
        models: object = None,
        strict: Strictness | None = None,
        fault_of_get: Fault = _NO_FAULT,
    ) -> None:
        self.requests: list[Request] = []
        self.connection_count = 0  # opened so far
        self.cut_short = 0  # answers the client did not read to their end
        self.asked: list[tuple[str, Mapping[str, str]]] = []  # path and headers of each GET
        self.models = models or {"object": "list", "data": [{"id": "m", "object": "model"}]}
        self.fault_of_get = fault_of_get
        self._brain = brain if callable(brain) else Script(list(brain))
        self._can = can
        self._strict = strict
        self._weather = weather
        self.sent = sent
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._prefixes: set[tuple[object, ...]] = set()
        self._connections: set[socket.socket] = set()
        self._server = Listener(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def root_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def base_url(self) -> str:
        return f"{self.root_url}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        with self._lock:
            open_still = list(self._connections)
        for connection in open_still:
            _shut(connection)
        self._server.server_close()

    # what follows is called by the handler, from many threads

    def take(self, path: str, headers: Mapping[str, str], raw: bytes) -> tuple[Wire, Request, Fault] | None:
        """Read a request, keep it, and say which fault befalls it; None for a path that is no wire's."""
        place = path.partition("?")[0].replace(":streamGenerateContent", ":generateContent")
        name = next((name for name, wire in WIRES.items() if place.endswith(wire.path)), None)
        if name is None:
            return None
        wire, body = WIRES[name], json.loads(raw)
        lower = {key.lower(): value for key, value in headers.items()}
        request = Request(name, path, lower, body, len(raw), **wire.read(body))
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
        return wire, request, self._weather(number) or _NO_FAULT

    def answer(self, request: Request) -> ServedReply | Failure:
        """What the model says, cut as the request and the endpoint's capabilities wish."""
        can = self._can
        refusal = can.refusal(request) or (self._strict.check(request) if self._strict else None)
        if refusal is not None:
            return refusal
        seen = self._brain(can.seen(request))
        reply = seen if isinstance(seen, ServedReply) else ServedReply(seen)
        reply = end_reply(
            reply, request, stops=can.honours_stop, keeps_stop=can.keeps_stop, limits=can.honours_limit
        )
        if self._strict:
            self._strict.remember(request, reply)
        total = sum(turn.tokens for turn in request.turns)
        return replace(
            reply,
            logprobs=reply.logprobs and can.gives_logprobs,
            input_tokens=total,
            cached_tokens=self._cached(request),
        )

    def streams(self, request: Request) -> bool:
        return request.streams and self._can.streams

    @property
    def is_closing(self) -> bool:
        return self._closing.is_set()

    def wait(self, seconds: float) -> None:
        """Sleep, but no longer than the server lives."""
        self._closing.wait(seconds)

    def opened(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.add(connection)
            self.connection_count += 1

    def closed(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.discard(connection)

    def left(self) -> None:
        """A client went away in the middle of an answer."""
        with self._lock:
            self.cut_short += 1

    def _cached(self, request: Request) -> int:
        """Tokens of the longest run of first turns that some earlier request began with as well."""
        prefixes = [tuple(request.turns[:length]) for length in range(1, len(request.turns) + 1)]
        with self._lock:
            known = [prefix for prefix in prefixes if prefix in self._prefixes]
            self._prefixes.update(prefixes)
        return sum(turn.tokens for turn in known[-1]) if known else 0


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it is closed already
