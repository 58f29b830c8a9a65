"""Break bytes in the ways that parsers stumble over."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeAlias

Mutation: TypeAlias = Callable[[bytes, bytes, Random], bytes]

_MOST = 6  # mutations of one input
_LARGEST = 300_000
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


def mutated(data: bytes, other: bytes, random: Random) -> bytes:
    """`data` with some mutations, one of which may take a piece of `other`."""
    for _ in range(random.randint(1, _MOST)):
        data = random.choice(_MUTATIONS)(data, other, random)[:_LARGEST]
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
