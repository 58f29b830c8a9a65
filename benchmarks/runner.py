"""The cost of the benchmark runner: time per sample, throughput by workers, memory over ten thousand samples.

    python -m benchmarks.runner [overhead|throughput|http|memory …] [--samples N]

overhead     one sample with one cell through the whole runner (a scripted model, a real kernel, a record on the disk),
             against a direct call of the sandbox with the same cell; goal: under 1.3 times. One worker, medians of
             alternating rounds.
throughput   records per second with 1, 4, 16 and 64 workers, and a model that takes 50 ms or no time; and the CPU time
             of this process for each record, which other work on the machine changes less. Nothing is deleted before
             all is measured: ext4 creates files slowly, for minutes, where many were deleted.
http         the same with 16 and 64 workers over HTTP, with the SDK of OpenAI: a server in another process answers in
             50 ms.
memory       resident memory of a separate process after 1,000 and after all samples (10,000).
"""

from __future__ import annotations

import argparse
import gc
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

from benchmarks.requests import Steady, run_server
from pyvision.bench.datasets.sources import SampleSource
from pyvision.bench.runner import run
from pyvision.bench.runner.answering import Finished
from pyvision.bench.runner.plan import Plan
from pyvision.bench.runner.progress import RunningTotals
from pyvision.bench.samples import Sample, Score
from pyvision.config.model_config import ModelConfig
from pyvision.models.factory import build
from pyvision.types import Message, Model, Reply, Sampling, Usage
from sandbox import Sandbox
from tests.doubles import png

CODE = "print(image_clue_0.size)"
CELL = f"I measure it.\n<code>\n```python\n{CODE}\n```\n"
ANSWER = "<answer>\n\\boxed{64}\n</answer>"
ROUNDS, OF_A_ROUND = 5, 12
MIB = 2**20


class Measuring:
    """A model that runs one cell, if asked in a loop, and then answers; each reply takes `seconds`."""

    name = "measuring"

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        if self._seconds:
            time.sleep(self._seconds)
        is_first = any(message.role == "system" for message in messages) and len(messages) == 2
        return Reply(CELL if is_first else ANSWER, Usage(100, 10))

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Reply]:
        yield self.complete(messages, sampling)


class Watch:
    """Records when each sample was written, and the memory after some of them."""

    def __init__(self, at: Sequence[int] = ()) -> None:
        self.seconds: list[float] = []
        self.resident: dict[int, int] = {}
        self._at = at

    def begin(self, folder: Path, totals: RunningTotals) -> None:
        self.seconds.append(time.perf_counter())

    def show(self, finished: Finished, score: Score, totals: RunningTotals) -> None:
        self.seconds.append(time.perf_counter())
        if totals.done in self._at:
            gc.collect()
            self.resident[totals.done] = resident_bytes()

    def tell(self, line: str) -> None:
        """Progress lines are ignored."""


def make_source(count: int) -> SampleSource:
    """A source of `count` generated samples."""

    def samples() -> Iterator[Sample]:
        photo = png(64, 48, "navy")
        for number in range(count):
            yield Sample(f"sample {number}", f"How wide is number {number}?", (photo,), "64")

    return SampleSource("made", {"kind": "made", "count": count}, samples, count, "text:exact")


def plan(folder: Path, count: int, strategy: str, model: Model, workers: int) -> Plan:
    settings = {"strategy": strategy, "model": model}
    return Plan(make_source(count), settings, workers=workers, folder=folder)


@contextmanager
def folder_on(parent: str | None = None) -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="runner-", dir=parent))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def through_the_runner(count: int) -> list[float]:
    """Seconds between one written sample and the next; the first, which starts the kernels' template, is left out."""
    watch = Watch()
    with folder_on() as folder:
        run.run(plan(folder, count + 1, "code_loop", Measuring(), 1), watch)
    moments = watch.seconds[1:]
    return [later - earlier for earlier, later in pairwise(moments)]


def by_the_sandbox(sandbox: Sandbox, photo: bytes, count: int) -> list[float]:
    found = []
    for _ in range(count):
        began = time.perf_counter()
        with sandbox.open({"image_clue_0": photo}) as session:
            session.run(CODE)
        found.append(time.perf_counter() - began)
    return found


def overhead() -> None:
    photo, runner_s, sandbox_s = png(64, 48, "navy"), [], []
    with Sandbox() as sandbox:
        by_the_sandbox(sandbox, photo, 1)
        for _ in range(ROUNDS):
            sandbox_s += by_the_sandbox(sandbox, photo, OF_A_ROUND)
            runner_s += through_the_runner(OF_A_ROUND)
    ours, bare = statistics.median(runner_s), statistics.median(sandbox_s)
    print(f"one sample with one cell, median of {len(runner_s)}")
    print(f"  the sandbox alone   {bare * 1000:7.1f} ms")
    print(f"  the whole runner    {ours * 1000:7.1f} ms    {ours / bare:.2f} times (goal: under 1.3)")


def throughput(samples: int) -> None:
    print(f"records a second and ms of CPU time for each, {samples} samples without cells")
    print("  workers   model of 50 ms        CPU   model of 0 ms        CPU")
    with folder_on() as folder:
        for workers in (1, 4, 16, 64):
            slow, slow_ms = rate(folder / f"slow {workers}", samples, Measuring(0.05), workers)
            fast, fast_ms = rate(folder / f"fast {workers}", samples, Measuring(), workers)
            print(
                f"  {workers:7}   {slow:14.1f}   {slow_ms:8.2f}   {fast:13.1f}   {fast_ms:8.2f}", flush=True
            )


def http(samples: int) -> None:
    print(f"records a second and ms of CPU time for each, {samples} samples without cells, over HTTP")
    print("  workers   replies in 50 ms        CPU")
    with folder_on() as folder, run_server(Steady([ANSWER], 0.05)) as base_url:
        config = ModelConfig("openai", model="m", base_url=base_url)
        for workers in (16, 64):
            with closing(build(config)) as model:
                found, found_ms = rate(folder / str(workers), samples, model, workers)
            print(f"  {workers:7}   {found:16.1f}   {found_ms:8.2f}", flush=True)


def rate(folder: Path, samples: int, model: Model, workers: int) -> tuple[float, float]:
    """Records a second, and CPU time for each in ms: medians of several runs."""
    rates, costs = [], []
    for number in range(ROUNDS):
        watch, began = Watch(), time.process_time()
        run.run(plan(folder / str(number), samples, "direct", model, workers), watch)
        costs.append((time.process_time() - began) * 1000 / samples)
        rates.append(samples / (watch.seconds[-1] - watch.seconds[0]))
    return statistics.median(rates), statistics.median(costs)


def memory(samples: int) -> None:
    at = tuple(sorted({samples // 10, samples // 2, samples}))
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_memory_of, args=(samples, at, sender))
    process.start()
    sender.close()  # so that a process that fails is noticed
    found: dict[int, int] = receiver.recv()
    process.join()
    print(f"resident memory, {samples:,} samples without cells")
    for count, size in found.items():
        print(f"  after {count:6,}   {size / MIB:7.1f} MiB")


def _memory_of(samples: int, at: Sequence[int], sender: object) -> None:
    """On a disk in memory where there is one: it is not the disk that is measured."""
    watch, shared = Watch(at), Path("/dev/shm")
    with folder_on(str(shared) if shared.is_dir() else None) as folder:
        run.run(plan(folder, samples, "direct", Measuring(), 4), watch)
    sender.send(watch.resident)  # type: ignore[attr-defined]


def resident_bytes() -> int:
    """What this process holds in memory (Linux)."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * 4096


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("parts", nargs="*", default=["overhead", "throughput", "http", "memory"])
    parser.add_argument("--samples", type=int, default=10_000, help="of the memory part")
    options = parser.parse_args()
    for part in options.parts:
        match part:
            case "overhead":
                overhead()
            case "throughput":
                throughput(400)
            case "http":
                http(400)
            case "memory":
                memory(options.samples)
            case _:
                parser.error(f"unknown part {part!r}; parts are overhead, throughput, http and memory")
    return 0


if __name__ == "__main__":
    sys.exit(main())
