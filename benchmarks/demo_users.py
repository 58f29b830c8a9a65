"""Twenty people at the web demo at once: how soon each sees something, and what each costs in memory.

Each is a client of gradio's own in a thread, with a conversation and so a kernel of its own; the model is `offline`, so
what is measured is the demo. All of them ask at the same moment. Run: python -m benchmarks.demo_users [--users 20]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from threading import Barrier
from typing import Any

from benchmarks.processes import descendants, pss_mb

_PICTURE = Path(__file__).resolve().parent.parent / "examples" / "circles.png"
_QUESTION = "How many circles are in the image?"
_LONG_S = 300.0
_LOOK_S = 0.005


@dataclass(frozen=True, slots=True)
class Visit:
    """What one person saw. Seconds from sending: to a place in the queue or the first progress, to the answer."""

    answered: bool
    first_s: float
    whole_s: float


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.demo_users", description=__doc__)
    parser.add_argument("--users", type=int, default=20, metavar="N")
    parser.add_argument(
        "--at-once", type=int, default=4, metavar="N", help="questions answered at the same time"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    measured = measure(options.users, options.at_once)
    if options.json:
        print(json.dumps(measured))
        return 0
    alone, crowd = measured["alone"], measured["visits"]
    print(
        f"alone: first progress after {alone['first_s'] * 1e3:.0f} ms, the answer after {alone['whole_s']:.2f} s"
    )
    first = sorted(visit["first_s"] for visit in crowd)
    whole = sorted(visit["whole_s"] for visit in crowd)
    print(f"{len(crowd)} at once, {sum(visit['answered'] for visit in crowd)} answered")
    print(f"  first progress: median {median(first) * 1e3:.0f} ms, longest {first[-1] * 1e3:.0f} ms")
    print(f"  the answer:     median {median(whole):.2f} s, longest {whole[-1]:.2f} s")
    print(
        f"  memory: {measured['idle_mib']:.0f} MiB before, {measured['per_user_mib']:.1f} MiB more for each (PSS)"
    )
    return 0 if all(visit["answered"] for visit in crowd) else 1


def measure(users: int, at_once: int) -> dict[str, Any]:
    """Serve a demo, let one person ask, then all of them."""
    with tempfile.TemporaryDirectory() as folder:
        flags = ("--model", "offline", "--port", "0", "--out", folder, "--at-once", str(at_once))
        command = [sys.executable, "-m", "pyvision", "demo", *flags]
        environment = {**os.environ, "GRADIO_TEMP_DIR": f"{folder}/uploads"}
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
        ) as server:
            assert server.stdout is not None
            try:
                return _measured(server.stdout.readline().strip(), users)
            finally:
                server.terminate()


def _measured(url: str, users: int) -> dict[str, Any]:
    _visit(_client(url), Barrier(1))  # what is loaded with the first question
    alone = _visit(_client(url), Barrier(1))
    clients = [_client(url) for _ in range(users)]
    before = pss_mb(descendants())
    start = Barrier(users)
    with ThreadPoolExecutor(users) as threads:
        visits = list(threads.map(lambda client: _visit(client, start), clients))
    grown = pss_mb(descendants()) - before
    return {
        "alone": asdict(alone),
        "visits": [asdict(visit) for visit in visits],
        "idle_mib": before,
        "per_user_mib": grown / users,
    }


def _client(url: str) -> Any:
    from gradio_client import Client

    return Client(url, verbose=False)


def _visit(client: Any, start: Barrier) -> Visit:
    from gradio_client import handle_file

    message = {"text": _QUESTION, "files": [handle_file(str(_PICTURE))]}
    start.wait()
    began = time.monotonic()
    job = client.submit(message, "code_loop", "offline", "", 20, api_name="/ask")
    first = _first(job, began)
    shown = job.result(timeout=_LONG_S)
    return Visit('class="answer"' in shown[0], first, time.monotonic() - began)


def _first(job: Any, began: float) -> float:
    """Until there was something to see: a place in the queue, or the question under way."""
    while job.status().rank is None and not job.outputs() and not job.done():
        time.sleep(_LOOK_S)
    return time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
