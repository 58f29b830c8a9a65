"""A chat completions server on loopback that answers what it was told: for the wire and for whole runs."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer. `missing` bytes are promised in its length and never sent.

    It is sent after `hang_s`, and once `until` is set.
    """

    body: bytes | str | Mapping[str, Any] = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    hang_s: float = 0.0
    until: threading.Event | None = None
    missing: int = 0

    @property
    def bytes(self) -> bytes:
        match self.body:
            case bytes() as raw:
                return raw
            case str() as text:
                return text.encode()
            case mapping:
                return json.dumps(mapping).encode()


def completion(text: str | None, finish: str = "stop", **message: Any) -> Answer:
    """What an endpoint sends for one reply, with token counts in it."""
    reply = {"role": "assistant", "content": text, **message}
    choice = {"index": 0, "finish_reason": finish, "message": reply}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return Answer({"id": "c", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage})


def failure(status: int, message: str, headers: Mapping[str, str] | None = None, **error: str) -> Answer:
    """An error as OpenAI words it."""
    return Answer({"error": {"message": message, **error}}, status, headers or {})


class ChatServer:
    """Serves POST {base_url}/chat/completions from a list of answers, in turn; texts end at a stop string.

    Keeps the decoded `requests` and their `headers`, names in lower case.
    A request past the last answer gets a 400 that says so.
    """

    def __init__(self, answers: Sequence[str | Answer]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._answers = list(answers)
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = False  # server_close waits for them, so that no socket outlives a test
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def pictures(self, request: int) -> list[bytes]:
        """The files of all pictures in one request, in order, as the server received them."""
        parts = [part for message in self.requests[request]["messages"] for part in _parts(message)]
        urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
        return [base64.b64decode(url.partition(";base64,")[2], validate=True) for url in urls]

    def answer(self, path: str, request: dict[str, Any], headers: dict[str, str]) -> Answer:
        """The next answer to send; called by the handler."""
        with self._lock:
            self.requests.append(request)
            self.headers.append({name.lower(): value for name, value in headers.items()})
            turn = len(self.requests) - 1
        if not path.endswith("/v1/chat/completions"):  # a proxy is asked with the whole address
            return failure(404, f"no such path {path}")
        if turn >= len(self._answers):
            return failure(400, f"the test server holds {len(self._answers)} answers and was asked once more")
        match self._answers[turn]:
            case str() as text:
                return completion(_cut(text, request.get("stop") or []))
            case answer:
                self._closing.wait(answer.hang_s)
                if answer.until is not None:
                    answer.until.wait(60)
                return answer

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def _cut(text: str, stop: list[str]) -> str:
    return text[: min((text.find(string) for string in stop if string in text), default=len(text))]


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = server.answer(self.path, request, dict(self.headers))
            try:
                self.send_response(answer.status)
                self.send_header("Content-Length", str(len(answer.bytes) + answer.missing))
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.bytes)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client gave up waiting, as some tests want it to

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - as in the base class
            """Say nothing: tests read standard error."""

    return Handler
