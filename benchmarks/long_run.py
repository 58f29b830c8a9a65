"""A benchmark of thousands of samples that is killed, meets faults and a full disk: is every sample there once?

    python -m benchmarks.long_run [--samples 10000] [--kills 10] [--rate 0.1] [--workers 16] [--engine threads]

A server on this machine answers; each request fails with the given probability. `bench run` is killed (SIGKILL) at
random moments, once runs out of disk (a limit on the size of its files), and is then repeated to its end. Its records
and its report have to equal those of a second experiment that is neither disturbed nor given faults. Whole
answers that the server gave more than once were paid for twice; those on their way at a kill cannot be avoided.
With `--engine ray`, the samples run on a cluster of two nodes on this machine, and one node is removed on the way.
The exit status is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pyvision.bench.store import DATABASE, Store
from tests.doubles import png
from tests.servers.conversation import Request
from tests.servers.faults import Fault, Rate
from tests.servers.server import ModelServer

_ROOT = Path(__file__).resolve().parent.parent
_FULL_DISK = 2  # the exit code of `bench run` for a folder that cannot be written
_DISK_BYTES = 200_000  # what the write-ahead log may hold before the disk is full


@dataclass(frozen=True, slots=True)
class Outcome:
    """lost, doubled: samples without a record, or with several. answers: the whole ones that the server gave."""

    samples: int
    kills: int
    lost: int
    doubled: int
    differing: int
    is_report_equal: bool
    is_disk_error_one_line: bool
    answers: int
    on_their_way: int
    seconds: float

    @property
    def redone(self) -> int:
        """Answers that were given more than once."""
        return self.answers - self.samples

    @property
    def is_right(self) -> bool:
        return (
            not (self.lost or self.doubled or self.differing)
            and self.is_report_equal
            and self.is_disk_error_one_line
        )


class Server:
    """Answers question N with the letter of N, and one in five wrongly; counts the whole answers to each."""

    def __init__(self, rate: float, seed: int) -> None:
        self.given: Counter[int] = Counter()
        self._rate = Rate(rate, seed)
        self._lock = threading.Lock()
        self._request = threading.local()  # a thread reads a request, and then answers it
        self._server = ModelServer(self._answer, weather=self._choose_fault)

    def _choose_fault(self, number: int) -> Fault | None:
        self._request.fault = self._rate(number)
        fault: Fault | None = self._request.fault
        return fault

    def _answer(self, request: Request) -> str:
        found = re.search(r"number (\d+)", "\n".join(turn.text for turn in request.turns))
        if found is None:  # the preflight check
            return "ready"
        number = int(found[1])
        with self._lock:
            self.given[number] += self._request.fault is None
        return f"\\boxed{{{'ABC'[(number + (number % 5 == 0)) % 3]}}}"

    @contextmanager
    def serve(self) -> Iterator[str]:
        with self._server as server:
            yield server.base_url


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.long_run")
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--rate", type=float, default=0.1, help="share of requests that fail (default 0.1)")
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", choices=["threads", "ray"], default="threads")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, _cluster(options.engine) as cluster:
        found = measure(Path(folder), options, cluster)
        print(table(found), flush=True)
    return int(not found.is_right)


def measure(folder: Path, options: argparse.Namespace, cluster: Any = None) -> Outcome:
    """Run the disturbed experiment and the undisturbed one in this folder, and compare them."""
    data = _write_samples(folder, options.samples)
    began = time.monotonic()
    server = Server(options.rate, options.seed)
    with server.serve() as address:
        command = _Command(data, folder / "disturbed", address, options.workers, options.engine)
        is_disk_error_one_line = _disturb(command, options, cluster)
        command.finish()
    seconds = time.monotonic() - began
    with Server(0.0, 0).serve() as address:
        _Command(data, folder / "whole", address, options.workers, "threads").finish()
    ours, whole = _contents(folder / "disturbed"), _contents(folder / "whole")
    counts = Counter(_keys(folder / "disturbed"))
    return Outcome(
        samples=options.samples,
        kills=options.kills,
        lost=len(whole.keys() - ours.keys()) + options.samples - len(whole),
        doubled=sum(count > 1 for count in counts.values()),
        differing=sum(ours[key] != whole[key] for key in ours.keys() & whole.keys()),
        is_report_equal=_report(folder / "disturbed") == _report(folder / "whole"),
        is_disk_error_one_line=is_disk_error_one_line,
        answers=sum(server.given.values()),
        on_their_way=options.workers * (options.kills + 1),
        seconds=seconds,
    )


def table(found: Outcome) -> str:
    """What was found, as lines."""
    return "\n".join(
        [
            f"{found.samples:,} samples, {found.kills} kills, 1 full disk, {found.seconds:.0f} s",
            f"  lost {found.lost}, recorded twice {found.doubled}, different {found.differing}",
            f"  report equal to that of an undisturbed run: {'yes' if found.is_report_equal else 'NO'}",
            f"  full disk: {'one line' if found.is_disk_error_one_line else 'NOT one line'}, nothing lost",
            f"  answers given more than once: {found.redone}, {found.redone / (found.kills + 1):.1f} per interruption "
            f"(up to {found.on_their_way} were on their way)",
        ]
    )


@dataclass(frozen=True, slots=True)
class _Command:
    """`bench run` of the same experiment, in a process of its own."""

    data: Path
    out: Path
    address: str
    workers: int
    engine: str

    def start(self, file_bytes: int | None = None) -> subprocess.Popen[str]:
        def limit() -> None:
            if file_bytes is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))

        return subprocess.Popen(
            [sys.executable, "-m", "pyvision", "bench", "run", str(self.data), *self._flags()],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=_ROOT,
            preexec_fn=limit if file_bytes is not None else None,  # noqa: PLW1509 - only where it is needed
        )

    def _flags(self) -> Iterator[str]:
        yield from ("--out", str(self.out), "--workers", str(self.workers), "--engine", self.engine, "--json")
        yield from ("--config", str(self._write_model()), "--strategy", "direct", "--metric", "choice:exact")

    def _write_model(self) -> Path:
        """The configuration of the model as a file, which every node can read."""
        preset = json.loads((_ROOT / "api_configs" / "vllm.json").read_text("utf-8"))
        path = self.out.with_suffix(".json")
        path.write_text(
            json.dumps(preset | {"model": "m", "base_url": self.address, "api_key": "any"}), "utf-8"
        )
        return path

    def finish(self) -> None:
        """Run it to its end; its output is one JSON object."""
        out, errors = self.start().communicate()
        if json.loads(out or "{}").get("done") is None:
            raise RuntimeError(f"the benchmark did not end: {errors[-2000:]}")

    def count(self) -> int:
        """The records so far."""
        return sum(1 for _ in _keys(self.out))


def _disturb(command: _Command, options: argparse.Namespace, cluster: Any) -> bool:
    """Kill the run, and let it run out of disk in the middle. Returns whether that was one line with its exit code."""
    chance = random.Random(options.seed)
    step = options.samples // (options.kills + 2)
    is_one_line = False
    for number in range(options.kills):
        if number == options.kills // 2:
            is_one_line = _fill_disk(command)
            if cluster is not None:
                cluster.remove_node(next(iter(cluster.worker_nodes)))
                cluster.add_node(num_cpus=1)
        process = command.start()
        at_least = command.count() + chance.randrange(1, 2 * step)
        while process.poll() is None and command.count() < min(at_least, options.samples - 1):
            time.sleep(0.05)
        time.sleep(chance.random() * 0.05)
        process.kill()
        process.communicate()
    return is_one_line


def _fill_disk(command: _Command) -> bool:
    """Run until a file has reached the limit, which Linux reports as it does a full disk."""
    process = command.start(_DISK_BYTES)
    _, errors = process.communicate()
    (*_, line) = errors.strip().splitlines() or [""]
    return process.returncode == _FULL_DISK and line.startswith("pyvision: ") and "room" in line


def _write_samples(folder: Path, count: int) -> Path:
    (folder / "photo.png").write_bytes(png(64, 48, "navy"))
    path = folder / "samples.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            sample = {
                "id": f"s{number}",
                "question": f"What is number {number}?",
                "images": ["photo.png"],
                "choices": ["one", "two", "three"],
                "target": "ABC"[number % 3],
                "category": "odd" if number % 2 else "even",
            }
            file.write(json.dumps(sample) + "\n")
    return path


def _keys(folder: Path) -> list[tuple[str, int]]:
    if not (folder / DATABASE).is_file():
        return []
    with closing(sqlite3.connect(f"file:{folder / DATABASE}?mode=ro", uri=True, timeout=60)) as database:
        return list(database.execute("SELECT sample_id, repeat FROM records WHERE end_reason = 'answered'"))


def _contents(folder: Path) -> Mapping[tuple[str, int], tuple[object, ...]]:
    """What two runs of one experiment have to agree on."""
    with Store(folder) as store:
        scores = store.scores()
        return {
            key: (record.answer, record.end_reason, record.category, record.turns, scores[key])
            for record in store.records()
            for key in [(record.sample_id, record.repeat)]
        }


def _report(folder: Path) -> dict[str, Any]:
    """The report without what it took: time and requests that were repeated."""
    command = [sys.executable, "-m", "pyvision", "bench", "report", str(folder), "--json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=_ROOT).stdout)
    return {key: value for key, value in report.items() if key in ("n", "accuracy", "categories", "unscored")}


@contextmanager
def _cluster(engine: str) -> Iterator[Any]:
    """Two nodes on this machine for the engine `ray`; None for threads."""
    if engine != "ray":
        yield None
        return
    cluster = import_module("ray.cluster_utils").Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        cluster.add_node(num_cpus=1)
        os.environ["RAY_ADDRESS"] = cluster.address
        yield cluster
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    sys.exit(main())
