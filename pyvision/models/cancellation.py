"""Cancel a run from another thread: the token, and a stream of a model that it interrupts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Literal, TypeVar

from pyvision.errors import LimitReached

T = TypeVar("T")


class Cancellation:
    """A token that the caller of a run keeps and may cancel, from any thread, even before the run begins.

    One token may be passed to many runs: `cancel` ends all of them. It stays cancelled.
    """

    def __init__(self) -> None:
        self._is_cancelled = False
        self._callbacks: list[Callable[[], None]] = []
        self._lock = threading.RLock()
        # The idle ones: to start a thread for each request would cost more than the rest.
        self._readers: list[_Reader] = []

    @property
    def is_cancelled(self) -> bool:
        return self._is_cancelled

    def cancel(self) -> None:
        """End every run that has this token: its cell and model request at once, all else at its next step."""
        with self._lock:
            if self._is_cancelled:
                return
            self._is_cancelled = True
            for callback in tuple(self._callbacks):
                callback()

    def check(self) -> None:
        """Raises LimitReached once it is cancelled."""
        if self._is_cancelled:
            raise LimitReached("interrupted", "stopped")

    @contextmanager
    def on_cancel(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call back, on the cancelling thread, if it is cancelled in this block; never after the block.

        Raises LimitReached if it is cancelled already.
        """
        with self._lock:
            self.check()
            self._callbacks.append(callback)
        try:
            yield
        finally:
            with self._lock:
                self._callbacks.remove(callback)

    def take_reader(self) -> _Reader:
        """A thread for `interruptible`, which gives it back unless it waits for a stream that was cancelled."""
        try:
            return self._readers.pop()
        except IndexError:
            return _Reader()

    def keep_reader(self, reader: _Reader) -> None:
        """Keep the idle thread for the next stream; the threads end with the token."""
        self._readers.append(reader)


class PendingWork:
    """What a run waits for. After a cancellation or an interrupt it stays, so that it can be reported."""

    def __init__(self, cancellation: Cancellation) -> None:
        self.what = ""
        self._cancellation = cancellation

    @contextmanager
    def __call__(self, what: str) -> Iterator[None]:
        before, self.what = self.what, what
        try:
            yield
        except Exception:
            self._end(before)
            raise
        self._end(before)

    def _end(self, before: str) -> None:
        if not self._cancellation.is_cancelled:
            self.what = before


def interruptible(
    open_stream: Callable[[], Generator[T, None, None]], cancellation: Cancellation
) -> Generator[T, None, None]:
    """A stream that a cancellation ends at once, even while its next piece is awaited.

    A thread opens, reads and closes it, and reads a piece only when one is wanted: when this generator is closed
    between two pieces, so is the stream; when it is cancelled while the thread waits, the stream is closed after that.
    Raises what the stream raises, and LimitReached when it is cancelled.
    """
    wanted: SimpleQueue[Literal["piece", "end"]] = SimpleQueue()
    pieces: SimpleQueue[T | _End] = SimpleQueue()
    cancelled = _End()
    piece: T | _End | None = None
    is_waiting = False
    with cancellation.on_cancel(lambda: pieces.put(cancelled)):
        reader = cancellation.take_reader()
        reader.start(partial(_read, open_stream, wanted, pieces))
        try:
            while True:
                cancellation.check()
                wanted.put("piece")
                is_waiting = True
                piece = pieces.get()
                cancellation.check()
                is_waiting = False
                if isinstance(piece, _End):
                    break
                yield piece
        finally:
            wanted.put("end")
            if not is_waiting:
                while not isinstance(piece, _End) or piece is cancelled:
                    piece = pieces.get()
                cancellation.keep_reader(reader)
    if piece.error is not None:
        raise piece.error


@dataclass(frozen=True, slots=True)
class _End:
    """The stream is closed; what it failed with, if it did."""

    error: BaseException | None = None


def _read(
    open_stream: Callable[[], Generator[T, None, None]],
    wanted: SimpleQueue[Literal["piece", "end"]],
    pieces: SimpleQueue[T | _End],
) -> None:
    """Hand over a piece each time that one is wanted, then the end."""
    error: BaseException | None = None
    try:
        with closing(open_stream()) as stream:
            while wanted.get() == "piece":
                pieces.put(next(stream))
    except StopIteration:
        pass
    except BaseException as raised:  # noqa: BLE001 - it is for the asking thread to raise
        error = raised
    pieces.put(_End(error))


class _Reader:
    """A thread that reads one stream after the other, and ends when nothing refers to this object any more."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        threading.Thread(target=_work, args=(self._jobs,), name="model-stream", daemon=True).start()

    def start(self, read: Callable[[], None]) -> None:
        """Call `read`, which raises nothing, in the thread."""
        self._jobs.put(read)

    def __del__(self) -> None:
        self._jobs.put(None)


def _work(jobs: SimpleQueue[Callable[[], None] | None]) -> None:
    while (read := jobs.get()) is not None:
        read()
        del read  # it refers to the images of its question
