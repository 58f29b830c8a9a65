"""Streams of replies: open and read them, cut them at a stop string, parse their events.

Stop strings: a reply ends at the first one, however its pieces split it and whatever the endpoint does. `</code>`
counts only where it would end the reply's code (`replies.would_close`): one inside a Python string, a thought or
quotes is skipped. An endpoint that is sent `stop` knows nothing of strings and cuts there as well; a configuration
with `"stop": false` never sends it. After `_MOST_CLOSES` skipped ones the next one ends the reply, so that the time
for a reply grows linearly with its length.

Server-sent events: lines end at CR, LF or both, and at nothing else, since JSON may hold U+2028 unescaped. Comments
(`:`) and names of events are skipped; the JSON inside says the kind too. An event with the id of an
earlier one was sent twice, and is skipped: an interrupted proxy may repeat what it had sent.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

from pyvision.errors import FormatError, ModelError
from pyvision.text.replies import find_code, would_close
from pyvision.types import Message, Model, Reply, Restart, Sampling

CLOSE = "</code>"
DONE = "[DONE]"  # the data of the last event of some APIs
_MOST_CLOSES = 32
_MAX_EVENT_BYTES = 16 << 20


def in_one_piece(reply: Reply) -> Iterator[str | Reply]:
    """The stream of a reply that is complete."""
    if reply.text:
        yield reply.text
    yield reply


def whole(pieces: Iterable[str | Restart | Reply]) -> Reply:
    """The reply at the end of a stream. Raises ModelError where there is none."""
    for piece in pieces:
        if isinstance(piece, Reply):
            return piece
    raise ModelError("the stream ended without a reply", retry=True)


def stream_of(
    model: Model, messages: Sequence[Message], sampling: Sampling
) -> Generator[str | Restart | Reply, None, None]:
    """The model's stream; in one piece if the model, which may be a caller's, has no `stream`.

    Closing it closes the connection.
    """
    if hasattr(model, "stream"):
        yield from model.stream(messages, sampling)
    else:
        yield from in_one_piece(model.complete(messages, sampling))


def close_model(model: Model) -> None:
    """Close a model that holds connections; others have nothing to close."""
    close = getattr(model, "close", None)
    if close is not None:
        close()


class StopCutter:
    """Takes the pieces of a reply and returns the text that certainly stands before the first stop string."""

    def __init__(self, stop: Sequence[str]) -> None:
        self.is_cut = False
        self._stop = tuple(string for string in stop if string)
        self._given: list[str] = []
        self._waiting = ""  # not given yet: it may be the beginning of a stop string
        self._passed = 0

    @property
    def text(self) -> str:
        """All that was returned so far."""
        return "".join(self._given)

    def feed(self, piece: str) -> str:
        """The text that is new and certain; nothing more comes once it `is_cut`."""
        self._waiting += piece
        new: list[str] = []
        while not self.is_cut and (found := self._first()):
            start, stop = found
            self.is_cut = self._ends(stop, start)
            new.append(self._give(start if self.is_cut else start + len(stop)))
        if not self.is_cut:
            new.append(self._give(len(self._waiting) - self._hold()))
        return "".join(new)

    def rest(self) -> str:
        """What was held back, for a reply that is over."""
        return "" if self.is_cut else self._give(len(self._waiting))

    def seems_cut(self) -> bool:
        """Whether an endpoint that drops `</code>` seems to have cut the reply where it ends."""
        if CLOSE not in self._stop or not would_close(self.text):
            return False
        try:
            return find_code(self.text) is not None
        except FormatError:
            return True

    def _first(self) -> tuple[int, str] | None:
        starts = [(start, stop) for stop in self._stop if (start := self._waiting.find(stop)) >= 0]
        return min(starts, default=None)

    def _ends(self, stop: str, start: int) -> bool:
        if stop != CLOSE or self._passed == _MOST_CLOSES:
            return True
        self._passed += 1
        return would_close(self.text + self._waiting[:start])

    def _hold(self) -> int:
        """The length of the longest end of the waiting text that begins a stop string."""
        longest = min(len(self._waiting), max(map(len, self._stop), default=1) - 1)
        ends = (length for length in range(longest, 0, -1) if self._begins(self._waiting[-length:]))
        return next(ends, 0)

    def _begins(self, end: str) -> bool:
        return any(stop.startswith(end) for stop in self._stop)

    def _give(self, length: int) -> str:
        given, self._waiting = self._waiting[:length], self._waiting[length:]
        self._given.append(given)
        return given


def truncate_at_stop(reply: Reply, stop: Sequence[str]) -> Reply:
    """The reply up to the first stop string in it; the same reply if there is none."""
    cut = StopCutter(stop)
    text = cut.feed(reply.text)
    return replace(reply, text=text, finish="stop") if cut.is_cut else reply


class RepeatDetector:
    """Finds events that were sent twice by their ids. Ids that do not differ from the start on say nothing."""

    def __init__(self) -> None:
        self._seen: set[Hashable] = set()
        self._is_of_use = True

    def is_repeated(self, event_id: Hashable) -> bool:
        """Whether an event with this id came before; None is none."""
        if event_id is None or not self._is_of_use:
            return False
        if event_id not in self._seen:
            self._seen.add(event_id)
            return False
        self._is_of_use = len(self._seen) > 1
        return self._is_of_use


def parse_events(pieces: Iterable[bytes]) -> Iterator[str]:
    """The data of each server-sent event, as text. An event that the stream cuts off is dropped.

    Raises ValueError for an event that is too large, and for one that is no UTF-8.
    """
    data: list[bytes] = []
    size, event_id, repeats = 0, None, RepeatDetector()
    for line in _lines(pieces):
        if not line:
            if data and not repeats.is_repeated(event_id):
                yield b"\n".join(data).decode()
            data, size, event_id = [], 0, None
        elif line.startswith(b"data:"):
            size += len(line)
            _check_size(size)
            data.append(line[5:].removeprefix(b" "))
        elif line.startswith(b"id:"):
            event_id = line[3:].strip()


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    waiting: list[bytes] = []
    size = 0
    after_cr = False
    for piece in pieces:
        text = piece[1:] if after_cr and piece.startswith(b"\n") else piece
        after_cr = piece.endswith(b"\r") if piece else after_cr
        *complete, last = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in complete:
            yield b"".join((*waiting, line))
            waiting, size = [], 0
        size += len(last)
        _check_size(size)
        waiting.append(last)
    if rest := b"".join(waiting):
        yield rest


def _check_size(size: int) -> None:
    if size > _MAX_EVENT_BYTES:
        raise ValueError(f"an event of more than {_MAX_EVENT_BYTES >> 20} MiB")
