"""Retry a model until a deadline, with growing waits."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pyvision.errors import ModelError
from pyvision.models.streaming import close_model, stream_of
from pyvision.types import Message, Model, Reply, Restart, Sampling

_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 60.0
_FIRST_ASKED_S = 0.25  # at least, whatever the endpoint asks for: some ask for nothing, again and again
_LONGEST_ASKED_S = 4.0


class RetryingModel:
    """Repeats calls whose ModelError is worth it, with growing waits, until `budget_s` would be exceeded.

    `Sampling.seconds` is a budget as well. A `retry_after_s` of the endpoint replaces our wait, but for a shortest one
    that grows; one that is longer than the budget ends the call at once, with an error that says so.
    """

    def __init__(
        self,
        model: Model,
        budget_s: float = 600.0,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._model = model
        self._budget_s = budget_s
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter

    @property
    def name(self) -> str:
        return self._model.name

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """The reply of the first call that does not fail. Raises the last ModelError, with their count."""
        attempts = self._attempts(sampling)
        while True:
            try:
                return self._model.complete(messages, attempts.sampling())
            except ModelError as error:
                _, delay_s = attempts.next(error)
                self._sleep(delay_s)

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Restart | Reply]:
        """As `complete`, in pieces; a Restart comes after each call that failed, before the wait for the next."""
        attempts = self._attempts(sampling)
        while True:
            try:
                yield from stream_of(self._model, messages, attempts.sampling())
                return
            except ModelError as error:
                restart = Restart(error.brief, *attempts.next(error))
            yield restart
            self._sleep(restart.wait_s)
            yield ""  # a run that was stopped meanwhile closes the stream here, and makes no other call

    def close(self) -> None:
        """Close the wrapped model, if it holds connections."""
        close_model(self._model)

    def _attempts(self, sampling: Sampling) -> _Attempts:
        budget_s = self._budget_s if sampling.seconds is None else min(self._budget_s, sampling.seconds)
        return _Attempts(sampling, budget_s, self._clock, self._jitter)


class _Attempts:
    """The failed calls of one reply."""

    def __init__(
        self,
        sampling: Sampling,
        budget_s: float,
        clock: Callable[[], float],
        jitter: Callable[[], float],
    ) -> None:
        self._sampling = sampling
        self._budget_s = budget_s
        self._clock = clock
        self._jitter = jitter
        self._began = clock()
        self._failed = 0

    def sampling(self) -> Sampling:
        """The sampling of the next call, with the time that is left."""
        if self._sampling.seconds is None or self._failed == 0:
            return self._sampling
        return replace(self._sampling, seconds=max(0.0, self._sampling.seconds - self._seconds_spent()))

    def next(self, error: ModelError) -> tuple[int, float]:
        """The number of the next call, and how long to wait for it. Raises the error if no call is worth it."""
        self._failed += 1
        spent_s, delay_s = self._seconds_spent(), self._delay_s(error)
        if not error.retry:
            raise error
        if spent_s + delay_s > self._budget_s:
            raise _gave_up(error, self._failed, spent_s, self._budget_s) from None
        return self._failed + 1, delay_s

    def _seconds_spent(self) -> float:
        return self._clock() - self._began

    def _delay_s(self, error: ModelError) -> float:
        """Part of it is chance, so that many that failed together do not come back together."""
        growth = 2.0 ** min(self._failed - 1, 10)
        if error.retry_after_s is not None:
            shortest_s = min(_FIRST_ASKED_S * growth, _LONGEST_ASKED_S)
            return max(error.retry_after_s, shortest_s) * (1 + 0.25 * self._jitter())
        return min(_FIRST_WAIT_S * growth, _LONGEST_WAIT_S) * (0.5 + 0.5 * self._jitter())


def _gave_up(error: ModelError, attempts: int, spent_s: float, budget_s: float) -> ModelError:
    notes = [f"gave up after {attempts} attempts in {spent_s:.0f} s"] if attempts > 1 else []
    if error.retry_after_s is not None and error.retry_after_s > budget_s - spent_s:
        left_s = max(0.0, budget_s - spent_s)
        notes.append(
            f"it asks to wait {error.retry_after_s:,.0f} s, and {left_s:,.0f} s are left for retries; "
            "to wait longer, raise retry_s (PYVISION_RETRY_S) or the time limit"
        )
    message = f"{error} ({'; '.join(notes)})" if notes else str(error)
    return ModelError(
        message, retry=True, retry_after_s=error.retry_after_s, kind=error.kind, brief=error.brief
    )
