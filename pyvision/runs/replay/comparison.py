"""Compares two results of a cell: status, output text in order, exception, the pixels of every figure.

Not compared: seconds, tracebacks, and addresses in a text (`<object at 0x7f…>`), which differ between processes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from pyvision.errors import ImageError
from pyvision.types import Picture
from sandbox import CellResult, Figure, Omitted, Stream

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
_QUOTED_CHARS = 120


@dataclass(frozen=True, slots=True)
class CellDifference:
    """The first difference between two results of a cell: what differs, before and now."""

    what: str
    recorded: str
    now: str

    def __str__(self) -> str:
        return f"{self.what}: recorded {self.recorded}, now {self.now}"


def difference(recorded: CellResult, now: CellResult) -> CellDifference | None:
    """The first difference between two results, or None."""
    return next(_differences(recorded, now), None)


def _differences(recorded: CellResult, now: CellResult) -> Iterator[CellDifference]:
    if recorded.status != now.status:
        yield CellDifference("status", recorded.status, now.status)
    for name in ("stdout", "stderr", "result"):
        yield from _text(name, _stream_text(recorded, name), _stream_text(now, name))
    if _exception(recorded) != _exception(now):
        yield CellDifference("exception", _quote(_exception(recorded)), _quote(_exception(now)))
    yield from _figures(recorded.figures, now.figures)
    if recorded.state != now.state:
        yield CellDifference("variables", recorded.state, now.state)


def _stream_text(result: CellResult, name: str) -> str:
    """The text of one stream; omitted output only equals omitted output."""
    texts = [
        output.text if isinstance(output, Stream) else "[omitted]\n"
        for output in result.outputs
        if isinstance(output, Omitted) or (isinstance(output, Stream) and output.name == name)
    ]
    return _ADDRESS.sub("0x…", "".join(texts))


def _text(name: str, recorded: str, now: str) -> Iterator[CellDifference]:
    lines = zip_longest(recorded.splitlines(), now.splitlines())
    for number, (before, after) in enumerate(lines, start=1):
        if before != after:
            yield CellDifference(f"{name}, line {number}", _quote(before), _quote(after))


def _exception(result: CellResult) -> str | None:
    error = result.error
    return (
        _ADDRESS.sub("0x…", f"{error.name}: {error.message}") if error and result.status == "error" else None
    )


def _figures(recorded: tuple[Figure, ...], now: tuple[Figure, ...]) -> Iterator[CellDifference]:
    if len(recorded) != len(now):
        yield CellDifference("figures", str(len(recorded)), str(len(now)))
    for number, (before, after) in enumerate(zip(recorded, now, strict=False), start=1):
        yield from _pixels(f"figure {number}", before, after)


def _pixels(name: str, recorded: Figure, now: Figure) -> Iterator[CellDifference]:
    if recorded.data == now.data:
        return
    if (recorded.width, recorded.height) != (now.width, now.height):
        yield CellDifference(
            f"{name}, size", f"{recorded.width}x{recorded.height}", f"{now.width}x{now.height}"
        )
        return
    before, after = _read(recorded), _read(now)
    if before is None or after is None:
        yield CellDifference(
            name, *("not an image" if each is None else "an image" for each in (before, after))
        )
        return
    yield from _first_pixel(name, before, after)


def _first_pixel(name: str, before: NDArray[np.uint8], after: NDArray[np.uint8]) -> Iterator[CellDifference]:
    import numpy as np

    places = np.argwhere((before != after).any(axis=-1))
    if len(places):
        y, x = (int(value) for value in places[0])
        what = f"{name}, {len(places):,} of {before.shape[0] * before.shape[1]:,} pixels, the first at ({x}, {y})"
        yield CellDifference(what, str(tuple(before[y, x].tolist())), str(tuple(after[y, x].tolist())))


def _read(figure: Figure) -> NDArray[np.uint8] | None:
    from pyvision.runs.report.crops import pixels_of

    try:
        return pixels_of(Picture(figure.data, figure.mime, figure.width, figure.height))
    except ImageError:
        return None


def _quote(text: str | None) -> str:
    if text is None:
        return "nothing"
    return repr(text if len(text) <= _QUOTED_CHARS else f"{text[:_QUOTED_CHARS]}…")
