"""Limit the requests, the tokens and the concurrent calls of a model, across all threads that share it."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from pyvision.errors import ModelError
from pyvision.models.reply_builder import estimate_tokens
from pyvision.models.streaming import close_model, stream_of
from pyvision.types import Message, Model, Reply, Restart, Sampling, Usage

_MINUTE_S = 60.0


class RateLimitedModel:
    """Passes calls on, first come first served, as the limits allow; None means no limit.

    Tokens are estimated before a call and corrected by what its reply counts. After a 429 half as many calls as were
    under way may run at once; every reply then allows a little more, up to `max_concurrent`. A wait ends with
    `Sampling.seconds`, with an interrupt, and with `close`, each in a ModelError or KeyboardInterrupt.
    """

    def __init__(
        self,
        model: Model,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        max_concurrent: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._clock = clock
        self._requests = _Bucket(requests_per_minute, clock)
        self._tokens = _Bucket(tokens_per_minute, clock)
        self._most = math.inf if max_concurrent is None else float(max_concurrent)
        self._allowed = self._most
        self._running = 0
        self._queue: deque[object] = deque()
        self._changed = threading.Condition()
        self._closings = 0

    @property
    def name(self) -> str:
        return self._model.name

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """The wrapped model's reply, once the limits allow it."""
        with self._admission(messages, sampling) as call:
            reply = self._model.complete(messages, call.sampling)
            call.usage = reply.usage
        return reply

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Restart | Reply]:
        """The wrapped model's stream, once the limits allow it; it counts as running until it ends."""
        with self._admission(messages, sampling) as call:
            for piece in stream_of(self._model, messages, call.sampling):
                if isinstance(piece, Reply):
                    call.usage = piece.usage
                yield piece

    def close(self) -> None:
        """End all waits, and close the wrapped model; later calls are served again."""
        with self._changed:
            self._closings += 1
            self._changed.notify_all()
        close_model(self._model)

    @contextmanager
    def _admission(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[_Call]:
        call = _Call(sampling, estimate_tokens(messages), self._clock())
        self._enter(call)
        try:
            yield call
        except ModelError as error:
            if error.kind == "rate":
                self._slow_down()
            raise
        finally:
            self._leave(call)

    def _enter(self, call: _Call) -> None:
        with self._changed:
            self._queue.append(call)
            closings = self._closings
            try:
                while (delay_s := self._delay_s(call)) > 0:
                    left_s = call.seconds_left(self._clock())
                    if left_s <= 0 or self._closings != closings:
                        why = (
                            "no time is left to wait" if left_s <= 0 else "the model was closed while waiting"
                        )
                        raise ModelError(f"{self.name}: {why} for the rate limit", kind="rate")
                    self._changed.wait(min(delay_s, left_s, _MINUTE_S))
                self._requests.take(1)
                self._tokens.take(call.tokens)
                self._running += 1
                call.sampling = call.with_time_left(self._clock())
            finally:
                self._queue.remove(call)
                self._changed.notify_all()

    def _delay_s(self, call: _Call) -> float:
        """0 for the first in the queue if the limits allow it; infinite where another call has to end first."""
        if self._queue[0] is not call or self._running + 1 > max(1.0, self._allowed):
            return math.inf
        return max(self._requests.delay_s(1), self._tokens.delay_s(call.tokens))

    def _leave(self, call: _Call) -> None:
        with self._changed:
            self._running -= 1
            if call.usage is not None:
                self._allowed = min(self._most, self._allowed + 1 / max(self._allowed, 1.0))
                if call.usage.total:
                    self._tokens.take(call.usage.total - call.tokens)
            self._changed.notify_all()

    def _slow_down(self) -> None:
        with self._changed:
            self._allowed = max(1.0, min(self._allowed, self._running) / 2)


class _Call:
    """One call from its place in the queue to its end."""

    def __init__(self, sampling: Sampling, tokens: int, began: float) -> None:
        self.sampling = sampling
        self.tokens = tokens
        self.usage: Usage | None = None
        self._began = began

    def seconds_left(self, now: float) -> float:
        return math.inf if self.sampling.seconds is None else self.sampling.seconds - (now - self._began)

    def with_time_left(self, now: float) -> Sampling:
        if self.sampling.seconds is None:
            return self.sampling
        return replace(self.sampling, seconds=max(0.0, self.seconds_left(now)))


class _Bucket:
    """Fills evenly, up to a minute's worth. What is asked beyond that is given when it is full, and owed."""

    def __init__(self, per_minute: float | None, clock: Callable[[], float]) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._level = per_minute or 0.0
        self._filled_at = clock()

    def delay_s(self, amount: float) -> float:
        if self._per_minute is None:
            return 0.0
        self._fill(self._per_minute)
        return max(0.0, min(amount, self._per_minute) - self._level) * _MINUTE_S / self._per_minute

    def take(self, amount: float) -> None:
        """Less than nothing gives back."""
        if self._per_minute is not None:
            self._fill(self._per_minute)
            self._level = min(self._per_minute, self._level - amount)

    def _fill(self, per_minute: float) -> None:
        now = self._clock()
        self._level = min(per_minute, self._level + (now - self._filled_at) * per_minute / _MINUTE_S)
        self._filled_at = now
