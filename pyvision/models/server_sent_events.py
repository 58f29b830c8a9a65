"""Server-sent events: the JSON objects in the bytes of a stream.

Lines end at CR, LF or both, and at nothing else: JSON may hold U+2028 and its like unescaped. Comments (`:`) and
the names of events are passed over; every wire says the kind inside its JSON too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

DONE = "[DONE]"


def events(pieces: Iterable[bytes]) -> Iterator[str]:
    """The data of each event, as text. One that the stream breaks off in is left out."""
    data: list[bytes] = []
    for line in _lines(pieces):
        if not line:
            if data:
                yield b"\n".join(data).decode("utf-8", "replace")
            data = []
        elif line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    waiting: list[bytes] = []
    after_cr = False
    for piece in pieces:
        text = piece[1:] if after_cr and piece.startswith(b"\n") else piece
        after_cr = piece.endswith(b"\r") if piece else after_cr
        *complete, last = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in complete:
            yield b"".join((*waiting, line))
            waiting = []
        waiting.append(last)
    if rest := b"".join(waiting):
        yield rest
