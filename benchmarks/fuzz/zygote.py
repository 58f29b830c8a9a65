"""Fuzz what the host reads from its zygote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from random import Random

from benchmarks.fuzz.campaign import Read, Target
from sandbox.errors import KernelStartError
from sandbox.runtime.zygote import parse_answer

_VALUES: tuple[object, ...] = (
    "no such file",
    "",
    7,
    0,
    -1,
    2**70,
    1.5,
    None,
    True,
    [],
    {},
    [[]],
    {"failed": 1},
)


def _answer(random: Random) -> bytes:
    kind = random.choice(("object", "value", "deep"))
    if kind == "deep":
        depth = random.randrange(5_000)
        return b"[" * depth + b"]" * depth
    if kind == "value":
        return json.dumps(random.choice(_VALUES)).encode()
    return json.dumps({random.choice(("failed", "landlock", "x")): random.choice(_VALUES)}).encode()


@contextmanager
def _open() -> Iterator[Read]:
    def read(data: bytes) -> None:
        with suppress(KernelStartError):
            parse_answer(data)

    yield read


ZYGOTE = Target("zygote", _answer, _open)
