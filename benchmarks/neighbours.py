"""Run half of the sessions with hostile code, and measure the effect on the others.

    python -m benchmarks.neighbours [--sessions 20] [--minutes 10] [--seed 0]

Each well-behaved session increments a variable and crops an image once a second; every result is checked. Their
latency is measured in alternating phases: the other half is idle, then hostile. The hostile half runs the programs of
benchmarks/soak, and loops that keep a core busy during a cell and after it.
The exit status is 1 if a result was wrong or lost.
"""

from __future__ import annotations

import argparse
import io
import random
import statistics
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from PIL import Image

from benchmarks.sandbox.measure import percentile_95
from benchmarks.soak.work import HOSTILE_PROGRAMS
from sandbox import CellResult, Policy, Sandbox, Session

_PHASE_S = 30.0
_PAUSE_S = 1.0
_LIMIT_S = 5.0
_LOOPS = {
    "busy loop": "while True: pass",
    "busy children": "import os\nfor _ in range(3):\n    os.fork()\nwhile True: pass",
    "busy after its end": "import os\nif os.fork() == 0:\n    os.setsid()\n    while True: pass",
    "busy threads": "import hashlib, threading\n"
    "for _ in range(8):\n"
    "    threading.Thread(target=lambda: [hashlib.sha256(bytes(10**8)) for _ in range(50)], daemon=True).start()",
}
_HOSTILE = tuple((HOSTILE_PROGRAMS | _LOOPS).values())
_WORK = """
count += 1
part = image_clue_0.crop((100 + count % 50, 100, 400, 300)).resize((600, 400))
print(count, np.asarray(part).shape)
"""


def photo() -> bytes:
    """A JPEG file of 1200 x 800 pixels."""
    sink = io.BytesIO()
    Image.effect_noise((1200, 800), 60).convert("RGB").save(sink, "JPEG")
    return sink.getvalue()


class Neighbour:
    """One well-behaved session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._count = 0
        self.wrong: list[str] = []
        session.run("count = 0")
        self.work()

    def work(self) -> float:
        """Run one cell and check its result; returns the latency in milliseconds."""
        self._count += 1
        started = time.perf_counter()
        result = self._session.run(_WORK)
        latency = (time.perf_counter() - started) * 1000
        if result.text != f"{self._count} (400, 600, 3)\n":
            self.wrong.append(_describe(result))
        return latency


def measure(neighbours: list[Neighbour], seconds: float, chance: random.Random) -> list[float]:
    """The latencies of all sessions during this time."""
    pauses = [chance.uniform(0.8, 1.2) * _PAUSE_S for _ in neighbours]
    end = time.monotonic() + seconds

    def run(neighbour: Neighbour, pause_s: float) -> list[float]:
        latencies = []
        while time.monotonic() < end:
            time.sleep(pause_s)
            latencies.append(neighbour.work())
        return latencies

    with ThreadPoolExecutor(len(neighbours)) as threads:
        return [each for latencies in threads.map(run, neighbours, pauses) for each in latencies]


def attack(session: Session, over: threading.Event, chance: random.Random) -> None:
    """Run hostile cells one after another."""
    while not over.is_set():
        session.run(chance.choice(_HOSTILE))


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.neighbours", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--sessions", type=int, default=20, metavar="N")
    parser.add_argument("--minutes", type=float, default=10.0, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    options = parser.parse_args()
    chance, half = random.Random(options.seed), options.sessions // 2
    calm: list[float] = []
    under_attack: list[float] = []
    with Sandbox(Policy(cell_timeout_s=_LIMIT_S, interrupt_grace_s=0.5)) as sandbox, ExitStack() as stack:
        image = photo()
        neighbours = [
            Neighbour(stack.enter_context(sandbox.open({"image_clue_0": image})))
            for _ in range(options.sessions - half)
        ]
        end = time.monotonic() + options.minutes * 60
        while time.monotonic() < end:
            calm += measure(neighbours, _PHASE_S, chance)
            over = threading.Event()
            with ExitStack() as hostile, ThreadPoolExecutor(half) as threads:
                for _ in range(half):
                    session = hostile.enter_context(sandbox.open())
                    threads.submit(attack, session, over, random.Random(chance.random()))
                try:
                    under_attack += measure(neighbours, _PHASE_S, chance)
                finally:
                    over.set()
        wrong = [each for neighbour in neighbours for each in neighbour.wrong]
    return report(calm, under_attack, wrong)


def report(calm: list[float], under_attack: list[float], wrong: list[str]) -> int:
    """Print both latencies and their ratio; returns the exit status."""
    print(f"{'latency of a cell, ms':24}{'median':>10}{'95 %':>10}{'cells':>8}")
    for name, latencies in (("others idle", calm), ("others hostile", under_attack)):
        print(
            f"{name:24}{statistics.median(latencies):>10.1f}{percentile_95(latencies):>10.1f}{len(latencies):>8}"
        )
    ratio = statistics.median(under_attack) / statistics.median(calm)
    print(f"ratio of the medians: {ratio:.2f}; wrong or lost results: {len(wrong)}")
    for each in wrong[:10]:
        print(f"  {each}")
    return 1 if wrong else 0


def _describe(result: CellResult) -> str:
    error = f"{result.error.name}: {result.error.message}" if result.error else "no error"
    return f"{result.status}, printed {result.text[:60]!r}, {error[:200]}"


if __name__ == "__main__":
    sys.exit(main())
