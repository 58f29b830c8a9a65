"""Twenty concurrent users of the web demo: the response times and the memory of each.

Each user is a thread that sends the requests of the page in a browser, with a separate conversation and kernel; the
model is `offline`, so that only the demo is measured. All users upload an image and ask at the same moment. Not
covered: the work of the browser. Gradio's Python client is used only once: it creates three TLS contexts for
each question, a quarter of a second of CPU time, which would dominate the result.
Run: python -m benchmarks.demo.users [--users 20]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from statistics import median
from threading import Barrier
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from benchmarks.processes import descendants, pss_mb

_PICTURE = Path(__file__).resolve().parent.parent / "examples" / "circles.png"
_QUESTION = "How many circles are in the image?"
_CHOSEN = ("code_loop", "offline")
_API = "/gradio_api"
_ANSWER = b"Answer: "  # in the last message
_LONG_S = 300.0
_LOOK_S = 0.005


@dataclass(frozen=True, slots=True)
class UserTimes:
    """What one person saw, in seconds from sending:
    a place in the queue, their question in the conversation, the answer.
    """

    answered: bool
    queue_s: float
    talk_s: float
    whole_s: float


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.demo.users", description=__doc__)
    parser.add_argument("--users", type=int, default=20, metavar="N")
    parser.add_argument(
        "--at-once", type=int, default=4, metavar="N", help="questions answered at the same time"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with run_demo(options.at_once) as url:
        measured = measure(url, options.users)
    print(json.dumps(measured) if options.json else format_table(measured))
    return 0 if all(visit["answered"] for visit in measured["visits"]) else 1


def format_table(measured: dict[str, Any]) -> str:
    """The results as text."""
    alone, crowd = measured["alone"], measured["visits"]
    lines = [
        f"alone: in the queue after {_ms(alone['queue_s'])}, in the conversation after {_ms(alone['talk_s'])}, "
        f"the answer after {alone['whole_s']:.2f} s",
        f"alone, by gradio's client: first progress after {_ms(measured['client_s'])}",
        f"{len(crowd)} at once, {sum(visit['answered'] for visit in crowd)} answered; median and longest:",
    ]
    for name, key in (
        ("place in the queue", "queue_s"),
        ("question in the conversation", "talk_s"),
        ("answer", "whole_s"),
    ):
        seconds = sorted(visit[key] for visit in crowd)
        lines.append(f"  {name:21} {median(seconds):6.2f} s {seconds[-1]:6.2f} s")
    lines.append(
        f"  memory: {measured['idle_mib']:.0f} MiB before, {measured['per_user_mib']:.1f} MiB each (PSS)"
    )
    return "\n".join(lines)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms"


@contextmanager
def run_demo(at_once: int) -> Iterator[str]:
    """The address of a demo in another process."""
    with tempfile.TemporaryDirectory() as folder:
        flags = ("--model", "offline", "--port", "0", "--out", folder, "--at-once", str(at_once))
        command = [sys.executable, "-m", "pyvision", "demo", *flags]
        environment = {**os.environ, "GRADIO_TEMP_DIR": f"{folder}/uploads"}
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
        ) as server:
            assert server.stdout is not None
            try:
                yield server.stdout.readline().strip()
            finally:
                server.terminate()


def measure(url: str, users: int) -> dict[str, Any]:
    """Measure one user, then gradio's client, then all users."""
    _visit(url, Barrier(1))  # loads what the first question needs
    alone = _visit(url, Barrier(1))
    client_s = _first_progress_by_client(url)
    before = pss_mb(descendants())
    start = Barrier(users)
    with ThreadPoolExecutor(users) as threads:
        visits = list(threads.map(lambda _: _visit(url, start), range(users)))
    grown = pss_mb(descendants()) - before
    return {
        "alone": asdict(alone),
        "client_s": client_s,
        "visits": [asdict(visit) for visit in visits],
        "idle_mib": before,
        "per_user_mib": grown / users,
    }


def _visit(url: str, start: Barrier) -> UserTimes:
    session = uuid4().hex
    with closing(HTTPConnection(urlsplit(url).netloc, timeout=_LONG_S)) as connection:
        function = _function(connection)  # known as soon as the page is open
        start.wait()
        began = time.monotonic()
        body = {
            "data": [_QUESTION, [_upload(connection)], *_CHOSEN],
            "fn_index": function,
            "session_hash": session,
        }
        _ask(connection, "POST", f"{_API}/queue/join", json.dumps(body).encode(), "application/json").read()
        seen: dict[str, float] = {}
        last = b""
        for kind, message in _messages(_ask(connection, "GET", f"{_API}/queue/data?session_hash={session}")):
            seen.setdefault(kind, time.monotonic() - began)
            last = message
    return UserTimes(
        _ANSWER in last, seen["estimation"], seen["process_generating"], seen["process_completed"]
    )


def _function(connection: HTTPConnection) -> int:
    """The number of the function that asks a question."""
    page = json.load(_ask(connection, "GET", "/config"))
    return next(int(each["id"]) for each in page["dependencies"] if each["api_name"] == "ask")


def _upload(connection: HTTPConnection) -> dict[str, Any]:
    """Upload the image; returns its reference for a question."""
    head = f'--END\r\nContent-Disposition: form-data; name="files"; filename="{_PICTURE.name}"\r\n\r\n'
    body = head.encode() + _PICTURE.read_bytes() + b"\r\n--END--\r\n"
    paths = json.load(_ask(connection, "POST", f"{_API}/upload", body, "multipart/form-data; boundary=END"))
    return {"path": paths[0], "orig_name": _PICTURE.name, "meta": {"_type": "gradio.FileData"}}


def _ask(
    connection: HTTPConnection, method: str, path: str, body: bytes | None = None, kind: str = "text/plain"
) -> HTTPResponse:
    connection.request(method, path, body, {"Content-Type": kind})
    return connection.getresponse()


def _messages(response: HTTPResponse) -> Iterator[tuple[str, bytes]]:
    """What gradio sends of a question, up to its end: the kind of each message, and all of it."""
    while line := response.readline():
        if line.startswith(b"data:"):
            kind = json.loads(line[5:])["msg"]
            yield kind, line
            if kind == "process_completed":
                return


def _first_progress_by_client(url: str) -> float:
    """Until a client for Python has a place in the queue or the question under way."""
    from gradio_client import Client, handle_file

    client = Client(url, verbose=False)
    images = [handle_file(str(_PICTURE))]
    began = time.monotonic()
    job = client.submit(_QUESTION, images, *_CHOSEN, api_name="/ask")
    while job.status().rank is None and not job.outputs() and not job.done():
        time.sleep(_LOOK_S)
    seconds = time.monotonic() - began
    job.result(timeout=_LONG_S)
    return seconds


if __name__ == "__main__":
    sys.exit(main())
