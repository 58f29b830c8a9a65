"""Run questions against an endpoint that fails at random: how each ends, and what it costs.

python -m benchmarks.endpoint_faults [--questions 200] [--rate 0.3] [--seed 0] [--at-once 4] [--wire completions]

Each question has a small image; the model behind the server runs one cell, which prints a number from the image, and
answers with it. Every request fails with the given probability: busy, server error, truncated, reset, or an invalid
response with status 200. A question is lost if it ends without an answer or an end reason. The exit status is 1 if any
is lost.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from pyvision.errors import EndReason
from pyvision.events import Event, RunEnded
from pyvision.models.factory import build
from pyvision.solve import prepare, solve
from sandbox import Sandbox
from tests.servers.conversation import Request
from tests.servers.faults import Rate
from tests.servers.server import ModelServer
from tests.servers.wires import WIRES, configured

_CELL = (
    "I read the pixel.\n<code>\n```python\nprint('pixel', image_clue_0.getpixel((0, 0))[0])\n```\n</code>\n"
)


@dataclass(frozen=True, slots=True)
class Result:
    """How one question ended; `right` when its answer is what the picture holds."""

    end_reason: str
    right: bool
    has_events: bool
    seconds: float


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.endpoint_faults")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--rate", type=float, default=0.3, help="share of requests that fail (default 0.3)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--wire", choices=list(WIRES), default="completions")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    weather = Rate(options.rate, options.seed)
    with ModelServer(_brain, weather=weather) as server:
        results = _answer(server, options.wire, options.questions, options.at_once)
        requests = len(server.requests)
    fallen = sum(weather(number) is not None for number in range(requests))
    print(table(results, requests, fallen, time.monotonic() - began))
    return int(any(is_lost(result) for result in results))


def is_lost(result: Result) -> bool:
    """No answer and no name for why, or a run whose events do not end."""
    return result.end_reason not in get_args(EndReason) or not result.has_events


def table(results: Sequence[Result], requests: int, fallen: int, seconds: float) -> str:
    """Questions by how they ended, then what it took."""
    ends = Counter(result.end_reason for result in results)
    rows = [f"{reason:24}{count:7}{count / len(results):9.1%}" for reason, count in ends.most_common()]
    right, lost = sum(result.right for result in results), sum(map(is_lost, results))
    slowest = max(result.seconds for result in results)
    return "\n".join(
        [
            f"{'ended with':24}{'n':>7}{'share':>9}",
            *rows,
            f"{'all':24}{len(results):7}",
            f"{right} answers are right, {lost} questions are lost",
            f"{requests} requests, of which {fallen} failed ({fallen / requests:.1%}); "
            f"{requests / len(results):.2f} for each question, 2 without faults",
            f"{seconds:.0f} s in all, {slowest:.1f} s for the slowest question",
        ]
    )


def _answer(server: ModelServer, wire: str, questions: int, at_once: int) -> list[Result]:
    settings = configured(wire, server, timeout_s=10.0, retry_s=120.0)
    with (
        closing(build(settings)) as model,
        tempfile.TemporaryDirectory() as folder,
        Sandbox() as sandbox,
        ThreadPoolExecutor(at_once) as threads,
    ):

        def one(number: int) -> Result:
            value = random.Random(number).randrange(1, 256)
            return _ask(_photo(Path(folder), number, value), value, model, sandbox)

        return list(threads.map(one, range(questions)))


def _ask(photo: Path, value: int, model: object, sandbox: Sandbox) -> Result:
    events: list[Event] = []
    began = time.monotonic()
    task = prepare("How bright is the first pixel?", [photo], model=model)  # type: ignore[arg-type]
    try:
        outcome = solve(task, events.append, sandbox)
    except Exception as error:  # noqa: BLE001 - a question that raises is what this benchmark is to find
        print(f"{photo.name}: {type(error).__name__}: {error}", file=sys.stderr)
        return Result(type(error).__name__, right=False, has_events=False, seconds=time.monotonic() - began)
    ended = bool(events) and isinstance(events[-1], RunEnded)
    seconds = time.monotonic() - began
    return Result(outcome.end_reason, outcome.answer == str(value), ended, seconds)


def _photo(folder: Path, number: int, value: int) -> Path:
    from PIL import Image

    path = folder / f"{number:03}.png"
    Image.new("RGB", (64, 48), (value, 0, 0)).save(path)
    return path


def _brain(request: Request) -> str:
    """A cell first, then the number that the cell printed."""
    printed = re.search(r"pixel (\d+)", request.turns[-1].text)
    return f"<answer>\\boxed{{{printed[1]}}}</answer>" if printed else _CELL


if __name__ == "__main__":
    sys.exit(main())
