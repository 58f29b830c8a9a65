"""Run a target on many mutated inputs, measure time and memory, and collect the failing inputs."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TypeAlias

from benchmarks.processes import peak_mb, reset_peak, rss_mb

Read: TypeAlias = Callable[[bytes], None]
Mutation: TypeAlias = Callable[[bytes, bytes, Random], bytes]

_SLOW_S = 0.1
_GROWTH_MIB = 64
_WARM_UP = 200  # inputs before the measurement at most, for imports and allocations
_MAX_FAILURES = 20
_MAX_MUTATIONS = 6  # of one input
_MAX_BYTES = 300_000
_EDGES = (
    b"\0",
    b"\xff",
    b"\x7f",
    b"\x80",
    b"\0\0\0\0",
    b"\xff\xff\xff\xff",
    b"\x7f" + b"\xff" * 7,
    b"\xff" * 8,
)


@dataclass(frozen=True, slots=True)
class Target:
    """A host-side parser. generate: makes a well-formed input. open_reader: opens the parser; it must never raise."""

    name: str
    generate: Callable[[Random], bytes]
    open_reader: Callable[[], AbstractContextManager[Read]]


@dataclass(frozen=True, slots=True)
class Failure:
    """A failing input and the reason."""

    data: bytes
    reason: str

    def save(self, folder: Path) -> Path:
        """Write the input to the folder, named by its hash."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / hashlib.sha256(self.data).hexdigest()[:16]
        path.write_bytes(self.data)
        return path


@dataclass(frozen=True, slots=True)
class Report:
    """The results of one run."""

    inputs: int
    seconds: float
    slowest_s: float  # CPU time of one input
    growth_mib: float
    failures: tuple[Failure, ...]

    @property
    def passed(self) -> bool:
        return not self.failures and self.growth_mib <= _GROWTH_MIB


def inputs(target: Target, count: int, seed: int) -> Iterator[bytes]:
    """Reproducible inputs, four of five mutated."""
    random = Random(seed)
    for _ in range(count):
        data = target.generate(random)
        yield data if random.random() < 0.2 else mutate(data, target.generate(random), random)


def fuzz(target: Target, count: int, seed: int) -> Report:
    """Run the target on `count` inputs; stops early after many failures."""
    with target.open_reader() as read:
        return _measure(read, target, count, seed)


def _measure(read: Read, target: Target, count: int, seed: int) -> Report:
    for data in inputs(target, min(count, _WARM_UP), seed + 1):
        attempt(read, data)
    reset_peak()
    before, started = rss_mb(), time.monotonic()
    done, slowest, failures = 0, 0.0, []
    for data in inputs(target, count, seed):
        seconds, failure = attempt(read, data)
        done, slowest = done + 1, max(slowest, seconds)
        if failure is not None:
            failures.append(failure)
        if len(failures) >= _MAX_FAILURES:
            break
    return Report(done, time.monotonic() - started, slowest, peak_mb() - before, tuple(failures))


def attempt(read: Read, data: bytes) -> tuple[float, Failure | None]:
    """The CPU time of one input, and its failure, if any."""
    started = time.thread_time()
    try:
        read(data)
    except Exception as error:  # noqa: BLE001 - any exception is a finding
        return time.thread_time() - started, Failure(data, f"{type(error).__name__}: {error}"[:200])
    seconds = time.thread_time() - started
    return seconds, Failure(data, f"took {seconds * 1000:.0f} ms") if seconds > _SLOW_S else None


def mutate(data: bytes, other: bytes, random: Random) -> bytes:
    """`data` with some mutations, which may insert pieces of `other`."""
    for _ in range(random.randint(1, _MAX_MUTATIONS)):
        data = random.choice(_MUTATIONS)(data, other, random)[:_MAX_BYTES]
    return data


def _flip(data: bytes, other: bytes, random: Random) -> bytes:
    if not data:
        return data
    at = random.randrange(len(data))
    return data[:at] + bytes((data[at] ^ 1 << random.randrange(8),)) + data[at + 1 :]


def _overwrite(data: bytes, other: bytes, random: Random) -> bytes:
    at, edge = random.randint(0, len(data)), random.choice(_EDGES)
    return data[:at] + edge + data[at + len(edge) :]


def _insert(data: bytes, other: bytes, random: Random) -> bytes:
    at = random.randint(0, len(data))
    return data[:at] + random.randbytes(random.randint(1, 16)) + data[at:]


def _delete(data: bytes, other: bytes, random: Random) -> bytes:
    start, end = _piece(data, random)
    return data[:start] + data[end:]


def _repeat(data: bytes, other: bytes, random: Random) -> bytes:
    start, end = _piece(data, random)
    return data[:end] + data[start:end] * random.choice((1, 2, 10, 1000)) + data[end:]


def _splice(data: bytes, other: bytes, random: Random) -> bytes:
    start, end = _piece(other, random)
    at = random.randint(0, len(data))
    return data[:at] + other[start:end] + data[at:]


def _truncate(data: bytes, other: bytes, random: Random) -> bytes:
    return data[: random.randint(0, len(data))]


def _piece(data: bytes, random: Random) -> tuple[int, int]:
    start = random.randint(0, len(data))
    return start, min(len(data), start + random.choice((1, 2, 8, 64, 1024)))


_MUTATIONS: tuple[Mutation, ...] = (_flip, _overwrite, _insert, _delete, _repeat, _splice, _truncate)
